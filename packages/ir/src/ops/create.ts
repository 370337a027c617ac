/**
 * Tensors made from nothing but a shape: constants broadcast, and iota. No data is held for them.
 */

import { addDim, ceilDiv, type Dim, DimExpr, isStatic, maxDim, subDim } from "../dim.ts";
import { type Dtype, isDtype } from "../dtype.ts";
import { ShapeError } from "../errors.ts";
import { checkExtentKind, kindOf } from "../kind.ts";
import { makeNode, type Tensor } from "../node.ts";
import { apply, checkTensor } from "./apply.ts";
import { convert } from "./elementwise/convert.ts";
import { broadcastInDim, reshape, slice } from "./movement.ts";
import { constant, type Extent, iota, toShape } from "./source.ts";

/**
 * Every element is `value`. `torch.full`.
 *
 * @param shape The shape of the result; extents may be symbolic.
 * @param dtype The dtype of the result.
 * @example
 *   full([2, 2], 7) // [[7, 7], [7, 7]]
 */
export const full = (
  shape: readonly Extent[],
  value: number | boolean,
  dtype: Dtype = "f32",
): Tensor => broadcastInDim(constant(value, dtype), toShape(shape), []);

/**
 * A tensor of zeros, f32 by default. `torch.zeros`, `numpy.zeros`.
 *
 * @param shape The shape of the result; extents may be symbolic.
 * @param dtype The dtype of the result.
 * @example
 *   zeros([2, 3]) // [[0, 0, 0], [0, 0, 0]]
 */
export const zeros = (shape: readonly Extent[], dtype: Dtype = "f32"): Tensor =>
  full(shape, 0, dtype);
/**
 * A tensor of ones, f32 by default. `torch.ones`, `numpy.ones`.
 *
 * @param shape The shape of the result; extents may be symbolic.
 * @param dtype The dtype of the result.
 * @example
 *   ones([2, 3]) // [[1, 1, 1], [1, 1, 1]]
 */
export const ones = (shape: readonly Extent[], dtype: Dtype = "f32"): Tensor =>
  full(shape, 1, dtype);
/**
 * Zeros of the shape and dtype of x. `torch.zeros_like`.
 *
 * @param x The tensor.
 * @example
 *   zerosLike(tensor([5, 7])) // [0, 0]
 */
export function zerosLike(x: Tensor): Tensor {
  checkTensor("zerosLike", x);
  return full(x.shape, 0, x.dtype);
}
/**
 * Ones of the shape and dtype of x. `torch.ones_like`.
 *
 * @param x The tensor.
 * @example
 *   onesLike(tensor([5, 7])) // [1, 1]
 */
export function onesLike(x: Tensor): Tensor {
  checkTensor("onesLike", x);
  return full(x.shape, 1, x.dtype);
}
/**
 * One number in the shape and dtype of x. `torch.full_like`.
 *
 * @param x The tensor.
 * @param value What every element is.
 * @example
 *   fullLike(tensor([1, 2]), 7) // [7, 7]
 */
export function fullLike(x: Tensor, value: number | boolean): Tensor {
  checkTensor("fullLike", x);
  return full(x.shape, value, x.dtype);
}

/**
 * Zeros: nothing is left as it was found. `torch.empty`.
 *
 * @param shape The shape of the result; extents may be symbolic.
 * @param dtype The dtype of the result.
 * @example
 *   empty([2]) // [0, 0]
 */
export const empty = (shape: readonly Extent[], dtype: Dtype = "f32"): Tensor =>
  zeros(shape, dtype);
/**
 * Zeros of the shape and dtype of x. `torch.empty_like`.
 *
 * @param x The tensor.
 * @example
 *   emptyLike(tensor([1, 2])) // [0, 0]
 */
export function emptyLike(x: Tensor): Tensor {
  checkTensor("emptyLike", x);
  return zeros(x.shape, x.dtype);
}

/**
 * start, start + step, … before stop; with one extent 0, 1, …, n − 1.
 *
 * → [⌈(stop − start)/step⌉], none where stop is not beyond start. i32, or f32 where a number has a
 * fraction. Of extents that are symbols the step is a whole number. Throws ShapeError for a step
 * of 0. `torch.arange`, `numpy.arange`.
 *
 * @param n The end of 0, 1, … when it stands alone.
 * @param dtype i32, or f32 where a number has a fraction.
 * @param start The first number.
 * @param stop The end, which is not reached.
 * @param step The difference of neighbours, which may be negative; 1 by default.
 * @example
 *   arange(3) // [0, 1, 2]
 *   arange(5, 0, -2) // [5, 3, 1]
 */
