/**
 * Attentions to compile and run: what a user may write between q·kᵀ and the result, at shapes that fill tiles and do not, and steps
 * of them with gradients.
 */
import { grad, input, makeValue, random, select, type Tensor, type Value } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Program } from "../../compiler/src/program.ts";

export interface Sizes {
  readonly batch: readonly number[];
  readonly queries: number;
  readonly keys: number;
  readonly depth: number;
  readonly columns: number;
}

export type Build = (q: Tensor, k: Tensor, v: Tensor, mask: Tensor) => Tensor;

/** The last two axes exchanged. */
const swapped = (x: Tensor): Tensor => {
  const axes = x.shape.map((_, i) => i);
  return x.transpose([...axes.slice(0, -2), x.rank - 1, x.rank - 2]);
};

export const builds = {
  plain: (q, k, v) => nn.attention(q, k, v),
  causal: (q, k, v) => nn.attention(q, k, v, { causal: true }),
  "with a bias and a factor": (q, k, v, mask) =>
    q.matmul(swapped(k)).mul(0.3).add(mask).softmax(-1).matmul(v),
  "with a mask": (q, k, v, mask) => nn.attention(q, k, v, { mask: mask.less(0.5), causal: true }),
  "with capped scores": (q, k, v) => q.matmul(swapped(k)).tanh().mul(3).softmax(-1).matmul(v),
  "with what comes before and after": (q, k, v) =>
    nn.attention(q.mul(2).add(1), k.tanh(), v).mul(0.5).relu(),
} satisfies Record<string, Build>;

export const sizes = {
  ones: { batch: [2], queries: 1, keys: 1, depth: 1, columns: 1 },
  few: { batch: [1, 2], queries: 5, keys: 3, depth: 4, columns: 7 },
  odd: { batch: [1], queries: 33, keys: 65, depth: 17, columns: 33 },
  even: { batch: [2], queries: 17, keys: 64, depth: 16, columns: 8 },
  long: { batch: [2], queries: 70, keys: 19, depth: 16, columns: 8 },
  /** Heads so wide that an invocation has fewer rows, and then that fewer terms are between barriers. */
  wide: { batch: [1], queries: 33, keys: 129, depth: 40, columns: 128 },
  widest: { batch: [1], queries: 9, keys: 70, depth: 256, columns: 256 },
  /** Enough workgroups for larger blocks, and for the largest. */
  many: { batch: [192], queries: 18, keys: 19, depth: 4, columns: 3 },
  full: { batch: [128], queries: 200, keys: 70, depth: 64, columns: 64 },
  large: { batch: [4, 16], queries: 2048, keys: 2048, depth: 64, columns: 64 },
} satisfies Record<string, Sizes>;

/** q, k, v and a mask of these sizes. */
export function inputsOf({ batch, queries, keys, depth, columns }: Sizes) {
  const q = input("q", "f32", [...batch, queries, depth]);
  const k = input("k", "f32", [...batch, keys, depth]);
  const v = input("v", "f32", [...batch, keys, columns]);
  return { q, k, v, mask: input("mask", "f32", [queries, keys]) };
}

export function forwardOf(build: Build, size: Sizes): Program {
  const { q, k, v, mask } = inputsOf(size);
  return programOf([q, k, v, mask], build(q, k, v, mask));
}

/** The result and the gradients of q, k and v. */
export function stepOf(build: Build, size: Sizes): Program {
  const { q, k, v, mask } = inputsOf(size);
  return withGradients([q, k, v, mask], build(q, k, v, mask), [q, k, v]);
}

/** A result, and the gradients of its products with g. */
export function withGradients(
  inputs: readonly Tensor[],
  y: Tensor,
  of: readonly Tensor[],
): Program {
  const g = input("g", "f32", y.shape);
  return programOf([...inputs, g], y, ...grad(y.mul(g).sum(), of));
}

export const programOf = (inputs: readonly Tensor[], ...values: readonly Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** Weights dropped with a chance of a half. */
export function droppedStep(size: Sizes): Program {
  const { q, k, v } = inputsOf(size);
  const key = input("key", "u32", [2]);
  const weights = q.matmul(swapped(k)).softmax(-1);
  const kept = random.bernoulli(key, 0.5, weights.shape);
  const y = select(kept, weights.mul(2), 0).matmul(v);
  return withGradients([q, k, v, key], y, [q, k, v]);
}

/** Two heads of keys and values for four of queries, and a bias. */
export function sharedKeysStep(): Program {
  const q = input("q", "f32", [2, 4, 9, 8]);
  const [k, v] = ["k", "v"].map((name) => input(name, "f32", [2, 2, 9, 8])) as [Tensor, Tensor];
  const spread = (x: Tensor) =>
    x.reshape([2, 2, 1, 9, 8]).broadcastTo([2, 2, 2, 9, 8]).reshape([2, 4, 9, 8]);
  const bias = input("bias", "f32", [4, 9, 9]);
  const y = nn.attention(q, spread(k), spread(v), { mask: bias, causal: true });
  return withGradients([q, k, v, bias], y, [q, k, v]);
}

export const valuesFor = (inputs: readonly Tensor[]): Map<Tensor, Value> =>
  new Map(
    inputs.map((t, at) => {
      const shape = t.shape as number[];
      const size = shape.reduce((a, b) => a * b, 1);
      const numbers = Array.from({ length: size }, (_, i) =>
        t.dtype === "u32" ? i + 7 : Math.fround(Math.sin(12.9898 * (i + 1) + at)),
      );
      return [t, makeValue(t.dtype, shape, numbers)] as const;
    }),
  );
