/**
 * Reductions over axes, which are an attribute in older opsets and an input in newer ones, and the index of extremes.
 */
import {
  all,
  any,
  argMax,
  argMin,
  convert,
  dimValue,
  isFloat,
  logSumExp,
  max,
  mean,
  min,
  prod,
  type ReduceOptions,
  subDim,
  sum,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { microsoft, type Row, row } from "../row.ts";
import { axisOf, range, widened } from "./operands.ts";

type Reduce = (x: Tensor, axes: readonly number[], options: ReduceOptions) => Tensor;

/** The axes to reduce; none given means all, or none with `noop_with_empty_axes`. */
function axesOf(n: NodeContext, inputSince: number): readonly number[] {
  const { rank } = n.tensor(0);
  const given =
    n.opset >= inputSince && n.count > 1 && n.has(1) ? n.numbers(1) : n.ints("axes", []);
  if (given.length === 0) return n.flag("noop_with_empty_axes") ? [] : range(rank);
  return given.map((a) => axisOf(n, a, rank));
}

/** Half floats are reduced in f32, and so are means and norms of integers. */
const inFloat =
  (f: Reduce): Reduce =>
  (x, axes, options) =>
    convert(f(widened(x), axes, options), x.dtype);

/** Half floats in f32; integers as they are. */
const exact =
  (f: Reduce): Reduce =>
  (x, axes, options) =>
    isFloat(x.dtype) ? inFloat(f)(x, axes, options) : f(x, axes, options);

const reduction = (op: string, f: Reduce, inputSince = 18): Row =>
  row(op, (n) => f(n.tensor(0), axesOf(n, inputSince), { keepDims: n.flag("keepdims", true) }), {
    wraps: true,
  });

const extreme =
  (numbers: Reduce, logic: Reduce): Reduce =>
  (x, axes, options) =>
    axes.length === 0
      ? x
      : x.dtype === "bool"
        ? logic(x, axes, options)
        : numbers(x, axes, options);

/** Of no elements, what the standard says: −∞ for a maximum, ∞ for a minimum. */
const orIdentity =
  (f: typeof max): Reduce =>
  (x, axes, options) =>
    f(x, axes, { ...options, empty: "identity" });

function argExtreme(pick: typeof argMax): (n: NodeContext) => Tensor {
  return (n) => {
    const x = n.tensor(0);
    const axis = axisOf(n, n.int("axis", 0), x.rank);
    const keepDims = n.flag("keepdims", true);
    if (!n.flag("select_last_index")) return pick(x, axis, { keepDims });
    const last = dimValue(subDim(x.shape[axis]!, 1));
    return last.sub(pick(x.reverse(axis), axis, { keepDims }));
  };
}

const squares: Reduce = (x, axes, options) => sum(x.mul(x), axes, options);

export const reduceRows: readonly Row[] = [
  reduction("ReduceSum", exact(sum), 13),
  reduction("ReduceProd", exact(prod)),
  reduction("ReduceMean", inFloat(mean)),
  reduction("ReduceMax", extreme(orIdentity(max), any)),
  reduction("ReduceMin", extreme(orIdentity(min), all)),
  reduction("ReduceSumSquare", exact(squares)),
  reduction(
    "ReduceL1",
    exact((x, axes, options) => sum(x.abs(), axes, options)),
  ),
  reduction(
    "ReduceL2",
    inFloat((x, axes, options) => squares(x, axes, options).sqrt()),
  ),
  reduction(
    "ReduceLogSum",
    inFloat((x, axes, options) => sum(x, axes, options).log()),
  ),
  reduction("ReduceLogSumExp", inFloat(logSumExp)),
  row("ArgMax", argExtreme(argMax), { type: "int64" }),
  row("ArgMin", argExtreme(argMin), { type: "int64" }),
  microsoft("ReduceSumInteger", (n) =>
    sum(
      convert(n.tensor(0), "i32"),
      n.ints("axes").map((a) => axisOf(n, a, n.tensor(0).rank)),
      {
        keepDims: n.flag("keepdims", true),
      },
    ),
  ),
];