export function arange(n: Extent, dtype?: Dtype): Tensor;
export function arange(start: Extent, stop: Extent, step?: number, dtype?: Dtype): Tensor;
export function arange(first: Extent, second?: Extent | Dtype, step = 1, dtype?: Dtype): Tensor {
  if (second === undefined || isDtype(second)) return counted(first, second);
  const [start, stop] = [first, second].map((d) =>
    typeof d === "number" ? d : toShape([d])[0]!,
  ) as [Dim, Dim];
  for (const d of [start, stop, step])
    if (!(d instanceof DimExpr) && !Number.isFinite(d))
      throw new ShapeError(`arange: start, stop and step must be numbers, got ${kindOf(d)}`);
  if (step === 0) throw new ShapeError("arange: the step is 0\n  give one above or below it");
  const whole = [start, stop, step].every((d) => d instanceof DimExpr || Number.isInteger(d));
  if (!isStatic(start) || !isStatic(stop)) {
    if (!whole) throw new ShapeError("arange: with symbols all of start, stop and step are whole");
    const [low, high] = step > 0 ? [start, stop] : [stop, start];
    const count = maxDim(ceilDiv(subDim(high, low), Math.abs(step)), 0);
    const from = dimValue(start, dtype ?? "i32");
    return iota([count], 0, dtype ?? "i32")
      .mul(step)
      .add(from);
  }
  const count = Math.max(0, Math.ceil((stop - start) / step));
  const places = iota([count], 0, dtype ?? (whole ? "i32" : "f32"));
  const scaled = step === 1 ? places : places.mul(step);
  return start === 0 ? scaled : scaled.add(start);
}

function counted(n: Extent, dtype: Dtype | undefined): Tensor {
  if (typeof n === "number" && Number.isFinite(n) && !Number.isInteger(n))
    return iota([Math.max(0, Math.ceil(n))], 0, dtype ?? "f32");
  return iota([n], 0, dtype ?? "i32");
}

/**
 * `count` numbers from base^start to base^stop, both included, in equal ratios: f32.
 * `torch.logspace`, `numpy.logspace`.
 *
 * @param start The exponent of the first.
 * @param stop The exponent of the last.
 * @param base The base.
 * @example
 *   logspace(0, 2, 3) // [1, 10, 100]
 */
export function logspace(start: number, stop: number, count: number, base = 10): Tensor {
  for (const d of [start, stop, base])
    if (!Number.isFinite(d))
      throw new ShapeError(`logspace: start, stop and base must be numbers, got ${kindOf(d)}`);
  checkExtentKind("logspace", "the count", count);
  return linspace(start, stop, count).mul(Math.log(base)).exp();
}

/**
 * `count` numbers from `start` to `stop`, both included: start + i·(stop − start)/(count − 1).
 * `torch.linspace`, `numpy.linspace`.
 *
 * @param dtype The dtype of the result.
 * @example
 *   linspace(0, 1, 5) // [0, 0.25, 0.5, 0.75, 1]
 */
export function linspace(start: number, stop: number, count: number, dtype: Dtype = "f32"): Tensor {
  const step = count > 1 ? (stop - start) / (count - 1) : 0;
  return iota([count], 0, dtype).mul(step).add(start);
}

/**
 * 1 on the diagonal, 0 elsewhere: [rows, columns]. `torch.eye`.
 *
 * @param rows Rows.
 * @param columns Columns; as many as rows by default.
 * @param dtype The dtype of the result.
 * @example
 *   eye(2) // [[1, 0], [0, 1]]
 *   eye(2, 3, "i32") // [[1, 0, 0], [0, 1, 0]]
 */
export function eye(rows: Extent, columns: Extent = rows, dtype: Dtype = "f32"): Tensor {
  const shape = toShape([rows, columns]);
  const operands = [iota(shape, 0), iota(shape, 1)];
  const diagonal = makeNode({ op: "equal", operands, attrs: {}, dtype: "bool", shape });
  return convert(diagonal, dtype);
}

/**
 * A dim as a number of the graph, rank 0. A symbolic one is element d of 0, 1, …, d, which compiles
 * to index arithmetic. No counterpart in PyTorch.
 *
 * @param d The extent.
 * @param dtype The dtype of the result.
 * @example
 *   const f = compile((x) => x.sum().div(dimValue(x.shape[0], "f32")));
 *   await f([1, 2, 6]) // 3; the mean of any length
 */
export function dimValue(d: Dim, dtype: Dtype = "i32"): Tensor {
  checkExtentKind("dimValue", "the extent", d);
  if (isStatic(d)) return constant(d, dtype);
  const end = addDim(d, 1);
  // No elements are held, so that the value may be negative: nothing is required of its extent.
  const counted = apply("iota", [], { axis: 0 }, { dtype: "i32", shape: [end] });
  return convert(reshape(slice(counted, [d], [end]), []), dtype);
}
