/**
 * Programs on which the passes that targets add find work: long sums, scans and products, many
 * operands. With numbers from −1 to 1, and for each result the sum of the absolute values of its
 * terms, by which an error is measured.
 */
import {
  concat,
  cumsum,
  type Dtype,
  dotGeneral,
  input,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import fc from "fast-check";
import type { Program } from "../../compiler/src/program.ts";

export interface Sample {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
  /** The same inputs without their signs. */
  readonly sizes: ReadonlyMap<Tensor, Value>;
  /** The most terms that one result adds up. */
  readonly terms: number;
  /** The results, where the reference takes the square of the terms to find them. */
  readonly known?: (feeds: ReadonlyMap<Tensor, Value>) => Value[];
}

const feedsOf = (inputs: readonly Tensor[], seed: number, change = (x: number): number => x) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const value = (t: Tensor): Value => {
    const shape = t.shape as readonly number[];
    const whole = t.dtype === "i32";
    const data = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
      change(whole ? Math.round(8 * next()) : Math.fround(next())),
    );
    return { dtype: t.dtype, shape, data };
  };
  return new Map(inputs.map((t) => [t, value(t)] as const));
};

const sampleOf = (
  inputs: readonly Tensor[],
  value: Tensor,
  terms: number,
  seed: number,
): Sample => ({
  program: { inputs, outputs: [{ name: "y", value }], updates: [] },
  feeds: feedsOf(inputs, seed),
  sizes: feedsOf(inputs, seed, Math.abs),
  terms,
});

const seeds = fc.integer({ min: 1, max: 1 << 30 });
const numbers = fc.constantFrom<Dtype>("f32", "f32", "i32");
const reducers = fc.constantFrom("sum", "sum", "prod", "max", "min") as fc.Arbitrary<
  "sum" | "prod" | "max" | "min"
>;

/** The sums of a line's elements up to each, added in f64. */
function running(line: Value, reverse: boolean): Value {
  const data = new Float64Array(line.data.length);
  let total = 0;
  for (let i = 0; i < data.length; i++) {
    const at = reverse ? data.length - 1 - i : i;
    total += line.data[at]!;
    data[at] = Math.fround(total);
  }
  return { ...line, data };
}

/** For each pass of a target, programs in which it finds something to do. */
export const programsFor: Readonly<Record<string, fc.Arbitrary<Sample>>> = {
  "split-concat": fc
    .record({ seed: seeds, n: fc.integer({ min: 8, max: 30 }) })
    .map(({ seed, n }) => {
      const xs = Array.from({ length: n }, (_, i) => input(`x${i}`, "f32", [2, 1 + (i % 3)]));
      return sampleOf(xs, concat(xs, 1).mul(2), 1, seed);
    }),
  "split-reduce": fc
    .record({ seed: seeds, dtype: numbers, reducer: reducers, rows: fc.constantFrom(1, 2) })
    .map(({ seed, dtype, reducer, rows }) => {
      const x = input("x", dtype, [rows, 1 << 18]);
      return sampleOf([x], x[reducer]([1]), 1 << 18, seed);
    }),
  "split-columns": fc.record({ seed: seeds, dtype: numbers }).map(({ seed, dtype }) => {
    const x = input("x", dtype, [1 << 19, 2]);
    return sampleOf([x], x.sum([0]), 1 << 19, seed);
  }),
  "split-scan": fc.record({ seed: seeds, reverse: fc.boolean() }).map(({ seed, reverse }) => {
    const x = input("x", "f32", [1, 1 << 16]);
    const known = (feeds: ReadonlyMap<Tensor, Value>) => [running(feeds.get(x)!, reverse)];
    return { ...sampleOf([x], cumsum(x, 1, { reverse }), 1 << 16, seed), known };
  }),
  "split-contraction": fc
    .record({ seed: seeds, m: fc.integer({ min: 1, max: 4 }), k: fc.constantFrom(4096, 6144) })
    .map(({ seed, m, k }) => {
      const [a, b] = [input("a", "f32", [m, k]), input("b", "f32", [k, 3])];
      const value = dotGeneral(a, b, { lhsContract: [1], rhsContract: [0] });
      return sampleOf([a, b], value, k, seed);
    }),
  // As the gradient of a norm over rows: sums of one product, and of what is centred, with `of` a
  // sum taken apart itself.
  "factor-sums": fc
    .record({
      seed: seeds,
      n: fc.integer({ min: 820, max: 900 }),
      of: fc.constantFrom("x", "product", "sum"),
      terms: fc.constantFrom(1, 2, 15, 16),
    })
    .map(({ seed, n, of, terms }) => {
      const [g, h] = [input("g", "f32", [n, 5]), input("h", "f32", [n, 5, 2])];
      const [w, v, u] = [input("w", "f32", [5]), input("v", "f32", [5]), input("u", "f32", [n, 5])];
      const line = h.sum([2]);
      const sums = [u, g].map((t) => h.mul(t.reshape([n, 5, 1])).sum([2]));
      const x = { x: u, product: line.mul(w), sum: sums[0]! }[of]!;
      const d = x.sub(x.mean([0]));
      const some = Array.from({ length: terms }, (_, i) => d.mul(v.mul((i + 1) / 16)));
      const value = [g.mul(u).neg(), ...some].reduce((a, b) => a.add(b)).sum([0]);
      const sample = sampleOf([g, h, w, v, u], value, 8 * (terms + 1) * n, seed);
      const others = [g.mul(v), g.mul(d).mul(w), v.mul(g.mul(d)), line.mul(v), x.mul(w), x.mul(v)];
      const outputs = [...others.map((t) => t.sum([0])), sums[1]!.sum([0])];
      const all = [
        ...sample.program.outputs,
        ...outputs.map((t, i) => ({ name: `z${i}`, value: t })),
      ];
      return { ...sample, program: { ...sample.program, outputs: all } };
    }),
  "split-variance": fc
    .record({ seed: seeds, shift: fc.constantFrom(0, 3), columns: fc.boolean() })
    .map(({ seed, shift, columns }) => {
      const x = input("x", "f32", columns ? [1 << 19, 2] : [2, 1 << 18]);
      const axes = columns ? [0] : [1];
      const y = x.add(shift);
      const d = y.sub(y.mean(axes, { keepDims: true }));
      return sampleOf([x], d.mul(d).sum(axes), 1 << 19, seed);
    }),
  "join-sums": fc.record({ seed: seeds, n: fc.integer({ min: 3, max: 9 }) }).map(({ seed, n }) => {
    const xs = Array.from({ length: n }, (_, i) => input(`x${i}`, "f32", [40 + i, 7]));
    const sums = xs.map((x) => x.sum());
    return sampleOf(
      xs,
      sums.reduce((a, b) => a.add(b)),
      n * 50 * 7,
      seed,
    );
  }),
  "reuse-product": fc
    .record({ seed: seeds, n: fc.integer({ min: 2, max: 40 }) })
    .map(({ seed, n }) => {
      const [w, v, g] = [
        input("w", "f32", [8, n]),
        input("v", "f32", [n, 4]),
        input("g", "f32", [8, 4]),
      ];
      const made = dotGeneral(w, v, { lhsContract: [1], rhsContract: [0] });
      const back = dotGeneral(g, v, { lhsContract: [1], rhsContract: [1] });
      const sample = sampleOf([w, v, g], back.mul(w).sum([1]), 4 * n, seed);
      const outputs = [{ name: "made", value: made }, ...sample.program.outputs];
      return { ...sample, program: { ...sample.program, outputs } };
    }),
};
