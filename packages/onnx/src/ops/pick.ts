/**
 * Ops that sort and that pick elements. Where the number of results depends on values, that number is computed first and demanded; the
 * results are then of that extent.
 */
import {
  argSort,
  checkAxis,
  concat,
  convert,
  cumsum,
  type Dim,
  dimValue,
  expandDims,
  iota,
  isFloat,
  isNonNegative,
  isStatic,
  minDim,
  ones,
  reshape,
  scatter,
  select,
  sizeOf,
  slice,
  stack,
  stridesOf,
  subDim,
  type Tensor,
  take,
  takeAlongAxis,
  topK,
  transpose,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { flat } from "./shape.ts";

/** The k greatest or least, and their places. */
function topped(n: NodeContext): Result {
  const x = n.tensor(0);
  const k = n.opset < 10 ? n.int("k") : n.dims(1)[0]!;
  const axis = checkAxis("topK", n.int("axis", -1), x.rank);
  const largest = n.flag("largest", true);
  const { values, indices } = topK(x, k, axis, { largest });
  return [typed(values, n.type(0)), typed(indices, "int64")];
}

/** The number of true elements, as import must know it. */
export function countOf(n: NodeContext, mask: Tensor, what: string): Dim {
  const count = typed(mask.convert("i32").sum(), "int64");
  return n.knownOf(count, what)[0]!;
}

/** The places of the true elements of mask[n], in order: `count` of them. */
export function placesOf(mask: Tensor, count: Dim): Tensor {
  const at = cumsum(mask.convert("i32"), 0).sub(1);
  const to = select(mask, at, dimValue(count));
  return scatter(zeros([count], "i32"), iota(mask.shape, 0), [to], [0], "set");
}

/** Coordinates of all elements that are not 0, an axis a row. */
function nonZero(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const mask = flat(x.dtype === "bool" ? x : x.notEqual(0));
  const count = countOf(n, mask, "the number of elements that are not 0");
  if (x.rank === 0) return zeros([0, count], "i32");
  const place = placesOf(mask, count);
  const strides = stridesOf(x.shape);
  const value = (d: Dim) => (isStatic(d) ? d : dimValue(d));
  return stack(
    x.shape.map((d, i) => {
      const high = strides[i] === 1 ? place : place.div(value(strides[i]!));
      return i === 0 ? high : high.rem(value(d));
    }),
  );
}

/** The slices for which the condition holds; it may be shorter than the axis. */
function compressed(n: NodeContext): Tensor {
  const x = n.hasAttribute("axis") ? n.tensor(0) : flat(n.tensor(0));
  const axis = checkAxis("compress", n.int("axis", 0), x.rank);
  const [given, extent] = [n.tensor(1), x.shape[axis]!];
  const length = given.shape[0]!;
  const longer = !isNonNegative(subDim(extent, length));
  const mask = longer ? slice(given, [0], [minDim(length, extent)]) : given;
  const count = countOf(n, mask, "the number of slices kept");
  return take(x, placesOf(mask, count), axis);
}

/** Equal, or both NaN. */
const same = (a: Tensor, b: Tensor): Tensor =>
  isFloat(a.dtype) ? a.equal(b).or(a.isNan().and(b.isNan())) : a.equal(b);

/** Whether row i comes before row j, and whether they are equal: [n, n]; columns count from the first. */
function compareRows(rows: Tensor): { less: Tensor; equal: Tensor } {
  const [a, b] = [expandDims(rows, 1), expandDims(rows, 0)];
  const differs = same(a, b).not();
  const first = expandDims(differs.convert("i32").argMax(2, { empty: "identity" }), 2);
  const less = reshape(takeAlongAxis(convert(a.less(b), "i32"), first, 2), [
    rows.shape[0]!,
    rows.shape[0]!,
  ]);
  return { less: less.greater(0), equal: differs.any([2]).not() };
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
  const sorted = take(values, order);
  const count = values.shape[0]!;
  const again = concat([
    zeros([1], "bool"),
    same(slice(sorted, [1], [count]), slice(sorted, [0], [subDim(count, 1)])),
  ]);
  const number = cumsum(again.not().convert("i32"), 0).sub(1);
  const back = (t: Tensor) => scatter(zeros([count], t.dtype), t, [order], [0], "set");
  return { number: back(number), first: back(again.not()) };
}

/** By comparing every row with every other. */
function rankRows(rows: Tensor): Ranked {
  const { less, equal } = compareRows(rows);
  const count = rows.shape[0]!;
  const earlier = iota([count, count], 1).less(iota([count, count], 0));
  const first = equal.and(earlier).any([1]).not();
  // Column j counts for row i if its value is less and new.
  const before = transpose(less, [1, 0]).and(expandDims(first, 0));
  return { number: before.convert("i32").sum([1]), first };
}

/** Numbers in the order in which values appear first. */
function byAppearance({ number, first }: Ranked): Tensor {
  const count = number.shape[0]!;
  const order = cumsum(first.convert("i32"), 0).sub(1);
  const ofValue = scatter(
    zeros([count], "i32"),
    order,
    [select(first, number, dimValue(count))],
    [0],
    "set",
  );
  return take(ofValue, number);
}

/** Distinct elements or slices, the places of their first and the number of all; sorted, or as they come. */
function unique(n: NodeContext): Result {
  const given = n.tensor(0);
  const whole = !n.hasAttribute("axis");
  const x = whole ? flat(given) : given;
  const axis = checkAxis("unique", n.int("axis", 0), x.rank);
  const front = [axis, ...x.shape.flatMap((_, i) => (i === axis ? [] : [i]))];
  const count = x.shape[axis]!;
  const width = sizeOf(x.shape.filter((_, i) => i !== axis));
  const moved = transpose(x, front);
  const ranked = x.rank === 1 ? rankSorted(x) : rankRows(reshape(moved, [count, width]));
  const distinct = countOf(n, ranked.first, "the number of distinct values");
  const number = n.flag("sorted", true) ? ranked.number : byAppearance(ranked);
  const place = select(ranked.first, number, dimValue(distinct));
  const at = scatter(zeros([distinct], "i32"), iota([count], 0), [place], [0], "set");
  const counts = scatter(zeros([distinct], "i32"), ones([count], "i32"), [number], [0], "add");
  return [
    typed(take(x, at, axis), n.type(0)),
    ...[at, number, counts].map((t) => typed(t, "int64")),
  ];
}

export const pickRows: readonly Row[] = [
  row("TopK", topped),
  row("NonZero", nonZero, { type: "int64" }),
  row("Compress", compressed),
  row("Unique", unique),
];
