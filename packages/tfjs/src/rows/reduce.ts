/** Rows of reductions, running sums and softmax. */
import {
  type ArgMaxAttrs,
  type CumsumAttrs,
  type LogSoftmaxAttrs,
  type SoftmaxAttrs,
  util,
} from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { asBool, asFloat } from "./operand.ts";

type Axes = number | readonly number[] | undefined;
type Reduction = (x: Tensor, axes: number[], options: { keepDims: boolean }) => Tensor;

interface ReductionAttrs {
  readonly axis?: Axes;
  readonly reductionIndices?: Axes;
  readonly keepDims?: boolean;
}

export const axesOf = (x: Tensor, axes: Axes): number[] =>
  util.parseAxisParam(axes as number | number[], x.shape as number[]);

const over =
  (fn: Reduction) =>
  ({ x }: Operands, { axis, reductionIndices, keepDims = false }: ReductionAttrs): Tensor =>
    fn(x!, axesOf(x!, axis ?? reductionIndices), { keepDims });

/** The extreme of booleans is that of 0 and 1. */
const extreme =
  (fn: Reduction): Reduction =>
  (x, axes, options) =>
    x.dtype === "bool" ? asBool(fn(x.convert("i32"), axes, options)) : fn(x, axes, options);

/** Places of extremes count from the first; no NaN is one. */
const place =
  (fn: (x: Tensor, axis: number) => Tensor, worst: number) =>
  ({ x }: Operands, { axis }: ArgMaxAttrs): Tensor => {
    const numbers = x!.dtype === "bool" ? x!.convert("i32") : x!;
    const [along] = axesOf(x!, axis);
    const known = numbers.dtype === "f32" ? ir.select(ir.isNan(numbers), worst, numbers) : numbers;
    return fn(known, along!);
  };

const running =
  (fn: typeof ir.cumsum) =>
  ({ x }: Operands, { axis, exclusive, reverse }: CumsumAttrs): Tensor =>
    fn(x!, axesOf(x!, axis)[0]!, { exclusive, reverse });

// biome-ignore format: one kernel a row
export const reduce: Rows = {
  Sum:  over(ir.sum),
  Prod: over(ir.prod),
  Max:  over(extreme(ir.max)),
  Min:  over(extreme(ir.min)),
  Mean: over((x, axes, options) => ir.mean(asFloat(x), axes, options)),
  All:  over((x, axes, options) => ir.all(asBool(x), axes, options)),
  Any:  over((x, axes, options) => ir.any(asBool(x), axes, options)),
  ArgMax: place(ir.argMax, -Infinity),
  ArgMin: place(ir.argMin, Infinity),
  Cumsum:  running(ir.cumsum),
  Cumprod: running(ir.cumprod),
  Softmax:    ({ logits }: Operands, { dim }: SoftmaxAttrs) => ir.softmax(asFloat(logits!), dim),
  LogSoftmax: ({ logits }: Operands, { axis }: LogSoftmaxAttrs) => ir.logSoftmax(asFloat(logits!), axis),
};
