/**
 * Activation functions, element by element. Each is written so that neither its value nor its gradient overflows
 * where the function itself is finite: an exponent only ever sees the side on which it is bounded.
 */
import type { Tensor } from "../../node.ts";
import { maximum, minimum } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { clamp } from "./arithmetic.ts";

/** max(0, x); the gradient at 0 is 0, because a tie goes to the first operand. */
export const relu = (x: Tensor): Tensor => maximum(0, x);

/** min(6, max(0, x)); the gradient at both ends is 0. */
export const relu6 = (x: Tensor): Tensor => minimum(6, relu(x));

/** x above 0, slope·x below. */
export const leakyRelu = (x: Tensor, slope = 0.01): Tensor => select(x.greater(0), x, x.mul(slope));

/** The part of x that is not above 0, and 0 elsewhere, so that eˣ of it stays at most 1. */
const negative = (x: Tensor): Tensor => select(x.greater(0), 0, x);

/** x above 0, α·(eˣ − 1) below. Clevert, Unterthiner & Hochreiter 2016. */
export const elu = (x: Tensor, alpha = 1): Tensor =>
  select(x.greater(0), x, negative(x).expm1().mul(alpha));

/** x above 0, α·(e^(x/α) − 1) below: an elu with slope 1 at 0. Barron 2017. */
export const celu = (x: Tensor, alpha = 1): Tensor =>
  select(x.greater(0), x, negative(x).div(alpha).expm1().mul(alpha));

/** λ·elu(x, α) with the fixed point of Klambauer et al. 2017: α = 1.6732632…, λ = 1.0507009…. */
export const selu = (x: Tensor): Tensor => elu(x, 1.6732632423543772).mul(1.0507009873554805);

/** x·Φ(x) = x·½·(1 + erf(x/√2)). Hendrycks & Gimpel 2016. */
export const gelu = (x: Tensor): Tensor => x.mul(x.mul(Math.SQRT1_2).erf().add(1).mul(0.5));

/** The tanh form of gelu: ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))). */
export function geluTanh(x: Tensor): Tensor {
  const inner = x.mul(x.mul(x).mul(0.044715).add(1)).mul(Math.sqrt(2 / Math.PI));
  return x.mul(inner.tanh().add(1).mul(0.5));
}

/** x·σ(x), also called swish. */
export const silu = (x: Tensor): Tensor => x.mul(x.sigmoid());

/** x·tanh(softplus(x)). Misra 2019. */
export const mish = (x: Tensor): Tensor => x.mul(softplus(x).tanh());

/**
 * ln(1 + eˣ) = max(x, 0) + ln(1 + e^(−|x|)).
 *
 * Written with selects rather than |·| so that the gradient at 0 is ½.
 */
export function softplus(x: Tensor): Tensor {
  const above = x.greater(0);
  return select(above, x, 0).add(select(above, x.neg(), x).exp().log1p());
}

/** ln σ(x) = −softplus(−x). */
export const logSigmoid = (x: Tensor): Tensor => softplus(x.neg()).neg();

/** x/(1 + |x|). */
export const softsign = (x: Tensor): Tensor => x.div(x.abs().add(1));

/** relu6(x + 3)/6. */
export const hardSigmoid = (x: Tensor): Tensor => relu6(x.add(3)).div(6);

/** x·relu6(x + 3)/6. */
export const hardSwish = (x: Tensor): Tensor => x.mul(hardSigmoid(x));

/** x clamped to [low, high]. */
export const hardTanh = (x: Tensor, low = -1, high = 1): Tensor => clamp(x, low, high);
