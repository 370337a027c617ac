/**
 * Convolution and pooling against plain loops that are written another way: every element of x is
 * multiplied with every element of the kernel and the product goes where the two meet, if they meet
 * anywhere.
 */
import {
  avgPool,
  convolution,
  dim,
  evaluate,
  evaluateDim,
  floorDiv,
  input,
  makeValue,
  maxPool,
  type PoolOptions,
  printShape,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";
import { Builder, convolutionCase, random } from "./cases.ts";

type List = readonly number[];

/**
 * One spatial axis at a time is enough: a product of the kernel taps of all axes is formed by
 * recursion.
 */
function meetings(b: Builder, node: Tensor): Float64Array {
  const a = node.attrs as Record<string, List>;
  const [x, w] = [...b.inputs.values()];
  const shape = node.shape.map((d) => evaluateDim(d, b.dims));
  const out = new Float64Array(shape.reduce((p, q) => p * q, 1));
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((p, q) => p * q, 1));
  const coords = (s: List, i: number) =>
    s.map((n, k) => Math.floor(i / s.slice(k + 1).reduce((p, q) => p * q, 1)) % n);
  const groups = node.attrs.groups as number;
  const [c, o] = [w!.shape[1]!, w!.shape[0]! / groups];
  for (const [i, xi] of x!.data.entries())
    for (const [j, wj] of w!.data.entries()) {
      const [n, cx, ...d] = coords(x!.shape, i) as [number, number, ...number[]];
      const [ow, cw, ...k] = coords(w!.shape, j) as [number, number, ...number[]];
      if (Math.floor(cx / c) !== Math.floor(ow / o) || cx % c !== cw) continue;
      const t = d.map(
        (v, m) =>
          (v * a.lhsDilation![m]! + a.low![m]! - k[m]! * a.rhsDilation![m]!) / a.stride![m]!,
      );
      const to = [n, ow, ...t];
      if (to.some((v, m) => !Number.isInteger(v) || v < 0 || v >= shape[m]!)) continue;
      out[to.reduce((sum, v, m) => sum + v * strides[m]!, 0)]! += xi * wj;
    }
  return out;
}

for (const n of [1, 2, 3])
  test(`convolution over ${n} axes is the sum of all products that meet`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
        const b = new Builder(random(seed));
        const node = convolutionCase(b, n);
        const got = evaluate([node], { inputs: b.inputs, dims: b.dims })[0]!;
        for (const [i, v] of meetings(b, node).entries())
          assert.ok(Math.abs(v - got.data[i]!) < 1e-12, `${i}: ${got.data[i]}, loops give ${v}`);
      }),
      { numRuns: runs(n === 3 ? 8 : 60), includeErrorInReport: true },
    );
  });

const shapeOf = (t: Tensor): string => printShape(t.shape);

test("the extents of a convolution are polynomials of a symbolic extent", () => {
  const x = input("x", "f32", ["N", 3, "H", "H"]);
  const w = input("w", "f32", [8, 3, 3, 3]);
  assert.is(shapeOf(convolution(x, w)), "[N,8,H-2,H-2]");
  assert.is(shapeOf(convolution(x, w, { padding: "same" })), "[N,8,H,H]");
  assert.is(shapeOf(convolution(x, w, { padding: 1, stride: 2 })), shapeOfHalf());
});

const shapeOfHalf = (): string => {
  const half = floorDiv(subDim(dim("H"), 1), 2);
  return printShape([dim("N"), 8, ...[half, half].map((d) => subDim(d, -1))]);
};

test("padding same gives ⌈extent / stride⌉ placements and puts the odd element after", () => {
  const x = input("x", "f32", [1, 1, 5]);
  const y = convolution(x, input("w", "f32", [1, 1, 2]), { padding: "same", stride: 2 });
  assert.is(shapeOf(y), "[1,1,3]");
  assert.equal([y.attrs.low, y.attrs.high], [[0], [1]]);
});

/** Pooling of one axis by the definition. */
function poolByLoops(xs: List, o: PoolOptions & { countIncludePad: boolean }, max: boolean) {
  const [size, stride, pad] = [o.size as number, o.stride as number, o.padding as number];
  const dilation = (o.dilation as number) ?? 1;
  const reach = (size - 1) * dilation + 1;
  const out: number[] = [];
  for (let start = -pad; ; start += stride) {
    const end = start + reach;
    const fits = end <= xs.length + pad;
    if (!(fits || (o.ceilMode && start < xs.length && start - stride + reach < xs.length + pad)))
      return out;
    let [sum, top, count] = [0, -Infinity, 0];
    for (let k = 0; k < size; k++) {
      const at = start + k * dilation;
      const inside = at >= 0 && at < xs.length;
      if (inside) [sum, top] = [sum + xs[at]!, Math.max(top, xs[at]!)];
      if (inside || (o.countIncludePad && at >= -pad && at < xs.length + pad)) count++;
    }
    out.push(max ? top : sum / count);
  }
}

test("maxPool and avgPool are what loops over one axis give", () => {
  fc.assert(
    fc.property(
      fc.record({
        n: fc.integer({ min: 4, max: 9 }),
        size: fc.integer({ min: 2, max: 3 }),
        stride: fc.integer({ min: 1, max: 3 }),
        padding: fc.integer({ min: 0, max: 1 }),
        ceilMode: fc.boolean(),
        countIncludePad: fc.boolean(),
      }),
      ({ n, ...options }) => {
        const xs = Array.from({ length: n }, (_, i) => Math.sin(i * 5));
        const x = input("x", "f64", [1, 1, n]);
        const inputs = new Map([[x, makeValue("f64", [1, 1, n], xs)]]);
        for (const isMax of [true, false]) {
          const { countIncludePad: _, ...ofBoth } = options;
          const y = isMax ? maxPool(x, ofBoth) : avgPool(x, options);
          const expected = poolByLoops(xs, options, isMax);
          const got = [...evaluate([y], { inputs })[0]!.data];
          assert.is(got.length, expected.length);
          for (const [i, v] of got.entries()) assert.ok(Math.abs(v - expected[i]!) < 1e-12);
        }
      },
    ),
    { numRuns: runs(100), includeErrorInReport: true },
  );
});

test.run();
