/**
 * Reference values of the reductions, in row-major order of the reduced elements and in double precision until the
 * result is rounded.
 */
import type { ReduceOp } from "../attributes.ts";
import { isFloat, maxOf, minOf } from "../dtype.ts";
import type { Tensor } from "../node.ts";
import type { Evaluate, Value } from "./value.ts";
import {
  concreteShape,
  coordinates,
  elementAt,
  multiply,
  plus,
  rowMajor,
  tabulate,
} from "./walk.ts";

/** The elements that end up in one element of the result, in row-major order. */
function* reduced(x: Value, axes: readonly number[], kept: readonly number[]): Generator<number> {
  for (const vars of coordinates(axes.map((a) => x.shape[a]!))) {
    let [i, j] = [0, 0];
    yield elementAt(
      x,
      x.shape.map((_, k) => (axes.includes(k) ? vars[j++]! : kept[i++]!)),
    );
  }
}

/** A reduction that gives `value` for the elements of each group. */
const over =
  (value: (xs: Iterable<number>, node: Tensor) => number): Evaluate<ReduceOp> =>
  (node, [x], dims) => {
    const axes = node.attrs.axes;
    return tabulate(node, dims, (at) => value(reduced(x!, axes, at), node));
  };

function total(xs: Iterable<number>, node: Tensor): number {
  let acc = 0;
  for (const x of xs) acc = plus(node.dtype, acc, x);
  return acc;
}

function product(xs: Iterable<number>, node: Tensor): number {
  let acc = 1;
  for (const x of xs) acc = multiply(node.dtype, acc, x);
  return acc;
}

/** The first extreme and its index; NaN counts as more extreme than all numbers. */
function extreme(
  xs: Iterable<number>,
  sign: 1 | -1,
  empty: number,
): { value: number; index: number } {
  let [value, index, i] = [empty, 0, 0];
  for (const x of xs) {
    if (i === 0 || (!Number.isNaN(value) && (Number.isNaN(x) || sign * x > sign * value)))
      [value, index] = [x, i];
    i++;
  }
  return { value, index };
}

/** The extreme as Math.max and Math.min have it: NaN if any is, and −0 below 0. */
function ordered(xs: Iterable<number>, pick: typeof Math.max, empty: number): number {
  let best = empty;
  for (const x of xs) best = pick(best, x);
  return best;
}

export const lowest = (node: Tensor): number =>
  isFloat(node.dtype) ? -Infinity : minOf(node.dtype);
export const highest = (node: Tensor): number =>
  isFloat(node.dtype) ? Infinity : maxOf(node.dtype);

/** Every element is added to the place it came from. */
const fold: Evaluate<"fold"> = (node, [x], dims) => {
  const [stride, dilation] = [node.attrs.stride, node.attrs.dilation];
  const lead = node.rank - stride.length;
  const shape = concreteShape(node.shape, dims);
  const sums = new Float64Array(shape.reduce((a, b) => a * b, 1));
  let i = 0;
  for (const at of coordinates(x!.shape)) {
    const to = at.slice(0, node.rank);
    for (const [k, s] of stride.entries())
      to[lead + k] = at[lead + k]! * s + at[node.rank + k]! * dilation[k]!;
    const into = rowMajor(shape, to);
    sums[into] = plus(node.dtype, sums[into]!, x!.data[i++]!);
  }
  i = 0;
  return tabulate(node, dims, () => sums[i++]!);
};

export const reductions = (): Record<string, Evaluate> => ({
  reduceSum: over(total),
  reduceProd: over(product),
  reduceMax: over((xs, n) => ordered(xs, Math.max, lowest(n))),
  reduceMin: over((xs, n) => ordered(xs, Math.min, highest(n))),
  reduceAny: over((xs) => (extreme(xs, 1, 0).value ? 1 : 0)),
  reduceAll: over((xs) => (extreme(xs, -1, 1).value ? 1 : 0)),
  argMax: over((xs) => extreme(xs, 1, 0).index),
  argMin: over((xs) => extreme(xs, -1, 0).index),
  fold,
});
