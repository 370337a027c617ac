/**
 * Places in sorted lists, and counts by place.
 */
import { type Dim, isStatic, sameDim } from "../../dim.ts";
import { isInteger } from "../../dtype.ts";
import {
  checkOptions,
  DtypeError,
  GraphError,
  type OptionNames,
  ShapeError,
} from "../../errors.ts";
import { checkExtentKind } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { printShape, sizeOf } from "../../shape.ts";
import { apply, checkTensor } from "../apply.ts";
import { broadcastOperands } from "../broadcast.ts";
import { ones, zeros } from "../create.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { expandDims, reshape } from "../movement.ts";
import { any, max, min, sum } from "../reduce.ts";
import { iota } from "../source.ts";

export interface SearchOptions {
  /** The place behind elements that are equal, not the one before; default false. */
  readonly right?: boolean;
}

const searchOptions: OptionNames<SearchOptions> = { right: 1 };

/**
 * Where values would be put into a sorted last axis so that it stays sorted: the number of elements
 * below (with `right`: not above) each.
 *
 * sorted [n] or [D…, n], values [E…] or [D…, m] → i32 of the shape of the values. Compares with
 * every element, in one kernel. Throws ShapeError unless the leading axes are equal or sorted is a
 * vector. `torch.searchsorted`, `numpy.searchsorted`.
 *
 * @param values What is looked for.
 * @example
 *   searchsorted(tensor([1, 3, 5]), tensor([3, 4])) // [1, 2]
 */
export function searchsorted(sorted: Tensor, values: Tensor, options: SearchOptions = {}): Tensor {
  for (const t of [sorted, values]) checkTensor("searchsorted", t);
  const { right = false } = checkOptions("searchsorted", options, searchOptions);
  const lead = sorted.shape.slice(0, -1);
  const fits = sorted.rank === values.rank && lead.every((d, i) => sameDim(d, values.shape[i]!));
  if (sorted.rank === 0 || (sorted.rank > 1 && !fits))
    throw new ShapeError(
      `searchsorted: sorted is ${printShape(sorted.shape)}, values are ${printShape(values.shape)}\n  give a vector, or the same axes before the last`,
    );
  const own = expandDims(values, -1);
  const list = sorted.rank === 1 ? sorted : expandDims(sorted, sorted.rank - 1);
  return sum(right ? list.lessEqual(own) : list.less(own), -1);
}

/**
 * The number of the bucket of each element: boundaries[i − 1] < x ≤ boundaries[i], with `right` ≤
 * and <.
 *
 * x of any shape, boundaries [n], ascending → i32 of its shape, 0 … n. Throws ShapeError unless the
 * boundaries are a vector. `torch.bucketize`; `numpy.digitize`, whose `right` is the opposite of
 * this one.
 *
 * @param x The tensor.
 * @param boundaries Ascending, [n].
 * @example
 *   bucketize(tensor([0.5, 2]), tensor([0, 1])) // [1, 2]
 */
export function bucketize(x: Tensor, boundaries: Tensor, options: SearchOptions = {}): Tensor {
  for (const t of [x, boundaries]) checkTensor("bucketize", t);
  const { right = false } = checkOptions("bucketize", options, searchOptions);
  if (boundaries.rank !== 1)
    throw new ShapeError(
      `bucketize: the boundaries are ${printShape(boundaries.shape)}, not a vector`,
    );
  return searchsorted(boundaries, x, { right });
}

/** Ones or weights summed by place; what is outside is left out. */
function counted(places: Tensor, updates: Tensor, size: Dim): Tensor {
  const n = sizeOf(places.shape);
  const [at, of] = [reshape(places, [n]), reshape(updates, [n])];
  return apply("scatter", [zeros([size], updates.dtype), of, at], { axes: [0], mode: "add" });
}

function checkPositive(op: string, what: string, size: unknown): void {
  if (size === undefined)
    throw new ShapeError(
      `${op}: the ${what} is missing\n  a program has fixed extents: give how many are counted`,
    );
  checkExtentKind(op, `the ${what}`, size);
  if (typeof size === "number" && size < 0) throw new ShapeError(`${op}: the ${what} ${size} is not 0 or more`); // biome-ignore format: one line
}

export interface BincountOptions {
  /** What each element counts, of the shape of x; default 1. */
  readonly weights?: Tensor;
}

