/**
 * Tensors made from nothing but a shape: constants broadcast, and iota. No data is held for them.
 */
import { addDim, type Dim, isStatic } from "../dim.ts";
import type { Dtype } from "../dtype.ts";
import { makeNode, type Tensor } from "../node.ts";
import { apply } from "./apply.ts";
import { convert } from "./elementwise/convert.ts";
import { broadcastInDim, reshape, slice } from "./movement.ts";
import { constant, type Extent, iota, toShape } from "./source.ts";

/** Every element is `value`. */
export const full = (
  shape: readonly Extent[],
  value: number | boolean,
  dtype: Dtype = "f32",
): Tensor => broadcastInDim(constant(value, dtype), toShape(shape), []);

export const zeros = (shape: readonly Extent[], dtype: Dtype = "f32"): Tensor =>
  full(shape, 0, dtype);
export const ones = (shape: readonly Extent[], dtype: Dtype = "f32"): Tensor =>
  full(shape, 1, dtype);
export const zerosLike = (x: Tensor): Tensor => full(x.shape, 0, x.dtype);
export const onesLike = (x: Tensor): Tensor => full(x.shape, 1, x.dtype);
export const fullLike = (x: Tensor, value: number | boolean): Tensor =>
  full(x.shape, value, x.dtype);

/** 0, 1, …, n − 1. */
export const arange = (n: Extent, dtype: Dtype = "i32"): Tensor => iota([n], 0, dtype);

/** `count` numbers from `start` to `stop`, both included: start + i·(stop − start)/(count − 1). */
export function linspace(start: number, stop: number, count: number, dtype: Dtype = "f32"): Tensor {
  const step = count > 1 ? (stop - start) / (count - 1) : 0;
  return iota([count], 0, dtype).mul(step).add(start);
}

/** 1 on the diagonal, 0 elsewhere: [rows, columns]. */
export function eye(rows: Extent, columns: Extent = rows, dtype: Dtype = "f32"): Tensor {
  const shape = toShape([rows, columns]);
  const operands = [iota(shape, 0), iota(shape, 1)];
  const diagonal = makeNode({ op: "equal", operands, attrs: {}, dtype: "bool", shape });
  return convert(diagonal, dtype);
}

/**
 * A dim as a number of the graph, rank 0. A symbolic one is element d of 0, 1, …, d, which compiles to index
 * arithmetic.
 */
export function dimValue(d: Dim, dtype: Dtype = "i32"): Tensor {
  if (isStatic(d)) return constant(d, dtype);
  const end = addDim(d, 1);
  // No elements are held, so that the value may be negative: nothing is required of its extent.
  const counted = apply("iota", [], { axis: 0 }, { dtype: "i32", shape: [end] });
  return convert(reshape(slice(counted, [d], [end]), []), dtype);
}
