/**
 * What passes that part sums have to know of their terms: what is the same in all terms of a
 * result, and what is the mean of the same elements.
 */
import { makeNode, reducedAxes, type Shape, sameShape, type Tensor } from "@kiln-ml/ir";
import { isPointwise } from "../access.ts";
import { searches } from "../sizes.ts";

const inShape = (x: Tensor, shape: Shape): Tensor =>
  sameShape(x.shape, shape)
    ? x
    : makeNode({ op: "reshape", operands: [x], attrs: {}, dtype: x.dtype, shape });

/** A value in axes of `shape`, those of `dims`, the same along all others. */
export function along(x: Tensor, shape: Shape, dims: readonly number[]): Tensor {
  if (dims.length === shape.length) return inShape(x, shape);
  const attrs = { dims: [...dims] };
  return makeNode({ op: "broadcastInDim", operands: [x], attrs, dtype: x.dtype, shape });
}

/** What is the same along the reduced axes, in the shape of the result; undefined if it differs. */
export function sameAlong(wide: Tensor, axes: readonly number[], shape: Shape): Tensor | undefined {
  if (wide.op !== "broadcastInDim") return undefined;
  const from = wide.operands[0]!;
  const dims = wide.attrs.dims as readonly number[];
  const runs = dims.map((_, i) => i).filter((i) => from.shape[i] !== 1);
  const taken = runs.map((i) => dims[i]!);
  if (taken.some((axis) => axes.includes(axis))) return undefined;
  const kept = taken.map((axis) => axis - axes.filter((a) => a < axis).length);
  return along(
    inShape(
      from,
      runs.map((i) => from.shape[i]!),
    ),
    shape,
    kept,
  );
}

/** The sum of `x` over these axes that a value is made of, a few steps away. */
export function sumIn(value: Tensor, x: Tensor, axes: readonly number[]): Tensor | undefined {
  const seen = new Set([value]);
  for (const t of seen) {
    const sums = t.op === "reduceSum" && t.operands[0] === x;
    if (sums && String(reducedAxes(t)) === String(axes)) return t;
    if (seen.size > searches.stepsToMean) return undefined;
    if (isPointwise(t) || t.op === "reshape") for (const o of t.operands) seen.add(o);
  }
  return undefined;
}
