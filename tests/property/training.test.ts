/**
 * One training step of random small networks: the js target equals the reference bit for bit when it rounds at every op,
 * and webgpu is within a thousandth of the largest element of each result.
 */
import type { TargetName } from "@kiln-ml/artifact";
import {
  evaluate,
  initialValueOf,
  input,
  makeValue,
  type Tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { createCpuDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { leavesOf, type Program } from "../../compiler/src/program.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

const activations = [
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
const rate = 0.01;
const optimizers: Record<string, (params: Tensor[]) => optim.Optimizer> = {
  sgd: (p) => new optim.SGD(p, { lr: 0.1 }),
  nesterov: (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.1 }),
  adam: (p) => new optim.Adam(p, { lr: rate, eps }),
  adamW: (p) => new optim.AdamW(p, { lr: rate, eps, amsgrad: true, clipNorm: 1 }),
  rmsProp: (p) => new optim.RMSProp(p, { lr: rate, eps, centered: true, momentum: 0.5 }),
};

interface Architecture {
  readonly kind: "mlp" | "cnn";
  readonly batch: number;
  readonly widths: readonly number[];
  readonly activation: (typeof activations)[number];
  readonly norm: boolean;
  readonly dropout: boolean;
  readonly pool: "max" | "average" | "none";
  readonly optimizer: string;
}

const architectures: fc.Arbitrary<Architecture> = fc.record({
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

interface Training {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
}

/** A step of the network on fixed data, with the first values of all its state. */
function training(a: Architecture): Training {
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
  const program = {
    inputs: [x, y],
    outputs: [{ name: "loss", value }],
    updates: [...updates],
  };
  const size = shape.reduce((m, n) => m * n, 1);
  const noise = Array.from({ length: size }, (_, i) => Math.fround(Math.sin(12.9898 * (i + 1))));
  const feeds = new Map<Tensor, Value>([
    [x, makeValue("f32", shape, noise)],
    [y, makeValue("i32", [a.batch], [0, 1, 2, 0, 1].slice(0, a.batch))],
  ]);
  for (const p of leavesOf(program))
    if (p.op === "param") feeds.set(p, evaluate([initialValueOf(p)])[0]!);
  return { program, feeds };
}

const nameOf = ({ program }: Training, i: number): string =>
  i === 0 ? "loss" : String(program.updates[i - 1]![0].attrs.name);

test("js: a step of a random network equals the reference bit for bit", async () => {
  const device = createCpuDevice({ poison: true });
  await fc.assert(
    fc.asyncProperty(architectures, async (architecture) => {
      const t = training(architecture);
      const want = evaluateProgram(t.program, t.feeds);
      const options = { target: "js", rounding: "each-op" } as const;
      const { values } = await runProgram(t.program, t.feeds, {}, device, options);
      values.forEach((v, i) => {
        assert.ok(
          sameValue(v, want[i]!),
          `${nameOf(t, i)}: got ${v.data}, want ${want[i]!.data}\n${printProgram(t.program)}`,
        );
      });
    }),
    { numRuns: runs(20) },
  );
});

/** A bias before a normalisation has a gradient of 0, and centered RMSProp divides its rounding by itself. */
const isStable = (a: Architecture): boolean => !(a.norm && a.optimizer === "rmsProp");

async function checkStep(
  architecture: Architecture,
  device: Device,
  target: TargetName,
): Promise<void> {
  const t = training(architecture);
  const want = evaluateProgram(t.program, t.feeds);
  const { values } = await runProgram(t.program, t.feeds, {}, device, { target });
  values.forEach((v, i) => {
    const expected = want[i]!.data;
    // A bias that starts at 0 has moved by a learning rate at most: that is the scale of its error, not what it is now.
    const allowed = 1e-3 * expected.reduce((m, e) => Math.max(m, Math.abs(e)), rate);
    const off = v.data.findIndex((e, j) => !(Math.abs(e - expected[j]!) <= allowed));
    assert.is(off, -1, `${nameOf(t, i)}: got ${v.data}, want ${expected}`);
  });
}

for (const variant of variants)
  test(`wasm: a step of a random network agrees with the reference, ${nameOfVariant(variant)}`, async () => {
    await fc.assert(
      fc.asyncProperty(architectures.filter(isStable), (architecture) =>
        checkStep(architecture, wasmDevice(variant), "wasm"),
      ),
      { numRuns: runs(10) },
    );
  });

gpuTest("webgpu: a step of a random network agrees with the reference", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  await fc.assert(
    fc.asyncProperty(architectures.filter(isStable), (architecture) =>
      checkStep(architecture, device, "webgpu"),
    ),
    // A software adapter takes seconds to build the pipelines of one network, too long to shrink.
    { numRuns: runs(3), endOnFailure: true },
  );
  device.destroy();
});

test.run();
