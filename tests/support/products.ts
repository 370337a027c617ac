/**
 * Random products for packing and edge tiles: how each operand lies, batches, and rows, columns and depth around the sizes of
 * vectors, tiles, groups of panels and blocks, each a number or a symbol.
 */
import { type Dim, dim, input, makeValue, type Tensor, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import type { Program } from "../../compiler/src/program.ts";

/** An extent, and the name of the symbol that it is, if it is one. */
export interface Extent {
  readonly size: number;
  readonly symbolic: boolean;
}

export interface Product {
  /** Whether the left and the right operand are transposed. */
  readonly turned: readonly [boolean, boolean];
  readonly batch: Extent | undefined;
  readonly m: Extent;
  readonly k: Extent;
  readonly n: Extent;
  /** Whether something is computed of the left operand's elements, and of the results. */
  readonly around: boolean;
}

/** On both sides of vectors, of tiles of four, five and eight, of groups of panels, of blocks. */
const sizes: readonly number[] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 20, 24, 28, 31, 32, 33, 36, 40, 48, 60, 63, 64, 65,
  68, 72, 96, 100,
];

const extent: fc.Arbitrary<Extent> = fc.record({
  size: fc.constantFrom(...sizes),
  symbolic: fc.boolean(),
});

export const anyProduct: fc.Arbitrary<Product> = fc.record({
  turned: fc.tuple(fc.boolean(), fc.boolean()),
  batch: fc.option(fc.record({ size: fc.constantFrom(1, 2, 3, 5), symbolic: fc.boolean() }), {
    nil: undefined,
  }),
  m: extent,
  // One term is a product that many ways meet; the rest is as the sides are.
  k: fc.oneof(extent, fc.record({ size: fc.constant(1), symbolic: fc.boolean() })),
  n: extent,
  around: fc.boolean(),
});

const noise = (shape: readonly number[], seed: number): Value => {
  const count = shape.reduce((a, b) => a * b, 1);
  const data = Array.from({ length: count }, (_, i) =>
    Math.fround(Math.sin(12.9898 * (i + 1) + 78.233 * seed)),
  );
  return makeValue("f32", shape, data);
};

/** The program of a product, values for its inputs and its symbols, and its result as it is defined. */
export function programOf({ turned: [ta, tb], batch, m, k, n, around }: Product) {
  const dims: Record<string, number> = {};
  const named = (name: string, e: Extent): Dim => {
    if (!e.symbolic) return e.size;
    dims[name] = e.size;
    return dim(name);
  };
  const [B, M, K, N] = [batch && named("B", batch), named("M", m), named("K", k), named("N", n)];
  const before = <T>(x: T | undefined, rest: readonly T[]): T[] =>
    x === undefined ? [...rest] : [x, ...rest];
  const a = input("a", "f32", before(B, ta ? [K, M] : [M, K]));
  const b = input("b", "f32", before(B, tb ? [N, K] : [K, N]));
  const own = around ? a.mul(0.5) : a;
  const [lhs, rhs] = [ta ? own.swapAxes(-1, -2) : own, tb ? b.swapAxes(-1, -2) : b];
  const product = lhs.matmul(rhs);
  const value = around ? product.add(1) : product;
  const program: Program = { inputs: [a, b], outputs: [{ name: "y", value }], updates: [] };
  const left = noise(before(batch?.size, ta ? [k.size, m.size] : [m.size, k.size]), 1);
  const right = noise(before(batch?.size, tb ? [n.size, k.size] : [k.size, n.size]), 2);
  const feeds = new Map<Tensor, Value>([
    [a, left],
    [b, right],
  ]);
  const sums = productOf(left.data, right.data, {
    ta,
    tb,
    batch: batch?.size ?? 1,
    m: m.size,
    k: k.size,
    n: n.size,
  });
  const want = around ? sums.map((x) => x / 2 + 1) : sums;
  return { program, feeds, dims, want };
}

/** Σ a·b term by term in double; the reference evaluator takes its time for so many. */
export function productOf(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  {
    ta,
    tb,
    batch,
    m,
    k,
    n,
  }: { ta: boolean; tb: boolean; batch: number; m: number; k: number; n: number },
): Float64Array {
  const out = new Float64Array(batch * m * n);
  const [ai, ak] = ta ? [1, m] : [k, 1];
  const [bj, bk] = tb ? [k, 1] : [1, n];
  for (let p = 0; p < batch; p++)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let d = 0; d < k; d++)
          sum += a[p * m * k + i * ai + d * ak]! * b[p * k * n + j * bj + d * bk]!;
        out[(p * m + i) * n + j] = sum;
      }
  return out;
}
