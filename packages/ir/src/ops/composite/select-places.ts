/**
 * Results whose number depends on values: the places of what is not 0, and distinct values. A
 * program has fixed extents, so the caller gives the `size`; what is missing is filled, what is too
 * much is left out.
 */
import { type Dim, isStatic, subDim } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import { checkOptions, type OptionNames, ShapeError } from "../../errors.ts";
import { checkExtentKind } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, sizeOf, stridesOf } from "../../shape.ts";
import { apply, checkTensor, range } from "../apply.ts";
import { dimValue, full, ones, zeros } from "../create.ts";
import { cumsum } from "../cumulative.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { kept } from "../elementwise/kept.ts";
import { takeAlongAxis } from "../gather.ts";
import { concat, stack } from "../join.ts";
import { broadcastInDim, expandDims, reshape, slice, transpose } from "../movement.ts";
import { any, argMax, sum } from "../reduce.ts";
import { argSort } from "../sort.ts";
import { iota } from "../source.ts";

export interface NonzeroOptions {
  /** How many places are given. */
  readonly size: Dim;
  /** What stands for places that there are not; default −1. */
  readonly fill?: number;
}

const nonzeroOptions: OptionNames<NonzeroOptions> = { size: 1, fill: 1 };

/** `into` with the updates at their places; what is beyond it is meant to be dropped. */
const put = (into: Tensor, updates: Tensor, at: Tensor, mode: "set" | "add" = "set"): Tensor =>
  apply("scatter", [into, updates, at], { axes: [0], mode });

/** The slices of x at places that are inside wherever there is one. */
function picked(x: Tensor, places: Tensor, axis: number): Tensor {
  const y = apply("gather", [x, places], { axes: [axis] });
  const order = range(y.rank).map((i) => (i < axis ? i + 1 : i === axis ? 0 : i));
  return axis === 0 ? y : transpose(y, order);
}

function checkSize(op: string, size: unknown): asserts size is Dim {
  if (size === undefined)
    throw new ShapeError(
      `${op}: the size is missing\n  how many there are depends on values: give { size }, the rest is filled`,
    );
  checkExtentKind(op, "the size", size);
}

/**
 * The places of the true elements of mask[n], in order: `count` of them, and `fill` where there are
 * fewer.
 */
export function placesOfTrue(mask: Tensor, count: Dim, fill = 0): Tensor {
  const at = cumsum(mask, 0).sub(1);
  const to = select(mask, at, dimValue(count));
  return put(full([count], fill, "i32"), iota(mask.shape, 0), to);
}

/**
 * The places of the elements that are not 0 (that are true), in row-major order: one row a place,
 * one column an axis.
 *
 * x[D…] of r axes → i32[size, r]; rows that are missing hold `fill`, places beyond `size` are left
 * out. No gradient flows. Throws ShapeError without a size. `torch.nonzero_static`,
 * `jax.numpy.argwhere`.
 *
 * @example
 *   nonzero(tensor([[0, 5], [7, 0]]), { size: 3 }) // [[0,1],[1,0],[-1,-1]]
 */
export function nonzero(x: Tensor, options: NonzeroOptions): Tensor {
  checkTensor("nonzero", x);
  const { size, fill = -1 } = checkOptions("nonzero", options, nonzeroOptions);
  checkSize("nonzero", size);
  const mask = reshape(x.dtype === "bool" ? x : x.notEqual(0), [sizeOf(x.shape)]);
  if (x.rank === 0) return zeros([size, 0], "i32");
  const place = placesOfTrue(mask, size, -1);
  const strides = stridesOf(x.shape);
  const value = (d: Dim) => (isStatic(d) ? Math.max(d, 1) : dimValue(d).maximum(1));
  const columns = x.shape.map((d, i) => {
    const high = strides[i] === 1 ? place : place.div(value(strides[i]!));
    return i === 0 ? high : high.rem(value(d));
  });
  const missing = place.less(0);
  return stack(
    columns.map((c) => select(missing, fill, c)),
    1,
  );
}

/** Equal, or both NaN. */
const same = (a: Tensor, b: Tensor): Tensor =>
  isFloat(a.dtype) ? a.equal(b).or(a.isNan().and(b.isNan())) : a.equal(b);

/**
 * Whether row i comes before row j, and whether they are equal: [n, n]; columns count from the
 * first.
 */
function compareRows(rows: Tensor): { less: Tensor; equal: Tensor } {
  const [a, b] = [expandDims(rows, 1), expandDims(rows, 0)];
  const differs = same(a, b).not();
  const first = expandDims(argMax(convert(differs, "i32"), 2, { empty: "identity" }), 2);
  const less = takeAlongAxis(convert(a.less(b), "i32"), first, 2, { negative: "outside" });
  const count = rows.shape[0]!;
  return { less: reshape(less, [count, count]).greater(0), equal: any(differs, [2]).not() };
}

