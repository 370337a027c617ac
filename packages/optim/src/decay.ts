/**
 * Small formulas that most optimizers are made of: the two kinds of weight decay, exponential means and their correction.
 */
import { select, type Tensor } from "@kiln-ml/ir";
import type { Update } from "./optimizer.ts";

/** g + weightDecay·w: decay as a part of the gradient. */
export const regularised = ({ value, grad, weightDecay }: Update): Tensor =>
  weightDecay ? grad.add(value.mul(weightDecay)) : grad;

/** w·(1 − lr·weightDecay): decay apart from the gradient. */
export const decayed = ({ value, lr, weightDecay }: Update): Tensor =>
  weightDecay ? value.mul(lr.mul(-weightDecay).add(1)) : value;

/** β·mean + (1 − β)·sample. */
export const decayedMean = (mean: Tensor, beta: number, sample: Tensor): Tensor =>
  mean.mul(beta).add(sample.mul(1 - beta));

/** 1 − βᵗ, as −expm1(t·ln β): the difference itself would lose digits in f32 when β is near 1. */
export const correction = (beta: number, t: Tensor): Tensor =>
  beta === 0 ? t.mul(0).add(1) : t.mul(Math.log(beta)).expm1().neg();

/**
 * `value` as it is, which is NaN where `state` is NaN in any case. Fusion follows what is read: with this, one kernel stores a new
 * state that the new value does not need beside the value.
 */
export const beside = (state: Tensor, value: Tensor): Tensor => select(state.isNan(), state, value);
