/**
 * Statistics that look at the order of elements, values together with where they stood, and second
 * moments.
 */
import { type Dim, isStatic, subDim } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import { checkOptions, GraphError, type OptionNames, ShapeError } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, printShape } from "../../shape.ts";
import { checkTensor, range } from "../apply.ts";
import { matmul } from "../contraction.ts";
import { dimValue } from "../create.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { take, takeAlongAxis } from "../gather.ts";
import { stack } from "../join.ts";
import { expandDims, flatten, sliceAxis, squeeze, transpose } from "../movement.ts";
import { type Axes, argMax, argMin, max, min, type ReduceOptions, sum } from "../reduce.ts";
import { argSort, type SortOptions, sort } from "../sort.ts";
import { inFloat32 } from "./in-float32.ts";
import { mean, type VarianceOptions, variance } from "./statistics.ts";

const reduceOptions: OptionNames<ReduceOptions> = { keepDims: 1 };

export interface ValuesWithIndices {
  readonly values: Tensor;
  /** i32 places along the axis. */
  readonly indices: Tensor;
}

/**
 * The largest along an axis and its place, the first of equals. x[…, n, …] → two of [...]. Throws
 * ShapeError over an empty axis. `torch.max(x, dim)`.
 *
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   const { values, indices } = maxWithIndices(tensor([[3, 1], [2, 4]]));
 *   values // [3, 4]
 *   indices // [0, 1]
 */
export function maxWithIndices(
  x: Tensor,
  axis = -1,
  options: ReduceOptions = {},
): ValuesWithIndices {
  checkTensor("maxWithIndices", x);
  const keep = checkOptions("maxWithIndices", options, reduceOptions);
  return { values: max(x, axis, keep), indices: argMax(x, axis, keep) };
}

/**
 * The smallest along an axis and its place, as `maxWithIndices`. `torch.min(x, dim)`.
 *
 * @param x The tensor.
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   const { values, indices } = minWithIndices(tensor([[3, 1], [2, 4]]));
 *   values // [1, 2]
 *   indices // [1, 0]
 */
export function minWithIndices(
  x: Tensor,
  axis = -1,
  options: ReduceOptions = {},
): ValuesWithIndices {
  checkTensor("minWithIndices", x);
  const keep = checkOptions("minWithIndices", options, reduceOptions);
  return { values: min(x, axis, keep), indices: argMin(x, axis, keep) };
}

const sortOptions: OptionNames<SortOptions> = { descending: 1 };

/**
 * x sorted along an axis, and the places its elements came from: `sort` and `argSort` in one.
 * `torch.sort`.
 *
 * @param x The tensor.
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   const { values, indices } = sortWithIndices(tensor([30, 10, 20]));
 *   values // [10, 20, 30]
 *   indices // [1, 2, 0]
 */
export function sortWithIndices(
  x: Tensor,
  axis = -1,
  options: SortOptions = {},
): ValuesWithIndices {
  checkTensor("sortWithIndices", x);
  const given = checkOptions("sortWithIndices", options, sortOptions);
  const indices = argSort(x, axis, given);
  return { values: takeAlongAxis(x, indices, axis, { negative: "outside" }), indices };
}

/** x with one axis to look along: all elements as one row where there is none. */
function rowOf(op: string, x: Tensor, axis: number | undefined): { row: Tensor; a: number } {
  checkTensor(op, x);
  const row = axis === undefined ? flatten(x) : x;
  const a = checkAxis(op, axis ?? 0, row.rank);
  if (row.shape[a] === 0)
    throw new ShapeError(
      `${op}: axis ${a} of ${printShape(row.shape)} is empty, and has no middle`,
    );
  return { row, a };
}

/** NaN where the last of the sorted is NaN: it sorts behind all numbers. */
function unlessNan(sorted: Tensor, a: number, value: Tensor): Tensor {
  if (!isFloat(sorted.dtype)) return value;
  const last = sliceAxis(sorted, a, subDim(sorted.shape[a]!, 1));
  return select(last.isNan(), Number.NaN, value);
}

