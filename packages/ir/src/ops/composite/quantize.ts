/**
 * Quantization: integers that stand for floats, x ≈ (q − zero)·scale. The scale is one for the
 * tensor, one for each index of an axis, or whatever broadcasts to it. Arithmetic is in f32; what
 * is halfway is rounded to even.
 */
import { sameDim } from "../../dim.ts";
import { type Dtype, isInteger, maxOf, minOf } from "../../dtype.ts";
import {
  checkOptions,
  DtypeError,
  GraphError,
  type OptionNames,
  ShapeError,
} from "../../errors.ts";
import { kindOf } from "../../kind.ts";
import { Tensor } from "../../node.ts";
import { checkAxis, printShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { reshape } from "../movement.ts";
import { clamp } from "./arithmetic.ts";

export interface DequantizeOptions {
  /** The integer that stands for 0: a number, or a tensor as `scale` is; default 0. */
  readonly zero?: Tensor | number;
  /** The axis along which a vector of scales lies; without it the last. */
  readonly axis?: number;
}

export interface QuantizeOptions extends DequantizeOptions {
  /** An integer dtype, default "i8". */
  readonly dtype?: Dtype;
  /** Narrower limits than those of the dtype: [−8, 7] for four bits. */
  readonly range?: readonly [low: number, high: number];
}

const dequantizeOptions: OptionNames<DequantizeOptions> = { zero: 1, axis: 1 };
const quantizeOptions: OptionNames<QuantizeOptions> = { zero: 1, axis: 1, dtype: 1, range: 1 };

const wide = (x: Tensor): Tensor =>
  x.dtype === "f32" || x.dtype === "f64" ? x : convert(x, "f32");

/** A scale or zero as it broadcasts to x: a vector of several along the axis. */
function beside(op: string, t: unknown, x: Tensor, axis: number | undefined): Tensor | number {
  if (typeof t === "number") return t;
  if (!(t instanceof Tensor))
    throw new GraphError(`${op}: scale and zero are numbers or tensors, got ${kindOf(t)}`);
  if (axis === undefined || t.rank !== 1) return t;
  const at = checkAxis(op, axis, x.rank);
  if (t.shape[0] !== 1 && !sameDim(t.shape[0]!, x.shape[at]!))
    throw new ShapeError(
      `${op}: ${printShape(t.shape)} is not one number for each index of axis ${at} of ${printShape(x.shape)}\n  give as many scales and zeros as that axis is long`,
    );
  return reshape(t, [t.shape[0]!, ...x.shape.slice(at + 1).map(() => 1)]);
}

function checkInteger(op: string, dtype: Dtype): void {
  if (!isInteger(dtype))
    throw new DtypeError(
      `${op}: quantized values are integers, not ${dtype}\n  take i8 or u8, or i32 for sums`,
    );
}

/**
 * q = clamp(round(x / scale) + zero, low, high), in an integer dtype and its range unless `range`
 * is narrower.
 *
 * x: float[...], scale: a number or float[], [n] along `axis`, or what broadcasts to x →
 * dtype[...]. Halfway is rounded to even. It has no gradient. Throws DtypeError for a dtype of
 * floats, ShapeError where a vector does not fit the axis. `torch.quantize_per_tensor`, and with an
 * axis `torch.quantize_per_channel`.
 *
 * @example
 *   quantize(tensor([-1, 0.24, 1.3]), 0.01) // [-100, 24, 127]
 */
export function quantize(x: Tensor, scale: Tensor | number, options: QuantizeOptions = {}): Tensor {
  const op = "quantize";
  checkTensor(op, x);
  const { zero = 0, axis, dtype = "i8", range } = checkOptions(op, options, quantizeOptions);
  checkInteger(op, dtype);
  const [low, high] = range ?? [minOf(dtype), maxOf(dtype)];
  const by = beside(op, scale, x, axis);
  const whole = (by === 1 ? wide(x) : wide(x).div(by)).round();
  const from = beside(op, zero, x, axis);
  const moved = from === 0 ? whole : whole.add(from instanceof Tensor ? wide(from) : from);
  return convert(clamp(moved, low, high), dtype);
}

/**
 * x = (q − zero)·scale in f32.
 *
 * q: integers[...], scale and zero as of `quantize` → f32[...]. Differences of i32 are taken before
 * they are floats. Throws DtypeError for floats, ShapeError where a vector does not fit the axis.
 * `torch.dequantize`.
 *
 * @param scale What 1 stands for, as of `quantize`.
 * @example
 *   dequantize(tensor([-100, 24, 127], { dtype: "i8" }), 0.01) // [-1, 0.24, 1.27]
 */
export function dequantize(
  q: Tensor,
  scale: Tensor | number,
  options: DequantizeOptions = {},
): Tensor {
  const op = "dequantize";
  checkTensor(op, q);
  const { zero = 0, axis } = checkOptions(op, options, dequantizeOptions);
  checkInteger(op, q.dtype);
  const by = beside(op, scale, q, axis);
  const from = beside(op, zero, q, axis);
  // A float holds every integer of up to 24 bits.
  const isLong = q.dtype === "i32" || q.dtype === "u32";
  const steps = (): Tensor => {
    if (from === 0) return wide(q);
    if (isLong) return wide(q.sub(from instanceof Tensor ? convert(from, q.dtype) : from));
    return wide(q).sub(from instanceof Tensor ? wide(from) : from);
  };
  return steps().mul(by instanceof Tensor ? wide(by) : by);
}

/**
 * x quantized by its own range: scale = (max(x, 0) − min(x, 0)) / 255 and the zero that makes 0
 * exact, into u8.
 *
 * x: float[...] → values u8[...], scale f32[], zero u8[]; `dequantize(values, scale, { zero })` is
 * within half a step of x. Where all of x is 0 so is the scale.
 * `torch.quantize_per_tensor_dynamic`; ONNX DynamicQuantizeLinear.
 *
 * @example
 *   quantizeDynamic(tensor([0, 0.5, 1])).values // [0, 128, 255]
 */
export function quantizeDynamic(x: Tensor): {
  readonly values: Tensor;
  readonly scale: Tensor;
  readonly zero: Tensor;
} {
  checkTensor("quantizeDynamic", x);
  const low = wide(x).min(undefined, { empty: "identity" }).minimum(0);
  const high = wide(x).max(undefined, { empty: "identity" }).maximum(0);
  const scale = high.sub(low).div(255);
  const step = select(scale.equal(0), 1, scale);
  const zero = convert(clamp(low.neg().div(step).round(), 0, 255), "u8");
  return { values: quantize(x, step, { zero, dtype: "u8" }), scale, zero };
}
