/**
 * Reference values of gather and scatter. Updates are combined one after the other, in row-major order, and each result is
 * rounded, since it is an element of the tensor that the next one finds.
 */
import { type Dtype, roundTo } from "../dtype.ts";
import { otherAxes } from "../ops/apply.ts";
import type { Evaluate, Value } from "./value.ts";
import { coordinates, elementAt, inside, multiply, rowMajor, tabulate } from "./walk.ts";

/** Coordinates in x: the indices at the indexed axes, `rest` at the others. */
function place(
  rank: number,
  axes: readonly number[],
  indexed: readonly number[],
  rest: readonly number[],
) {
  const at = new Array<number>(rank);
  for (const [k, axis] of axes.entries()) at[axis] = indexed[k]!;
  for (const [k, axis] of otherAxes(rank, axes).entries()) at[axis] = rest[k]!;
  return at;
}

const gather: Evaluate<"gather"> = (node, [x, ...indices], dims) => {
  const axes = node.attrs.axes;
  // There is no element to clamp to.
  if (axes.some((axis) => x!.shape[axis] === 0)) return tabulate(node, dims, () => 0);
  const n = indices[0]!.shape.length;
  return tabulate(node, dims, (at) => {
    const indexed = indices.map((v, k) => {
      const last = x!.shape[axes[k]!]! - 1;
      return Math.max(0, Math.min(last, elementAt(v, at.slice(0, n))));
    });
    return elementAt(x!, place(x!.shape.length, axes, indexed, at.slice(n)));
  });
};

const combine: Record<string, (old: number, update: number, dtype: Dtype) => number> = {
  add: (a, b) => a + b,
  mul: (a, b, dtype) => multiply(dtype, a, b),
  max: (a, b) => Math.max(a, b),
  min: (a, b) => Math.min(a, b),
  set: (_, b) => b,
};

const scatter: Evaluate<"scatter"> = (node, [x, updates, ...indices], dims) => {
  const axes = node.attrs.axes;
  const into = combine[node.attrs.mode]!;
  const n = indices[0]!.shape.length;
  const sums: Value = { ...x!, data: Float64Array.from(x!.data) };
  for (const at of coordinates(updates!.shape)) {
    const indexed = indices.map((v) => elementAt(v, at.slice(0, n)));
    const to = place(x!.shape.length, axes, indexed, at.slice(n));
    if (!inside(x!.shape, to)) continue;
    const i = rowMajor(x!.shape, to);
    sums.data[i] = roundTo(x!.dtype, into(sums.data[i]!, elementAt(updates!, at), x!.dtype));
  }
  return tabulate(node, dims, (at) => elementAt(sums, at));
};

export const indexing = { gather, scatter };
