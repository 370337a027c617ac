/**
 * Learning rates over time, as graph expressions of the number of finished steps, so that a
 * compiled step changes its rate by itself. A schedule takes f32[] (0 at the first step) and gives
 * f32[].
 */
import { checkOptions, GraphError, type OptionNames, select, type Tensor } from "@kiln-ml/ir";
import { checkPositive, checkRange } from "./check.ts";

/** f32[] finished steps → f32[] learning rate. */
export type Schedule = (step: Tensor) => Tensor;

/** A rate: fixed, a scalar tensor (an input, say), or a schedule. */
export type Rate = number | Tensor | Schedule;

/** From 0 to 1 over `steps`, then 1. */
const progress = (step: Tensor, steps: number): Tensor => step.mul(1 / steps).minimum(1);

/**
 * The same rate at every step. `keras.optimizers.Optimizer(learning_rate)`;
 * `torch.optim.lr_scheduler.ConstantLR` of factor 1.
 *
 * @param lr The rate.
 * @example
 *   schedule.constant(0.1)(tensor([0, 50])) // [0.1, 0.1]
 */
export const constant = (lr: number): Schedule => {
  checkRange("constant", "lr", lr, 0, Infinity);
  return (step) => step.mul(0).add(lr);
};

export interface PolynomialOptions {
  /** Default 1. */
  readonly power?: number;
  /** The rate at the end, default 0. */
  readonly end?: number;
}

const polynomialOptions: OptionNames<PolynomialOptions> = { power: 1, end: 1 };

/**
 * start + (end − start)·min(step / steps, 1). `torch.optim.lr_scheduler.LinearLR`.
 *
 * @param start The rate at step 0.
 * @param end The rate at the end.
 * @param steps Steps until the end is reached.
 * @example
 *   schedule.linear(1, 0, 10)(tensor([0, 5, 20])) // [1, ½, 0]
 */
export const linear = (start: number, end: number, steps: number): Schedule => {
  checkRange("linear", "start", start, 0, Infinity);
  checkRange("linear", "end", end, 0, Infinity);
  checkPositive("linear", "steps", steps);
  return (step) =>
    progress(step, steps)
      .mul(end - start)
      .add(start);
};

/**
 * end + (start − end)·(1 + cos(π·min(step / steps, 1)))/2. Loshchilov & Hutter 2017, eq. 5, without
 * restarts. `torch.optim.lr_scheduler.CosineAnnealingLR`.
 *
 * @param start The rate at step 0.
 * @param steps Steps until the end is reached.
 * @param end The rate at the end.
 * @example
 *   schedule.cosine(1, 100)(tensor([0, 50, 100])) // [1, ½, 0]
 */
export const cosine = (start: number, steps: number, end = 0): Schedule => {
  checkRange("cosine", "start", start, 0, Infinity);
  checkRange("cosine", "end", end, 0, Infinity);
  checkPositive("cosine", "steps", steps);
  return (step) =>
    progress(step, steps)
      .mul(Math.PI)
      .cos()
      .add(1)
      .mul((start - end) / 2)
      .add(end);
};

/**
 * end + (start − end)·(1 − min(step / steps, 1))^power. torch.optim.lr_scheduler.PolynomialLR,
 * whose end is 0 and power 1.
 *
 * @param start The rate at step 0.
 * @param steps Steps until the end is reached.
 * @example
 *   schedule.polynomial(1, 10, { power: 2 })(tensor([0, 5, 10])) // [1, ¼, 0]
 */
export const polynomial = (
  start: number,
  steps: number,
  options: PolynomialOptions = {},
): Schedule => {
  const { power = 1, end = 0 } = checkOptions("polynomial", options, polynomialOptions);
  checkRange("polynomial", "start", start, 0, Infinity);
  checkRange("polynomial", "end", end, 0, Infinity);
  checkPositive("polynomial", "steps", steps);
  checkPositive("polynomial", "power", power);
  return (count) =>
    progress(count, steps)
      .neg()
      .add(1)
      .pow(power)
      .mul(start - end)
      .add(end);
};

/**
 * start·gammaˢᵗᵉᵖ. `torch.optim.lr_scheduler.ExponentialLR`.
 *
 * @param start The rate at step 0.
 * @param gamma The factor of a step.
 * @example
 *   schedule.exponential(1, 0.5)(tensor([0, 1, 3])) // [1, ½, ⅛]
 */
