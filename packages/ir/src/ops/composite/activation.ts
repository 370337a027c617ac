/**
 * Activation functions, element by element. Each is written so that neither its value nor its
 * gradient overflows where the function itself is finite: an exponent only ever sees the side on
 * which it is bounded. Halves are computed in f32 and rounded once.
 */
import { isHalf } from "../../dtype.ts";
import type { Tensor } from "../../node.ts";
import { checkTensor } from "../apply.ts";
import { maximum, minimum } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { clamp } from "./arithmetic.ts";
import { normalCdf } from "./erfc.ts";
import { roundedOnce } from "./in-float32.ts";

/** `formula` of x, checked. */
function rounded(op: string, x: Tensor, formula: (wide: Tensor) => Tensor): Tensor {
  checkTensor(op, x);
  return roundedOnce([x], formula);
}

/**
 * max(0, x); the gradient at 0 is 0, because a tie goes to the first operand. `F.relu`.
 *
 * @param x The tensor.
 * @example
 *   relu(tensor([-2, 0, 3])) // [0, 0, 3]
 */
export const relu = (x: Tensor): Tensor => maximum(0, x);

/**
 * min(6, max(0, x)); the gradient at both ends is 0. `F.relu6`.
 *
 * @param x The tensor.
 * @example
 *   relu6(tensor([-2, 3, 9])) // [0, 3, 6]
 */
export const relu6 = (x: Tensor): Tensor => minimum(6, relu(x));

/**
 * x above 0, slope·x below. `F.leaky_relu`.
 *
 * @param x The tensor.
 * @param slope The slope below 0.
 * @example
 *   leakyRelu(tensor([2, -1]), 0.1) // [2, −0.1]
 */
export const leakyRelu = (x: Tensor, slope = 0.01): Tensor =>
  rounded("leakyRelu", x, (v) => select(v.greater(0), v, v.mul(slope)));

/** The part of x that is not above 0, and 0 elsewhere, so that eˣ of it stays at most 1. */
const negative = (x: Tensor): Tensor => select(x.greater(0), 0, x);

/**
 * x above 0, α·(eˣ − 1) below. Clevert, Unterthiner & Hochreiter 2016. `F.elu`.
 *
 * @param x The tensor.
 * @param alpha The scale of the part below 0.
 * @example
 *   elu(tensor([2, -1])) // [2, −0.63212]; e⁻¹ − 1
 */
export const elu = (x: Tensor, alpha = 1): Tensor =>
  rounded("elu", x, (v) => select(v.greater(0), v, negative(v).expm1().mul(alpha)));

/**
 * x above 0, α·(e^(x/α) − 1) below: an elu with slope 1 at 0. Barron 2017. `F.celu`.
 *
 * @param x The tensor.
 * @param alpha The scale of the part below 0.
 * @example
 *   celu(tensor([2, -1]), 1) // [2, −0.63212]; e⁻¹ − 1
 */
export const celu = (x: Tensor, alpha = 1): Tensor =>
  rounded("celu", x, (v) => select(v.greater(0), v, negative(v).div(alpha).expm1().mul(alpha)));

/**
 * λ·elu(x, α) with the fixed point of Klambauer et al. 2017: α = 1.6732632…, λ = 1.0507009….
 * `F.selu`.
 *
 * @param x The tensor.
 * @example
 *   selu(tensor([1, -1])) // [1.0507, −1.1113]
 */
export const selu = (x: Tensor): Tensor =>
  rounded("selu", x, (v) => elu(v, 1.6732632423543772).mul(1.0507009873554805));

/**
 * x·Φ(x), Φ the cumulative distribution function of the standard normal. Hendrycks & Gimpel 2016.
 * `F.gelu`.
 *
 * As x·½·(1 + erf(x/√2)), as PyTorch computes it: below −3 the sum cancels, and the result is off
 * by up to 10⁻⁷ absolute. Φ without cancelling (`normalCdf`) takes 2.4 times as long on wasm.
 * Halves take it: their own rounding would show what cancels.
 *
 * @param x The tensor.
 * @example
 *   gelu(tensor([-1, 0, 1])) // [−0.15866, 0, 0.84134]
 */
