/**
 * Reductions, scans and sorting. A reduction of all windows of an image is a pool where ONNX has that pool; cumulative
 * products and extremes, which it lacks before opset 26, are reductions under a triangular mask.
 */
import { type Dim, type Dtype, isFloat, maxOf, minOf, minOfDim, mulDim } from "@kiln-ml/ir";
import { averagePool, maxPool } from "../pool.ts";
import type { Row, RowContext } from "../row.ts";
import { exact, type Wider, widen, widened, wrapping } from "../widen.ts";

/** f of the operand in a dtype that the op takes. */
const within = (c: RowContext, wider: Wider, f: (x: string) => string): string =>
  widened(c.b, wider, c.node.operands[0]!.dtype, [c.x(0)], ([x]) => f(x!));

type Pool = (c: RowContext) => string | undefined;

/** Over no axes it is the operand; ONNX would take none for all. */
function reduced(c: RowContext, op: string, x: string): string {
  const axes = c.ints("axes");
  return axes.length ? c.b.op(op, [x, c.b.ints(axes)], { keepdims: 0 }) : x;
}

const sum =
  (op: string, pool?: Pool): Row =>
  (c) =>
    pool?.(c) ?? within(c, wrapping, (x) => reduced(c, op, x));

/** Of no elements, the extreme of the wider dtype is brought into the range of the own one. */
const extreme =
  (op: string, keep: "Max" | "Min", bound: (dtype: Dtype) => number, pool?: Pool): Row =>
  (c) => {
    const pooled = pool?.(c);
    if (pooled) return pooled;
    const { dtype, shape } = c.node.operands[0]!;
    const mayBeEmpty = c.ints("axes").some((a) => minOfDim(shape[a]!) < 1);
    return within(c, exact, (x) => {
      const result = reduced(c, op, x);
      const to = exact[dtype];
      if (!to || !mayBeEmpty) return result;
      return c.b.op(keep, [result, c.b.cast(c.b.scalar(bound(dtype), dtype), to)]);
    });
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
    const moved = b.transpose(widen(b, exact, dtype, [c.x(0)])[0]!, perm);
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
  within(c, wrapping, (x) => c.b.op("CumSum", [x, c.b.int(Number(c.node.attrs.axis))], flags(c)));

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
    const wider = op === "ReduceProd" ? wrapping : exact;
    return widened(b, wider, node.dtype, [c.x(0), none], ([x, fill]) => {
      const kept = b.op("Where", [mask, b.unsqueeze(x!, [axis]), fill!]);
      return b.op(op, [kept, b.ints([axis + 1])], { keepdims: 0 });
    });
  };

const least = (dtype: Dtype): number => (isFloat(dtype) ? -Infinity : minOf(dtype));
const greatest = (dtype: Dtype): number => (isFloat(dtype) ? Infinity : maxOf(dtype));

/** TopK keeps the lower place first among equals, as argSort does. */
const argSort: Row = (c) => {
  const { b, node } = c;
  const { dtype, shape } = node.operands[0]!;
  const axis = Number(node.attrs.axis);
  const count = (node.attrs.count ?? shape[axis]!) as Dim;
  const [x] = widen(b, exact, dtype, [c.x(0)]) as [string];
  const largest = node.attrs.descending === true ? 1 : 0;
  const [, places] = b.several("TopK", [x, b.dim(count)], { axis, largest, sorted: 1 }, 2);
  return b.castInts(places!);
};

export const reductions: Readonly<Record<string, Row>> = {
  reduceSum: sum("ReduceSum", averagePool),
  reduceProd: sum("ReduceProd"),
  reduceMax: extreme("ReduceMax", "Max", minOf, maxPool),
  reduceMin: extreme("ReduceMin", "Min", maxOf),
  reduceAny: extreme("ReduceMax", "Max", minOf),
  reduceAll: extreme("ReduceMin", "Min", maxOf),
  argMax: place("ArgMax"),
  argMin: place("ArgMin"),
  cumsum,
  cumprod: masked("ReduceProd", () => 1),
  cummax: masked("ReduceMax", least),
  cummin: masked("ReduceMin", greatest),
  argSort,
};
