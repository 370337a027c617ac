/**
 * Means, spreads, norms and the softmax family over axes. Exponents are shifted by the maximum
 * first; the shift carries no gradient, because it does not change the value.
 */

import type { Dim } from "../../dim.ts";
import { isFloat, minOf } from "../../dtype.ts";
import { checkOptions, type OptionNames } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { checkAxes, checkAxis, sizeOf } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { dimValue } from "../create.ts";
import { maximum } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { type Axes, max, type ReduceOptions, sum } from "../reduce.ts";
import { inFloat32 } from "./in-float32.ts";

/** `formula` of x, of which integers become f32; halves are f32 from the sum to the last op. */
const inFloat = (x: Tensor, formula: (from: Tensor) => Tensor): Tensor =>
  inFloat32([isFloat(x.dtype) ? x : convert(x, "f32")], formula);

const countOf = (x: Tensor, axes: readonly number[]): Dim => sizeOf(axes.map((a) => x.shape[a]!));

const reduceOptions: OptionNames<ReduceOptions> = { keepDims: 1 };

/**
 * Σx/n over `axes`, all by default. Integers become f32. `torch.mean`.
 *
 * @param x Values of any shape.
 * @example
 *   mean(tensor([[1, 3], [5, 7]])) // 4
 *   mean(tensor([[1, 3], [5, 7]]), 0, { keepDims: true }) // [[3, 5]]
 */
export function mean(x: Tensor, axes?: Axes, options: ReduceOptions = {}): Tensor {
  checkTensor("mean", x);
  checkOptions("mean", options, reduceOptions);
  const list = checkAxes("mean", axes, x.rank);
  return inFloat(x, (from) => {
    return sum(from, list, options).div(dimValue(countOf(x, list), from.dtype));
  });
}

export interface VarianceOptions extends ReduceOptions {
  /** Taken from n in the divisor: 0 for the population's variance, 1 for Bessel's. */
  readonly correction?: number;
}

const varianceOptions: OptionNames<VarianceOptions> = { ...reduceOptions, correction: 1 };

/**
 * Σ(x − mean)²/(n − correction) over `axes`, in two passes, which does not cancel. `torch.var` with
 * `correction=0`.
 *
 * @param x Values of any shape.
 * @example
 *   variance(tensor([1, 3])) // 1
 *   variance(tensor([1, 3]), 0, { correction: 1 }) // 2
 */
export function variance(x: Tensor, axes?: Axes, options: VarianceOptions = {}): Tensor {
  checkTensor("variance", x);
  const list = checkAxes("variance", axes, x.rank);
  return inFloat(x, (from) => {
    const { correction = 0, ...keep } = checkOptions("variance", options, varianceOptions);
    const d = from.sub(mean(from, list, { keepDims: true }));
    const n = dimValue(countOf(x, list), from.dtype);
    return sum(d.mul(d), list, keep).div(correction ? n.sub(correction) : n);
  });
}

/**
 * √x, of whose slopes at 0 that of 0 is taken, as is the rule for a norm: where all it is made of
 * is 0 no direction is better.
 */
function rootOf(x: Tensor): Tensor {
  const none = x.equal(0);
  return select(none, 0, select(none, 1, x).sqrt());
}

/**
 * √variance; the gradient is 0 where all elements are equal. `torch.std` with `correction=0`.
 *
 * @param x Values of any shape.
 * @param axes The axes to reduce, one or a list, negative ones from the end; all by default.
 * @example
 *   std(tensor([1, 3])) // 1
 *   std(tensor([1, 3]), 0, { correction: 1 }) // √2
 */
export function std(x: Tensor, axes?: Axes, options: VarianceOptions = {}): Tensor {
  checkTensor("std", x);
  const list = checkAxes("std", axes, x.rank);
  checkOptions("std", options, varianceOptions);
  return inFloat32([x], (from) => rootOf(variance(from, list, options)));
}

export interface NormOptions extends ReduceOptions {
  /** p, default 2. */
  readonly order?: 1 | 2 | typeof Infinity;
}

const normOptions: OptionNames<NormOptions> = { ...reduceOptions, order: 1 };

/**
 * (Σ|x|ᵖ)^(1/p) for p = `order`, 2 by default; of order Infinity, max |x|. The gradient is 0 where
 * x is. `torch.linalg.vector_norm`.
 *
 * @param x Values of any shape.
 * @param axes The axes to reduce, one or a list, negative ones from the end; all by default.
 * @example
 *   norm(tensor([3, 4])) // 5
 *   norm(tensor([3, -4]), 0, { order: 1 }) // 7
 */
export function norm(x: Tensor, axes?: Axes, options: NormOptions = {}): Tensor {
  checkTensor("norm", x);
  const list = checkAxes("norm", axes, x.rank);
  return inFloat(x, (from) => {
    const { order = 2, ...keep } = checkOptions("norm", options, normOptions);
    if (order === 1) return sum(from.abs(), list, keep);
    if (order === Infinity) return max(from.abs(), list, keep);
    return rootOf(sum(from.mul(from), list, keep));
  });
}

