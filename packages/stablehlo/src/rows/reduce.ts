/**
 * Reductions, cumulative ops and sorting. Halves are added up and multiplied in f32 and rounded once. Places of extremes are
 * reduced as pairs of value and place, of which any order of combining keeps the same one.
 */
import { type Dtype, isFloat, isHalf, maxOf, minOf } from "@kiln-ml/ir";
import type { Builder, Ref } from "../builder.ts";
import { listOf, type Row, type Rows } from "../row.ts";
import { ints, type Type } from "../text.ts";

interface Monoid {
  readonly op: string;
  readonly neutral: (dtype: Dtype) => number;
  /** Whether halves lose digits on the way. */
  readonly rounds: boolean;
}

const least = (dtype: Dtype): number => (isFloat(dtype) ? -Infinity : minOf(dtype));
const most = (dtype: Dtype): number => (isFloat(dtype) ? Infinity : maxOf(dtype));

// biome-ignore format: one monoid a row
const monoids: Readonly<Record<string, Monoid>> = {
  reduceSum:  { op: "add",      neutral: () => 0, rounds: true },
  reduceProd: { op: "multiply", neutral: () => 1, rounds: true },
  reduceMax:  { op: "maximum",  neutral: least,   rounds: false },
  reduceMin:  { op: "minimum",  neutral: most,    rounds: false },
  reduceAny:  { op: "or",       neutral: () => 0, rounds: false },
  reduceAll:  { op: "and",      neutral: () => 1, rounds: false },
  cumsum:     { op: "add",      neutral: () => 0, rounds: true },
  cumprod:    { op: "multiply", neutral: () => 1, rounds: true },
  cummax:     { op: "maximum",  neutral: least,   rounds: false },
  cummin:     { op: "minimum",  neutral: most,    rounds: false },
};

const widened = (b: Builder, m: Monoid, x: Ref): Ref =>
  m.rounds && isHalf(x.dtype) ? b.convert(x, "f32") : x;

/** The region that combines two elements. */
const combiner = (b: Builder, m: Monoid, dtype: Dtype): string => {
  const scalar: Type = { dtype, shape: [] };
  return b.region([scalar, scalar], (inner, [x, y]) => [inner.map(m.op, x!, y!)]);
};

const reduce: Row = ({ b, node, type }, x) => {
  const m = monoids[node.op]!;
  const wide = widened(b, m, x!);
  const start = b.constant(wide.dtype, m.neutral(wide.dtype));
  const result = { dtype: wide.dtype, shape: type.shape };
  const dimensions = ints(listOf(node.attrs.axes));
  const y = b.op("reduce", [wide, start], result, { dimensions }, [combiner(b, m, wide.dtype)]);
  return b.convert(y, type.dtype);
};

/** True where y, NaN counted, is more extreme than x. */
function beats(b: Builder, direction: "GT" | "LT", y: Ref, x: Ref): Ref {
  const further = b.compare(direction, y, x);
  if (!isFloat(x.dtype)) return further;
  const nan = b.map("and", b.compare("NE", y, y), b.compare("EQ", x, x));
  return b.map("or", further, nan);
}

/** The row-major number of each element within `axes`. */
function placesIn(b: Builder, shape: readonly number[], axes: readonly number[]): Ref {
  const extents = axes.map((a) => shape[a]!);
  const flat = b.iota("i32", [extents.reduce((n, e) => n * e, 1)], 0);
  return b.broadcast(b.reshape(flat, extents), shape, axes);
}

/** Of two pairs the more extreme value, of equal ones the lower place. */
const argExtreme =
  (direction: "GT" | "LT"): Row =>
  ({ b, node, type }, x) => {
    const axes = listOf(node.attrs.axes);
    if (axes.every((a) => x!.shape[a]! <= 1)) return b.like(type, 0);
    const { dtype } = x!;
    const start = b.constant(dtype, direction === "GT" ? least(dtype) : most(dtype));
    const place = placesIn(b, x!.shape, axes);
    const [value, index]: Type[] = [
      { dtype, shape: [] },
      { dtype: "i32", shape: [] },
    ];
    const region = b.region([value!, index!, value!, index!], (f, [v, i, w, j]) => {
      const [first, second] = [beats(f, direction, v!, w!), beats(f, direction, w!, v!)];
      const lower = f.map("and", f.compare("LT", i!, j!), f.map("not", second));
      const kept = f.map("or", first, lower);
      return [f.select(kept, v!, w!), f.select(kept, i!, j!)];
    });
    const operands = [x!, place, start, b.constant("i32", maxOf("i32"))];
    const results = [{ dtype, shape: type.shape }, type];
    return b.ops("stablehlo.reduce", operands, results, { dimensions: ints(axes) }, [region])[1]!;
  };

/** x moved by n places along the axis, away from the end it starts at, with `fill` where nothing comes from. */
function moved(b: Builder, x: Ref, axis: number, n: number, reverse: boolean, fill: Ref): Ref {
  const by = (value: number) => x.shape.map((_, a) => (a === axis ? value : 0));
  return reverse ? b.pad(x, fill, by(-n), by(n)) : b.pad(x, fill, by(n), by(-n));
}

/**
 * Results of 2ᵏ elements each from two of 2ᵏ⁻¹: ⌈log₂ n⌉ steps over the whole tensor (Hillis & Steele 1986), which no
 * pass of the engine has to recognise.
 */
const cumulative: Row = ({ b, node, type }, x) => {
  const m = monoids[node.op]!;
  const { axis, exclusive, reverse } = node.attrs as {
    axis: number;
    exclusive?: boolean;
    reverse?: boolean;
  };
  let y = widened(b, m, x!);
  const extent = type.shape[axis]!;
  const fill = b.constant(y.dtype, m.neutral(y.dtype));
  if (exclusive && extent > 0) y = moved(b, y, axis, 1, reverse === true, fill);
  for (let n = 1; n < extent; n *= 2)
    y = b.map(m.op, moved(b, y, axis, n, reverse === true, fill), y);
  return b.convert(y, type.dtype);
};

/** Values and their places sorted together, stably; NaN counts as the greatest. */
const argSort: Row = ({ b, node, type, dim }, x) => {
  const axis = node.attrs.axis as number;
  const extent = x!.shape[axis]!;
  const place = b.iota("i32", x!.shape, axis);
  const [value, index]: Type[] = [
    { dtype: x!.dtype, shape: [] },
    { dtype: "i32", shape: [] },
  ];
  // Ascending, v comes before w where w beats it; descending, where v does.
  const region = b.region([value!, value!, index!, index!], (f, [v, w]) => [
    node.attrs.descending === true ? beats(f, "GT", v!, w!) : beats(f, "GT", w!, v!),
  ]);
  const attributes = { dimension: `${axis} : i64`, is_stable: "true" };
  const sorted = b.ops("stablehlo.sort", [x!, place], [x!, place], attributes, [region])[1]!;
  const count = node.attrs.count === undefined ? extent : dim(node.attrs.count as number);
  if (count === extent) return sorted;
  const limit = type.shape.map((n, a) => (a === axis ? count : n));
  return b.slice(
    sorted,
    limit.map(() => 0),
    limit,
  );
};

export const reductions: Rows = {
  reduceSum: reduce,
  reduceProd: reduce,
  reduceMax: reduce,
  reduceMin: reduce,
  reduceAny: reduce,
  reduceAll: reduce,
  argMax: argExtreme("GT"),
  argMin: argExtreme("LT"),
  cumsum: cumulative,
  cumprod: cumulative,
  cummax: cumulative,
  cummin: cumulative,
  argSort,
};
