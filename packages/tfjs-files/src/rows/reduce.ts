/** Reductions, running sums, softmax, and places of extremes. */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row } from "@kiln-ml/onnx";
import { asBool, asFloat, axesOf, axisOf, range } from "./operand.ts";
import { alike, tf } from "./row.ts";

type Reduction = (x: Tensor, axes: readonly number[], options: { keepDims: boolean }) => Tensor;

/** The axes are an input: one, or a list; an empty list reduces nothing. */
const over = (op: string, f: Reduction): Row =>
  tf(op, "keep_dims", (n) => {
    const x = n.tensor(0);
    const axes = n.has(1) ? axesOf(n, 1, x.rank) : range(x.rank);
    return f(x, axes, { keepDims: n.flag("keep_dims") });
  });

const asNumber = (x: Tensor): Tensor => (x.dtype === "bool" ? x.convert("i32") : x);

/** The extreme of booleans is that of 0 and 1. */
const extreme =
  (f: Reduction): Reduction =>
  (x, axes, options) =>
    x.dtype === "bool" ? asBool(f(asNumber(x), axes, options)) : f(x, axes, options);

/** Places of extremes count from the first; no NaN is one. */
const place = (op: string, f: (x: Tensor, axis: number) => Tensor, worst: number): Row =>
  tf(op, "", (n) => {
    const x = asNumber(n.tensor(0));
    const [axis = 0] = n.has(1) ? axesOf(n, 1, x.rank) : [0];
    return f(x.dtype === "f32" ? ir.select(ir.isNan(x), worst, x) : x, axis);
  });

const running = (op: string, f: typeof ir.cumsum): Row =>
  tf(op, "exclusive reverse", (n) =>
    f(n.tensor(0), axisOf(n, n.number(1), n.tensor(0).rank), {
      exclusive: n.flag("exclusive"),
      reverse: n.flag("reverse"),
    }),
  );

const logCumSumExp = (n: NodeContext): Tensor => {
  if (n.flag("exclusive")) n.fail("exclusive is true, and −∞ would stand first");
  const x = asFloat(n.tensor(0));
  const axis = axisOf(n, n.number(1), x.rank);
  const turned = n.flag("reverse") ? ir.reverse(x, axis) : x;
  const y = ir.logCumSumExp(turned, axis);
  return n.flag("reverse") ? ir.reverse(y, axis) : y;
};

/** x over max(Σ x², ε)^½. */
function normalised(n: NodeContext): Tensor {
  const x = asFloat(n.tensor(0));
  return ir.mul(x, ir.rsqrt(ir.maximum(ir.sum(ir.square(x), -1, { keepDims: true }), 1e-12)));
}

export const reduceRows: readonly Row[] = [
  over("Sum", (x, axes, o) => ir.sum(asNumber(x), axes, o)),
  over("Prod", (x, axes, o) => ir.prod(asNumber(x), axes, o)),
  over("Max", extreme(ir.max)),
  over("Min", extreme(ir.min)),
  over("Mean", (x, axes, o) => ir.mean(asFloat(x), axes, o)),
  over("All", (x, axes, o) => ir.all(asBool(x), axes, o)),
  over("Any", (x, axes, o) => ir.any(asBool(x), axes, o)),
  over("EuclideanNorm", (x, axes, o) => ir.sqrt(ir.sum(ir.square(asFloat(x)), axes, o))),
  place("ArgMax", ir.argMax, -Infinity),
  place("ArgMin", ir.argMin, Infinity),
  running("Cumsum", ir.cumsum),
  running("Cumprod", ir.cumprod),
  tf("CumulativeLogsumexp", "exclusive reverse", logCumSumExp),
  tf("Softmax", "", (n) => ir.softmax(asFloat(n.tensor(0)), -1)),
  tf("LogSoftmax", "", (n) => ir.logSoftmax(asFloat(n.tensor(0)), -1)),
  tf("L2Loss", "", (n) => ir.sum(ir.square(n.tensor(0)), range(n.tensor(0).rank)).div(2)),
  ...alike("L2Normalize", "", normalised),
];
