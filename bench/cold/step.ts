/**
 * A whole process of an application: makes a perceptron, takes one training step on the target and
 * threads given as arguments, and prints the loss, the peak of its memory and what became of its
 * programs. `cold.ts` bundles it and times it from outside.
 */

import { dataLeaf } from "@kiln-ml/ir";
import { createWasmDevice } from "@kiln-ml/runtime";
import { compile, nn, optim, type TargetName, type Tensor, useDevice } from "kiln-ml";
import { cacheCounts } from "../../packages/kiln/src/cache/compile-once.ts";
import { classes, floats, type Operand, workloadNamed } from "../cpu/workloads.ts";

const [target, threads] = process.argv.slice(2) as [TargetName, string];
if (target === "wasm") useDevice(createWasmDevice({ threads: Number(threads) }));

const operands = workloadNamed("mlp_train").operands;

function linear(w: Operand, b: Operand): nn.Linear {
  const [inputs, outputs] = w.shape as [number, number];
  return new nn.Linear(inputs, outputs, { init: () => floats(w), biasInit: () => floats(b) });
}

const layers = [1, 2, 3].map((i) => linear(operands[`w${i}`]!, operands[`b${i}`]!));
const forward = (x: Tensor): Tensor =>
  layers.reduce((h, layer, i) => (i === 0 ? layer.forward(h) : layer.forward(h.geluTanh())), x);
const adam = new optim.Adam(
  layers.flatMap((layer) => [...layer.parameters()]),
  { lr: 1e-3 },
);
const step = compile(
  (x: Tensor, y: Tensor) => {
    const loss = nn.crossEntropy(forward(x), y);
    adam.step(loss);
    return loss;
  },
  { target },
);
const [x, y] = [operands.x!, operands.y!];
const loss = await (
  await step(dataLeaf("f32", x.shape, floats(x)), dataLeaf("i32", y.shape, classes(y)))
).item();
const peakBytes = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ loss, peakBytes, ...cacheCounts() }));
process.exit(0);
