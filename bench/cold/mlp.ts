/**
 * The perceptron of the cold rows and its training step, for the process that compiles it and for
 * the one that writes it as an artifact.
 */
import type { Tensor as AnyTensor } from "@kiln-ml/ir";
import { dataLeaf } from "@kiln-ml/ir";
import { type CompiledFunction, compile, nn, optim, type TargetName, type Tensor } from "kiln-ml";
import { classes, floats, type Operand, workloadNamed } from "../cpu/workloads.ts";

const { operands } = workloadNamed("mlp_train");

function linear(w: Operand, b: Operand): nn.Linear {
  const [inputs, outputs] = w.shape as [number, number];
  return new nn.Linear(inputs, outputs, { init: () => floats(w), biasInit: () => floats(b) });
}

type Step = CompiledFunction<[Tensor, Tensor], Tensor>;

/** A step of Adam, compiled for the target when it is called. */
export function mlpStep(target: TargetName): Step {
  const layers = [1, 2, 3].map((i) => linear(operands[`w${i}`]!, operands[`b${i}`]!));
  const forward = (x: Tensor): Tensor =>
    layers.reduce((h, layer, i) => (i === 0 ? layer.forward(h) : layer.forward(h.geluTanh())), x);
  const adam = new optim.Adam(
    layers.flatMap((layer) => [...layer.parameters()]),
    { lr: 1e-3 },
  );
  return compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(forward(x), y);
      adam.step(loss);
      return loss;
    },
    { target },
  );
}

const [x, y] = [operands.x!, operands.y!];

/** What the step is called with. */
export const batch = (): [AnyTensor, AnyTensor] => [
  dataLeaf("f32", x.shape, floats(x)),
  dataLeaf("i32", y.shape, classes(y)),
];

/** The types of that, for an artifact. */
export const batchTypes = [
  { shape: x.shape, dtype: "f32" },
  { shape: y.shape, dtype: "i32" },
] as const;
