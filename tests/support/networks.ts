/** Random small networks and one training step of each. */
import { input, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import fc from "fast-check";
import type { Program } from "../../compiler/src/program.ts";

export const activations = [
  "relu",
  "tanh",
  "gelu",
  "silu",
  "leakyRelu",
  "softplus",
  "elu",
  "mish",
] as const;

// Adam divides by the root of the gradient's square: an eps this large keeps a gradient that is rounding noise from
// counting as much as a real one, on which no two devices agree.
const eps = 1e-3;
/** The learning rate of the adaptive optimizers, the least of all. */
export const rate = 0.01;
const optimizers: Record<string, (params: Tensor[]) => optim.Optimizer> = {
  sgd: (p) => new optim.SGD(p, { lr: 0.1 }),
  nesterov: (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.1 }),
  adam: (p) => new optim.Adam(p, { lr: rate, eps }),
  adamW: (p) => new optim.AdamW(p, { lr: rate, eps, amsgrad: true, clipNorm: 1 }),
  rmsProp: (p) => new optim.RMSProp(p, { lr: rate, eps, centered: true, momentum: 0.5 }),
};

export interface Architecture {
  readonly kind: "mlp" | "cnn";
  readonly batch: number;
  readonly widths: readonly number[];
  readonly activation: (typeof activations)[number];
  readonly norm: boolean;
  readonly dropout: boolean;
  readonly pool: "max" | "average" | "none";
  readonly optimizer: string;
}

export const architectures: fc.Arbitrary<Architecture> = fc.record({
  kind: fc.constantFrom("mlp", "cnn"),
  batch: fc.integer({ min: 2, max: 5 }),
  widths: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
  activation: fc.constantFrom(...activations),
  norm: fc.boolean(),
  dropout: fc.boolean(),
  pool: fc.constantFrom("max", "average", "none"),
  optimizer: fc.constantFrom(...Object.keys(optimizers)),
});

const classes = 3;

function mlp({ widths, activation, norm, dropout }: Architecture): nn.Layer {
  const layers: nn.Layer[] = [];
  let from = 6;
  for (const to of widths) {
    layers.push(new nn.Linear(from, to), new nn.Lambda(nn.activationOf(activation)));
    if (norm) layers.push(new nn.LayerNorm(to));
    if (dropout) layers.push(new nn.Dropout(0.25, { seed: to }));
    from = to;
  }
  return new nn.Sequential(...layers, new nn.Linear(from, classes));
}

function cnn({ widths, activation, norm, pool }: Architecture): nn.Layer {
  const layers: nn.Layer[] = [];
  let [from, size] = [1, 6];
  for (const to of widths.slice(0, 2)) {
    layers.push(new nn.Conv2d(from, to, 3, { padding: 1 }));
    if (norm) layers.push(new nn.BatchNorm2d(to));
    layers.push(new nn.Lambda(nn.activationOf(activation)));
    if (pool !== "none" && size > 2) {
      layers.push(pool === "max" ? new nn.MaxPool2d(2) : new nn.AvgPool2d(2));
      size = Math.floor(size / 2);
    }
    from = to;
  }
  return new nn.Sequential(...layers, new nn.Flatten(), new nn.Linear(from * size * size, classes));
}

/** Loss and updates of one step of such a network. */
export function stepOf(a: Architecture): Program {
  nn.seed(1);
  const net = a.kind === "mlp" ? mlp(a) : cnn(a);
  const shape = a.kind === "mlp" ? [a.batch, 6] : [a.batch, 1, 6, 6];
  const [x, y] = [input("x", "f32", shape), input("y", "i32", [a.batch])];
  const optimizer = optimizers[a.optimizer]!(net.parameters());
  const { value, updates } = trace(() => {
    const loss = nn.crossEntropy(net.forward(x), y);
    optimizer.step(loss);
    return loss;
  });
  return { inputs: [x, y], outputs: [{ name: "loss", value }], updates: [...updates] };
}