export const gelu = (x: Tensor): Tensor =>
  rounded("gelu", x, (v) =>
    v.mul(isHalf(x.dtype) ? normalCdf(v) : v.mul(Math.SQRT1_2).erf().add(1).mul(0.5)),
  );

/**
 * The tanh form of gelu: ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
 *
 * Computed as x·σ(2u) with u the argument of tanh: that is the same, and 1 + tanh u would cancel
 * where u is far below 0. `F.gelu(x, approximate="tanh")`.
 *
 * @param x The tensor.
 * @example
 *   geluTanh(tensor([-1, 0, 1])) // [−0.15881, 0, 0.84119]
 */
export const geluTanh = (x: Tensor): Tensor =>
  rounded("geluTanh", x, (v) => {
    const twice = v.mul(v.mul(v).mul(0.044715).add(1)).mul(Math.sqrt(8 / Math.PI));
    return v.mul(twice.sigmoid());
  });

/**
 * x·σ(x), also called swish. `F.silu`.
 *
 * @param x The tensor.
 * @example
 *   silu(tensor([0, 1])) // [0, 0.73106]
 */
export const silu = (x: Tensor): Tensor => rounded("silu", x, (v) => v.mul(v.sigmoid()));

/**
 * x·tanh(softplus(x)). Misra 2019. `F.mish`.
 *
 * @param x The tensor.
 * @example
 *   mish(tensor([0, 1])) // [0, 0.8651]
 */
export const mish = (x: Tensor): Tensor => rounded("mish", x, (v) => v.mul(softplus(v).tanh()));

/**
 * ln(1 + eˣ) = max(x, 0) + ln(1 + e^(−|x|)).
 *
 * Written with selects rather than |·| so that the gradient at 0 is ½. `F.softplus`.
 *
 * @param x The tensor.
 * @example
 *   softplus(tensor([0, 100])) // [ln 2, 100]
 */
export const softplus = (x: Tensor): Tensor =>
  rounded("softplus", x, (v) => {
    const above = v.greater(0);
    return select(above, v, 0).add(select(above, v.neg(), v).exp().log1p());
  });

/**
 * ln σ(x) = −softplus(−x). `F.logsigmoid`.
 *
 * @param x The tensor.
 * @example
 *   logSigmoid(tensor([0, -100])) // [−0.69315, −100]
 */
export const logSigmoid = (x: Tensor): Tensor =>
  rounded("logSigmoid", x, (v) => softplus(v.neg()).neg());

/**
 * x/(1 + |x|). `F.softsign`.
 *
 * @param x The tensor.
 * @example
 *   softsign(tensor([1, -3])) // [½, −0.75]
 */
export const softsign = (x: Tensor): Tensor => rounded("softsign", x, (v) => v.div(v.abs().add(1)));

/**
 * relu6(x + 3)/6. `F.hardsigmoid`.
 *
 * @param x The tensor.
 * @example
 *   hardSigmoid(tensor([-3, 0, 3])) // [0, ½, 1]
 */
export const hardSigmoid = (x: Tensor): Tensor =>
  rounded("hardSigmoid", x, (v) => relu6(v.add(3)).div(6));

/**
 * x·relu6(x + 3)/6. `F.hardswish`.
 *
 * @param x The tensor.
 * @example
 *   hardSwish(tensor([-3, 1, 3])) // [0, 0.66667, 3]
 */
export const hardSwish = (x: Tensor): Tensor =>
  rounded("hardSwish", x, (v) => v.mul(hardSigmoid(v)));

/**
 * x clamped to [low, high]. `F.hardtanh`.
 *
 * @param x The tensor.
 * @param low The lower bound.
 * @param high The upper bound.
 * @example
 *   hardTanh(tensor([-2, 0.5, 2])) // [−1, 0.5, 1]
 */
export const hardTanh = (x: Tensor, low = -1, high = 1): Tensor => clamp(x, low, high);
