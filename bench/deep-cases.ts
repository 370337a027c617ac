/**
 * Programs that are deep or broad, by the number of their steps: what a script's loop without an end in sight builds. Every stage of
 * the compiler is tried on them, and timed.
 */
import type { Program } from "../compiler/src/program.ts";
import { concat, constant, gather, grad, input, type Tensor } from "../packages/ir/src/index.ts";

const outputsOf = (...values: Tensor[]): Program["outputs"] =>
  values.map((value, i) => ({ name: `y${i}`, value }));

const repeat = (n: number, x: Tensor, step: (x: Tensor, i: number) => Tensor): Tensor => {
  let y = x;
  for (let i = 0; i < n; i++) y = step(y, i);
  return y;
};

/** A program of x that is one step after another. */
const stepped =
  (shape: readonly number[], step: (x: Tensor, i: number) => Tensor, nodes = 1) =>
  (n: number): Program => {
    const x = input("x", "f32", shape);
    return { inputs: [x], outputs: outputsOf(repeat(Math.ceil(n / nodes), x, step)), updates: [] };
  };

/** tanh(x·w) over and over, and its gradients: as many nodes in the forward graph as asked for. */
export function chainWithGradients(n: number): Program {
  const x = input("x", "f32", [64]);
  const w = input("w", "f32", [64]);
  const y = repeat(Math.ceil(n / 2), x, (t) => t.mul(w).tanh()).sum();
  return { inputs: [x, w], outputs: outputsOf(y, ...grad(y, [x, w])), updates: [] };
}

const inputsOf = (n: number, shape: readonly number[]): Tensor[] =>
  Array.from({ length: n }, (_, i) => input(`x${i}`, "f32", shape));

export function sumOfInputs(n: number): Program {
  const inputs = inputsOf(n, [8]);
  const sum = inputs.slice(1).reduce((a, b) => a.add(b), inputs[0]!);
  return { inputs, outputs: outputsOf(sum), updates: [] };
}

export function concatOfInputs(n: number): Program {
  const inputs = inputsOf(n, [4, 2]);
  // Along the second axis, so that no operand is a run of the result's memory.
  return { inputs, outputs: outputsOf(concat(inputs, 1)), updates: [] };
}

/** Many results, none of them needed by another. */
export function manyOutputs(n: number): Program {
  const x = input("x", "f32", [8]);
  const values = Array.from({ length: n }, (_, i) => x.mul(i + 2));
  return { inputs: [x], outputs: outputsOf(...values), updates: [] };
}

/** Two values, each made of both. */
export function ladder(n: number): Program {
  const [a, b] = [input("a", "f32", [8]), input("b", "f32", [8])];
  let [x, y] = [a, b];
  for (let i = 0; i < n / 2; i++) [x, y] = [x.add(y).mul(0.5), x.sub(y)];
  return { inputs: [a, b], outputs: outputsOf(x, y), updates: [] };
}

export const deepCases: Readonly<Record<string, (n: number) => Program>> = {
  adds: stepped([8], (x, i) => x.add((i % 7) + 1)),
  activations: stepped([8], (x) => x.tanh().mul(1.5), 2),
  diamonds: stepped([8], (x) => x.exp().sub(x.sin()).mul(x), 4),
  doubled: stepped([8], (x) => x.add(x).mul(0.5), 2),
  chainWithGradients: (n) => chainWithGradients(n / 4),
  ladder,
  movements: stepped(
    [4, 6],
    (x, i) => {
      if (i % 4 === 0) return x.pad(0, [1, 0], [0, 1]);
      if (i % 4 === 1) return x.slice([0, 1], [5, 7]).reshape([6, 5]);
      if (i % 4 === 2) return x.transpose([1, 0]).reverse([1]);
      return x.slice([0, 0], [4, 6]);
    },
    1.5,
  ),
  reductions: stepped([4, 8], (x) => x.sub(x.max(1, { keepDims: true })), 4),
  totals: stepped([4, 8], (x) => x.add(x.sum()), 3),
  products: stepped([4, 4], (x) => x.matmul(x).tanh(), 2),
  concats: stepped([8], (x, i) => concat([x.slice([1], [8]), x.slice([0], [1]).add(i)], 0), 4),
  gathers: stepped([8], (x, i) => gather(x, [constant(i % 8, "i32").broadcastTo([8])], [0]), 1),
  cumulated: stepped([8], (x) => x.cumsum(0).mul(0.5), 2),
};

/** By the number of inputs, operands or outputs. */
export const broadCases: Readonly<Record<string, (n: number) => Program>> = {
  sumOfInputs,
  concatOfInputs,
  manyOutputs,
};