/** One place of the sorted, with the axis kept. */
const placeAt = (sorted: Tensor, a: number, at: Dim | Tensor): Tensor =>
  typeof at === "number"
    ? sliceAxis(sorted, a, at, at + 1)
    : expandDims(take(sorted, at as Tensor, a, { negative: "outside" }), a);

/**
 * The middle element along an axis, the lower one of two, as PyTorch has it; `quantile(x, 0.5)` is
 * NumPy's, their mean. NaN if any is.
 *
 * x[…, n, …] → [...] in its dtype, without an axis []. The gradient goes to that element. Throws
 * ShapeError over an empty axis. `torch.median`.
 *
 * @param axis The axis; of all elements by default.
 * @example
 *   median(tensor([3, 1, 2, 4])) // 2
 */
export function median(x: Tensor, axis?: number, options: ReduceOptions = {}): Tensor {
  const { row, a } = rowOf("median", x, axis);
  const { keepDims = false } = checkOptions("median", options, reduceOptions);
  const sorted = sort(row, a);
  const extent = row.shape[a]!;
  const at = isStatic(extent) ? (extent - 1) >> 1 : dimValue(extent).sub(1).shiftRight(1);
  const value = unlessNan(sorted, a, placeAt(sorted, a, at));
  return keepDims && axis !== undefined ? value : squeeze(value, a);
}

export interface QuantileOptions extends ReduceOptions {
  /** What lies between two elements; default "linear". */
  readonly interpolation?: "linear" | "lower" | "higher" | "midpoint" | "nearest";
}

const quantileOptions: OptionNames<QuantileOptions> = { ...reduceOptions, interpolation: 1 };
const interpolations = ["linear", "lower", "higher", "midpoint", "nearest"];

/**
 * The place q·(n − 1) of the sorted: the element before it, the one behind, and how far it is
 * between.
 */
function quantileAt(sorted: Tensor, a: number, q: number, how: string): Tensor {
  const extent = sorted.shape[a]!;
  const between = (low: Tensor, high: Tensor, t: Tensor | number): Tensor => {
    if (how === "lower") return low;
    if (how === "higher") return high;
    if (how === "midpoint") return low.add(high.sub(low).mul(0.5));
    const d = high.sub(low);
    return low.add(d.mul(t));
  };
  if (isStatic(extent)) {
    const at = q * (extent - 1);
    const place = how === "nearest" ? roundEven(at) : Math.floor(at);
    const low = placeAt(sorted, a, place);
    if (place === at || how === "nearest") return low;
    return between(low, placeAt(sorted, a, place + 1), at - place);
  }
  const at = dimValue(extent, "f32").sub(1).mul(q);
  if (how === "nearest") return placeAt(sorted, a, convert(at.round(), "i32"));
  const [low, high] = [at.floor(), at.ceil()];
  const t = convert(at.sub(low), sorted.dtype);
  return between(placeAt(sorted, a, convert(low, "i32")), placeAt(sorted, a, convert(high, "i32")), t); // biome-ignore format: one line
}

function roundEven(x: number): number {
  const r = Math.round(x);
  return Math.abs(x % 1) === 0.5 && r % 2 !== 0 ? r - 1 : r;
}

/**
 * The value below which a share q of the elements lies: the sorted elements at place q·(n − 1),
 * interpolated. NaN if any is.
 *
 * x: float[…, n, …], integers become f32 → [...]; a list of shares gives a leading axis, [k, ...].
 * Gradients go to the two elements. Throws ShapeError over an empty axis, GraphError for a share
 * outside 0 … 1. `torch.quantile`, `numpy.quantile`.
 *
 * @param q A share from 0 to 1, or a list.
 * @param axis The axis; of all elements by default.
 * @example
 *   quantile(tensor([1, 2, 3, 5]), 0.5) // 2.5
 *   quantile(tensor([1, 2, 3, 4, 5]), [0.25, 0.75], 0) // [2, 4]
 */