const bincountOptions: OptionNames<BincountOptions> = { weights: 1 };

/**
 * How often each of 0 … size − 1 appears, or the sum of the weights of those elements; others are
 * left out.
 *
 * x: integers of any shape → i32[size], or [size] in the dtype of the weights, which have a
 * gradient. Throws DtypeError unless x is an integer, ShapeError where weights have another shape.
 * `torch.bincount`, with the size that it finds out.
 *
 * @param size How many numbers are counted.
 * @example
 *   bincount(tensor([0, 2, 2], { dtype: "i32" }), 4) // [1, 0, 2, 0]
 */
export function bincount(x: Tensor, size: Dim, options: BincountOptions = {}): Tensor {
  checkTensor("bincount", x);
  checkPositive("bincount", "size", size);
  const { weights } = checkOptions("bincount", options, bincountOptions);
  if (!isInteger(x.dtype))
    throw new DtypeError(
      `bincount: x is ${x.dtype}, not an integer\n  convert it first: x.convert("i32")`,
    );
  if (!weights) return counted(x, ones(x.shape, "i32"), size);
  checkTensor("bincount", weights);
  if (weights.rank !== x.rank || weights.shape.some((d, i) => !sameDim(d, x.shape[i]!)))
    throw new ShapeError(
      `bincount: x is ${printShape(x.shape)}, the weights are ${printShape(weights.shape)}`,
    );
  return counted(x, weights, size);
}

export interface HistogramOptions {
  /** The ends; by default the least and the greatest element. */
  readonly range?: readonly [number, number];
}

const histogramOptions: OptionNames<HistogramOptions> = { range: 1 };

/**
 * How many elements lie in each of `bins` equal intervals; the last one has its end as well. Others
 * are left out, NaN too.
 *
 * x of any shape → counts i32[bins] and edges f32[bins + 1]. Where all elements are equal the range
 * is half of 1 to both sides. Throws ShapeError for a number of bins below 1, GraphError for a
 * range that does not ascend. `torch.histogram`, `numpy.histogram`.
 *
 * @param x The tensor.
 * @example
 *   histogram(tensor([0, 1, 1, 3]), 3).counts // [1, 2, 1]
 */
export function histogram(
  x: Tensor,
  bins: number,
  options: HistogramOptions = {},
): { readonly counts: Tensor; readonly edges: Tensor } {
  checkTensor("histogram", x);
  const { range } = checkOptions("histogram", options, histogramOptions);
  checkPositive("histogram", "number of bins", bins);
  if (!isStatic(bins) || bins < 1) throw new ShapeError(`histogram: the number of bins ${String(bins)} is not 1 or more`); // biome-ignore format: one line
  if (range !== undefined && !(Array.isArray(range) && range.length === 2 && range[0] < range[1]))
    throw new GraphError(
      `histogram: the range [${String(range)}] does not ascend\n  give [low, high]`,
    );
  const from = x.dtype === "f64" || x.dtype === "f32" ? x : convert(x, "f32");
  const [least, most] = range ?? [min(from), max(from)];
  const level = range ? undefined : (least as Tensor).equal(most as Tensor);
  const low = level ? select(level, (least as Tensor).sub(0.5), least) : (least as number);
  const high = level ? select(level, (most as Tensor).add(0.5), most) : (most as number);
  const span = typeof high === "number" ? high - (low as number) : high.sub(low);
  const place = from.sub(low).mul(bins).div(span).floor();
  const inside = from.greaterEqual(low).and(from.lessEqual(high));
  const at = convert(select(inside, place.minimum(bins - 1), bins), "i32");
  const edges = iota([bins + 1], 0, "f32")
    .div(bins)
    .mul(span)
    .add(low);
  return { counts: counted(at, ones(x.shape, "i32"), bins), edges };
}

/**
 * Whether each element is among some values: bool of the shape of x. Compares with every one.
 * `torch.isin`, `numpy.isin`.
 *
 * @param x The tensor.
 * @example
 *   isIn(tensor([1, 2, 3]), tensor([2])) // [false, true, false]
 */
export function isIn(x: Tensor, values: Tensor): Tensor {
  for (const t of [x, values]) checkTensor("isIn", t);
  const list = reshape(values, [sizeOf(values.shape)]);
  const [own, other] = broadcastOperands("isIn", [expandDims(x, -1), list]) as [Tensor, Tensor];
  return any(own.equal(other), -1);
}