interface Ranked {
  /** For each row the number of its value among the distinct ones. */
  readonly number: Tensor;
  /** True at the first row of each value. */
  readonly first: Tensor;
}

/** Numbers of values in ascending order, by sorting: one number a row. */
function rankSorted(values: Tensor): Ranked {
  const order = argSort(values);
  const sorted = picked(values, order, 0);
  const count = values.shape[0]!;
  if (count === 0) return { number: order, first: zeros([0], "bool") };
  const again = concat([
    zeros([1], "bool"),
    same(slice(sorted, [1], [count]), slice(sorted, [0], [subDim(count, 1)])),
  ]);
  const number = cumsum(again.not(), 0).sub(1);
  const back = (t: Tensor) => put(zeros([count], t.dtype), t, order);
  return { number: back(number), first: back(again.not()) };
}

/** By comparing every row with every other. */
function rankRows(rows: Tensor): Ranked {
  const { less, equal } = compareRows(rows);
  const count = rows.shape[0]!;
  const earlier = iota([count, count], 1).less(iota([count, count], 0));
  const first = any(equal.and(earlier), [1]).not();
  // Column j counts for row i if its value is less and new.
  const before = transpose(less, [1, 0]).and(expandDims(first, 0));
  return { number: sum(before, [1]), first };
}

/** Numbers in the order in which values appear first. */
function byAppearance({ number, first }: Ranked): Tensor {
  const count = number.shape[0]!;
  const order = cumsum(first, 0).sub(1);
  const own = select(first, number, dimValue(count));
  return picked(put(zeros([count], "i32"), order, own), number, 0);
}

export interface UniqueOptions {
  /**
   * How many values are given. A function gets a tensor i32[], the number that there are, and says
   * how many.
   */
  readonly size: Dim | ((count: Tensor) => Dim);
  /** Slices along this axis are compared; by default all elements, in row-major order. */
  readonly axis?: number;
  /** Values ascend; false: they come as they appear. Default true. */
  readonly sorted?: boolean;
}

const uniqueOptions: OptionNames<UniqueOptions> = { size: 1, axis: 1, sorted: 1 };

export interface Unique {
  /**
   * The distinct values: [size], or x with `size` slices along the axis. Those that are missing are
   * 0.
   */
  readonly values: Tensor;
  /** The place of the first of each, i32[size], −1 where there is none. */
  readonly indices: Tensor;
  /** For each element or slice the number of its value, i32. */
  readonly inverse: Tensor;
  /** How often each appears, i32[size]. */
  readonly counts: Tensor;
}

/**
 * The distinct elements of x, or the distinct slices along an axis, in ascending order; NaN is
 * equal to itself and comes last.
 *
 * x[D…] → values [size], and where they stood. Values beyond `size` are left out; `counts` is 0
 * where there are fewer. The gradient of the values goes to the first of each. Throws ShapeError
 * without a size. `torch.unique`, `jax.numpy.unique(x, size=)`.
 *
 * @example
 *   unique(tensor([3, 1, 3]), { size: 3 }).values // [1, 3, 0]
 */
export function unique(x: Tensor, options: UniqueOptions): Unique {
  checkTensor("unique", x);
  const { size, axis, sorted = true } = checkOptions("unique", options, uniqueOptions);
  if (typeof size !== "function") checkSize("unique", size);
  const from = axis === undefined ? reshape(x, [sizeOf(x.shape)]) : x;
  const a = checkAxis("unique", axis ?? 0, from.rank);
  const ranked = from.rank === 1 ? rankSorted(from) : rankRows(rowsOf(from, a));
  const number = sorted ? ranked.number : byAppearance(ranked);
  const given = typeof size === "function" ? size(sum(ranked.first)) : size;
  checkSize("unique", given);
  const count = from.shape[a]!;
  const place = select(ranked.first, number, dimValue(given));
  const indices = put(full([given], -1, "i32"), iota([count], 0), place);
  const counts = put(zeros([given], "i32"), ones([count], "i32"), number, "add");
  const found = picked(from, indices.maximum(0), a);
  const values =
    typeof size === "function"
      ? found
      : kept(broadcastInDim(indices.greaterEqual(0), found.shape, [a]), found);
  return { values, indices, inverse: number, counts };
}

/** [n, width]: the slices along an axis. */
function rowsOf(x: Tensor, axis: number): Tensor {
  const rest = x.shape.flatMap((_, i) => (i === axis ? [] : [i]));
  const width = sizeOf(rest.map((i) => x.shape[i]!));
  return reshape(transpose(x, [axis, ...rest]), [x.shape[axis]!, width]);
}