export const exponential = (start: number, gamma: number): Schedule => {
  checkRange("exponential", "start", start, 0, Infinity);
  checkPositive("exponential", "gamma", gamma);
  return (step) => step.mul(Math.log(gamma)).exp().mul(start);
};

/**
 * start·gamma^⌊step / every⌋. `torch.optim.lr_scheduler.StepLR`.
 *
 * @param start The rate at step 0.
 * @param every Steps between two changes.
 * @param gamma The factor at each change.
 * @example
 *   schedule.step(1, 30)(tensor([0, 29, 30, 60])) // [1, 1, 0.1, 0.01]
 */
export const step = (start: number, every: number, gamma = 0.1): Schedule => {
  checkRange("step", "start", start, 0, Infinity);
  checkPositive("step", "every", every);
  checkPositive("step", "gamma", gamma);
  // Half a step keeps the quotient off the integers, where rounding of the division could tip it.
  return (count) =>
    count
      .add(0.5)
      .mul(1 / every)
      .floor()
      .mul(Math.log(gamma))
      .exp()
      .mul(start);
};

export interface WarmupOptions {
  /** What it rises from, default 0. "exponential" needs more than that. */
  readonly start?: number;
  /** The way up: "linear" (the default), "cosine" (half a wave) or "exponential" (even ratios). */
  readonly shape?: "linear" | "cosine" | "exponential";
}

const warmupOptions: OptionNames<WarmupOptions> = { start: 1, shape: 1 };

/**
 * Rises to `peak` over `steps` (the first step already has start + (peak − start)/steps), then
 * follows `after`, which counts from 0 there. Goyal et al. 2017, section 2.2, for the even rise.
 * `torch.optim.lr_scheduler.LinearLR` within `SequentialLR`.
 *
 * @example
 *   const rates = schedule.warmup(1, 10, schedule.constant(1));
 *   rates(tensor([10, 50])) // [1, 1]
 */
export const warmup = (
  peak: number,
  steps: number,
  after: Schedule = constant(peak),
  options: WarmupOptions = {},
): Schedule => {
  const { start = 0, shape = "linear" } = checkOptions("warmup", options, warmupOptions);
  checkRange("warmup", "peak", peak, 0, Infinity);
  checkRange("warmup", "start", start, 0, Infinity);
  checkPositive("warmup", "steps", steps);
  if (!["linear", "cosine", "exponential"].includes(shape))
    throw new GraphError(
      `warmup: shape must be "linear", "cosine" or "exponential", got ${String(shape)}`,
    );
  if (shape === "exponential") {
    checkPositive("warmup", "start", start);
    checkPositive("warmup", "peak", peak);
  }
  const rise = (share: Tensor): Tensor => {
    if (shape === "exponential")
      return share
        .mul(Math.log(peak / start))
        .exp()
        .mul(start);
    const way = shape === "cosine" ? share.mul(Math.PI).cos().neg().add(1).mul(0.5) : share;
    return way.mul(peak - start).add(start);
  };
  return (count) => {
    const rising = rise(count.add(1).mul(1 / steps));
    return select(count.less(steps), rising, after(count.sub(steps).maximum(0)));
  };
};

/**
 * scale·width^−½·min(t^−½, t·warmupSteps^−³ᐟ²) with t = step + 1. Vaswani et al. 2017, section 5.3.
 * No counterpart in PyTorch.
 *
 * @param width Features of the model.
 * @param warmupSteps Steps in which the rate rises.
 * @param scale A factor.
 * @example
 *   const rates = schedule.noam(1, 4)(tensor([0, 3, 15]));
 *   rates // [⅛, ½, ¼]; rises for 4 steps, then falls as 1/√t
 */
export const noam = (width: number, warmupSteps: number, scale = 1): Schedule => {
  checkPositive("noam", "width", width);
  checkPositive("noam", "warmupSteps", warmupSteps);
  checkRange("noam", "scale", scale, 0, Infinity);
  return (count) => {
    const t = count.add(1);
    return t
      .rsqrt()
      .minimum(t.mul(warmupSteps ** -1.5))
      .mul(scale / Math.sqrt(width));
  };
};