export function quantile(
  x: Tensor,
  q: number | readonly number[],
  axis?: number,
  options: QuantileOptions = {},
): Tensor {
  const { row, a } = rowOf("quantile", x, axis);
  const { keepDims = false, interpolation = "linear" } = checkOptions("quantile", options, quantileOptions); // biome-ignore format: one line
  if (!interpolations.includes(interpolation))
    throw new GraphError(`quantile: interpolation is ${String(interpolation)}\n  it is one of ${interpolations.join(", ")}`); // biome-ignore format: one line
  const shares = Array.isArray(q) ? (q as readonly number[]) : [q as number];
  for (const s of shares)
    if (!(s >= 0 && s <= 1)) throw new GraphError(`quantile: the share ${String(s)} is not between 0 and 1`); // biome-ignore format: one line
  if (!shares.length) throw new GraphError("quantile: the list of shares is empty");
  return inFloat32([isFloat(row.dtype) ? row : convert(row, "f32")], (wide) => {
    const sorted = sort(wide, a);
    const values = shares.map((s) => {
      const value = unlessNan(sorted, a, quantileAt(sorted, a, s, interpolation));
      return keepDims && axis !== undefined ? value : squeeze(value, a);
    });
    return Array.isArray(q) ? stack(values) : values[0]!;
  });
}

const varianceOptions: OptionNames<VarianceOptions> = { ...reduceOptions, correction: 1 };

/**
 * The variance and the mean over axes, both as `variance` and `mean` have them. `torch.var_mean`.
 *
 * @param x Values of any shape.
 * @param axes The axes to reduce, one or a list, negative ones from the end; all by default.
 * @example
 *   const { variance, mean } = varMean(tensor([[1, 3], [5, 5]]), 1);
 *   variance // [1, 0]
 *   mean // [2, 5]
 */
export function varMean(
  x: Tensor,
  axes?: Axes,
  options: VarianceOptions = {},
): { readonly variance: Tensor; readonly mean: Tensor } {
  checkTensor("varMean", x);
  const { correction = 0, ...keep } = checkOptions("varMean", options, varianceOptions);
  return { variance: variance(x, axes, { ...keep, correction }), mean: mean(x, axes, keep) };
}

/**
 * How many elements over `axes` are not 0, i32. `torch.count_nonzero`.
 *
 * @param x Values of any shape.
 * @example
 *   countNonzero(tensor([[0, 2], [3, 4]]), 1) // [1, 2]
 */
export function countNonzero(x: Tensor, axes?: Axes): Tensor {
  checkTensor("countNonzero", x);
  return sum(x.dtype === "bool" ? x : x.notEqual(0), axes);
}

export interface CovarianceOptions {
  /** Taken from n in the divisor; default 1. */
  readonly correction?: number;
}

const covarianceOptions: OptionNames<CovarianceOptions> = { correction: 1 };

/**
 * The covariances of variables, one a row: Σ (xᵢ − mean)(xⱼ − mean)/(n − correction).
 *
 * x: float[v, n] → [v, v], of x[n] a scalar. Throws ShapeError for other ranks. `torch.cov`,
 * `numpy.cov`.
 *
 * @example
 *   cov(tensor([[1, 2], [2, 4]])) // [[0.5, 1], [1, 2]]
 */
export function cov(x: Tensor, options: CovarianceOptions = {}): Tensor {
  checkTensor("cov", x);
  const { correction = 1 } = checkOptions("cov", options, covarianceOptions);
  if (x.rank !== 1 && x.rank !== 2)
    throw new ShapeError(`cov: x is ${printShape(x.shape)}, not [variables, observations]`);
  return inFloat32([isFloat(x.dtype) ? x : convert(x, "f32")], (wide) => {
    const d = wide.sub(mean(wide, -1, { keepDims: true }));
    const n = dimValue(x.shape[x.rank - 1]!, wide.dtype).sub(correction);
    return matmul(d, transpose(d, range(d.rank).reverse())).div(n);
  });
}
