/**
 * Reductions, scans and sorting. A reduction of all windows of an image is a pool where ONNX has that pool; cumulative
 * products and extremes, which it lacks before opset 26, are reductions under a triangular mask.
 */
import { type Dim, type Dtype, isFloat, maxOf, minOf, mulDim } from "@kiln-ml/ir";
import { elementTypeOf } from "../../element.ts";
import type { ElementType } from "../../proto/model.ts";
import { averagePool, maxPool } from "../pool.ts";
import type { Row, RowContext } from "../row.ts";

/** f in a dtype that the op takes. */
function within(
  c: RowContext,
  dtypes: Partial<Record<Dtype, ElementType>>,
  f: (x: string) => string,
): string {
  const { dtype } = c.node.operands[0]!;
  const to = dtypes[dtype];
  return to ? c.b.cast(f(c.b.cast(c.x(0), to)), elementTypeOf(dtype)) : f(c.x(0));
}

const sums = { i8: "int32", u8: "int32", u32: "int64" } as const;
const extremes = { bool: "uint8", u32: "int64" } as const;

const reduction =
  (
    op: string,
    dtypes: Partial<Record<Dtype, ElementType>>,
    pool?: (c: RowContext) => string | undefined,
  ): Row =>
  (c) => {
    const pooled = pool?.(c);
    if (pooled) return pooled;
    const axes = c.ints("axes");
    if (axes.length === 0) return c.x(0);
    return within(c, dtypes, (x) => c.b.op(op, [x, c.b.ints(axes)], { keepdims: 0 }));
  };

/** The axes go to the end and become one. */
const place =
  (op: string): Row =>
  (c) => {
    const { b } = c;
    const { shape, dtype } = c.node.operands[0]!;
    const axes = c.ints("axes");
    const rest = shape.flatMap((_, i) => (axes.includes(i) ? [] : [i]));
    const perm = [...rest, ...axes];
    const joined = [
      ...rest.map((a) => shape[a]!),
      axes.map((a) => shape[a]!).reduce<Dim>(mulDim, 1),
    ];
    const moved = b.transpose(dtype === "u32" ? b.toInt64(c.x(0)) : c.x(0), perm);
    const flat = b.reshape(
      moved,
      perm.map((a) => shape[a]!),
      joined,
    );
    return b.castInts(b.op(op, [flat], { axis: rest.length, keepdims: 0 }));
  };

const flags = (c: RowContext) => ({
  exclusive: c.node.attrs.exclusive === true ? 1 : 0,
  reverse: c.node.attrs.reverse === true ? 1 : 0,
});

const cumsum: Row = (c) =>
  within(c, sums, (x) => c.b.op("CumSum", [x, c.b.int(Number(c.node.attrs.axis))], flags(c)));

/** [i, j]: whether element j counts for result i. */
function counts(c: RowContext, n: Dim): string {
  const { b } = c;
  const { exclusive, reverse } = flags(c);
  const [i, j] = [b.unsqueeze(b.range(n), [1]), b.unsqueeze(b.range(n), [0])];
  const order = reverse ? [i, j] : [j, i];
  return b.op(exclusive ? "Less" : "LessOrEqual", order);
}

const masked =
  (op: string, neutral: (dtype: Dtype) => number): Row =>
  (c) => {
    const { b, node } = c;
    const axis = Number(node.attrs.axis);
    const behind = node.shape.length - 1 - axis;
    const after = Array.from({ length: behind }, (_, i) => i + 2);
    const mask = b.unsqueeze(counts(c, node.shape[axis]!), after);
    const none = b.scalar(neutral(node.dtype), node.dtype);
    const kept = b.op("Where", [mask, b.unsqueeze(c.x(0), [axis]), none]);
    const dtypes = op === "ReduceProd" ? sums : extremes;
    const to = (dtypes as Partial<Record<Dtype, ElementType>>)[node.dtype];
    const reduce = (x: string) => b.op(op, [x, b.ints([axis + 1])], { keepdims: 0 });
    return to ? b.cast(reduce(b.cast(kept, to)), elementTypeOf(node.dtype)) : reduce(kept);
  };

const least = (dtype: Dtype): number => (isFloat(dtype) ? -Infinity : minOf(dtype));
const greatest = (dtype: Dtype): number => (isFloat(dtype) ? Infinity : maxOf(dtype));

/** TopK keeps the lower place first among equals, as argSort does. */
const argSort: Row = (c) => {
  const { b, node } = c;
  const { dtype, shape } = node.operands[0]!;
  const axis = Number(node.attrs.axis);
  const count = (node.attrs.count ?? shape[axis]!) as Dim;
  const to = ({ bool: "int32", i8: "int32", u8: "int32", u32: "int64" } as const)[dtype as "u8"];
  const x = to ? b.cast(c.x(0), to) : c.x(0);
  const largest = node.attrs.descending === true ? 1 : 0;
  const [, places] = b.several("TopK", [x, b.dim(count)], { axis, largest, sorted: 1 }, 2);
  return b.castInts(places!);
};

export const reductions: Readonly<Record<string, Row>> = {
  reduceSum: reduction("ReduceSum", sums, averagePool),
  reduceProd: reduction("ReduceProd", sums),
  reduceMax: reduction("ReduceMax", extremes, maxPool),
  reduceMin: reduction("ReduceMin", extremes),
  reduceAny: reduction("ReduceMax", extremes),
  reduceAll: reduction("ReduceMin", extremes),
  argMax: place("ArgMax"),
  argMin: place("ArgMin"),
  cumsum,
  cumprod: masked("ReduceProd", () => 1),
  cummax: masked("ReduceMax", least),
  cummin: masked("ReduceMin", greatest),
  argSort,
};