/**
 * The maximum along an axis, kept as extent 1, as a constant of the gradient; 0 where it is not
 * finite.
 */
function shiftOf(x: Tensor, axes: Axes | undefined): Tensor {
  const m = max(x, axes, { keepDims: true, empty: "identity" }).stopGradient();
  return select(m.isFinite(), m, 0);
}

/**
 * The maximum along an axis as a constant of the gradient. An empty axis has no elements to take it
 * from.
 */
const peakOf = (x: Tensor, axis: number): Tensor =>
  max(x, axis, { keepDims: true, empty: "identity" }).stopGradient();

/**
 * eˣ/Σeˣ along `axis`. The sum is at least 1, so that one reciprocal a row loses little and saves a
 * division an element. `F.softmax`.
 *
 * @param x The tensor.
 * @example
 *   softmax(tensor([0, 0])) // [½, ½]
 *   softmax(tensor([[0, 1000], [0, -Infinity]])) // [[0, 1], [1, 0]]
 */
export function softmax(x: Tensor, axis = -1): Tensor {
  checkTensor("softmax", x);
  const a = checkAxis("softmax", axis, x.rank);
  return inFloat(x, (from) => {
    const e = from.sub(peakOf(from, a)).exp();
    return e.mul(sum(e, a, { keepDims: true }).reciprocal());
  });
}

/**
 * Softmax along `axis` of scores of which some are masked: with −∞, or with anything at or below
 * the lowest finite number. What is masked weighs 0, also where all of a row is: such a row is 0
 * and so is its gradient, where `softmax` would have NaN.
 *
 * x: float[...] → the same shape. With t half of the lowest number of the dtype: eˣ⁻ᵐ/max(Σeˣ⁻ᵐ,
 * ½), m = max(max x, t). A row with anything above t has a sum of 1 or more, so its weights are
 * those of `softmax`. `F.softmax` of what `torch.Tensor.masked_fill` gave.
 *
 * @example
 *   maskedSoftmax(tensor([0, 0, -Infinity])) // [½, ½, 0]
 *   maskedSoftmax(tensor([-Infinity, -Infinity])) // [0, 0]; where softmax has NaN
 */
export function maskedSoftmax(x: Tensor, axis = -1): Tensor {
  checkTensor("maskedSoftmax", x);
  const a = checkAxis("maskedSoftmax", axis, x.rank);
  const lowest = minOf(isFloat(x.dtype) ? x.dtype : "f32");
  return inFloat(x, (from) => {
    const top = peakOf(from, a);
    const e = from.sub(maximum(top, lowest / 2)).exp();
    return e.mul(maximum(sum(e, a, { keepDims: true }), 0.5).reciprocal());
  });
}

/**
 * x − ln Σeˣ along `axis`. `F.log_softmax`.
 *
 * @param x The tensor.
 * @example
 *   logSoftmax(tensor([0, 0])) // [−0.69315, −0.69315]; ln ½
 */
export function logSoftmax(x: Tensor, axis = -1): Tensor {
  checkTensor("logSoftmax", x);
  const a = checkAxis("logSoftmax", axis, x.rank);
  return inFloat(x, (from) => {
    const d = from.sub(peakOf(from, a));
    return d.sub(sum(d.exp(), a, { keepDims: true }).log());
  });
}

/**
 * ln Σeˣ over `axes`, all by default. −∞ and ∞ are reached, not NaN. `torch.logsumexp`.
 *
 * @param x Values of any shape.
 * @example
 *   logSumExp(tensor([[0, 0], [1000, 1000]]), 1) // [ln 2, 1000.6931]
 */
export function logSumExp(x: Tensor, axes?: Axes, options: ReduceOptions = {}): Tensor {
  checkTensor("logSumExp", x);
  checkOptions("logSumExp", options, reduceOptions);
  const list = checkAxes("logSumExp", axes, x.rank);
  return inFloat(x, (from) => {
    const m = shiftOf(from, list);
    const powers = sum(from.sub(m).exp(), list, { keepDims: true });
    // Where every x is −∞ there is nothing to go up: no gradient, as no weight is given to any of
    // them.
    const none = powers.equal(0);
    const total = select(none, -Infinity, select(none, 1, powers).log()).add(m);
    return options.keepDims ? total : sum(total, list);
  });
}

/**
 * x/max(‖x‖₂, eps) along `axis`. `F.normalize`.
 *
 * @param x The tensor.
 * @param eps The least that is divided by.
 * @example
 *   normalize(tensor([[3, 4], [0, 2]])) // [[0.6, 0.8], [0, 1]]
 */
export function normalize(x: Tensor, axis = -1, eps = 1e-12): Tensor {
  checkTensor("normalize", x);
  const a = checkAxis("normalize", axis, x.rank);
  return inFloat(x, (from) => from.div(maximum(norm(from, a, { keepDims: true }), eps)));
}
