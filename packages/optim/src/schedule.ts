/**
 * Learning rates over time, as graph expressions of the number of finished steps, so that a compiled step
 * changes its rate by itself. A schedule takes f32[] (0 at the first step) and gives f32[].
 */
import { select, type Tensor } from "@kiln-ml/ir";
import { checkPositive, checkRange } from "./check.ts";

/** f32[] finished steps → f32[] learning rate. */
export type Schedule = (step: Tensor) => Tensor;

/** A rate: fixed, a scalar tensor (an input, say), or a schedule. */
export type Rate = number | Tensor | Schedule;

/** From 0 to 1 over `steps`, then 1. */
const progress = (step: Tensor, steps: number): Tensor => step.mul(1 / steps).minimum(1);

export const constant = (lr: number): Schedule => {
  checkRange("constant", "lr", lr, 0, Infinity);
  return (step) => step.mul(0).add(lr);
};

/** start + (end − start)·min(step / steps, 1). */
export const linear = (start: number, end: number, steps: number): Schedule => {
  checkRange("linear", "start", start, 0, Infinity);
  checkRange("linear", "end", end, 0, Infinity);
  checkPositive("linear", "steps", steps);
  return (step) =>
    progress(step, steps)
      .mul(end - start)
      .add(start);
};

/** end + (start − end)·(1 + cos(π·min(step / steps, 1)))/2. Loshchilov & Hutter 2017, eq. 5, without restarts. */
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

/** start·gammaˢᵗᵉᵖ. */
export const exponential = (start: number, gamma: number): Schedule => {
  checkRange("exponential", "start", start, 0, Infinity);
  checkPositive("exponential", "gamma", gamma);
  return (step) => step.mul(Math.log(gamma)).exp().mul(start);
};

/** start·gamma^⌊step / every⌋. */
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

/** Rises evenly to `peak` over `steps` (the first step already has peak / steps), then follows `after`. */
export const warmup = (peak: number, steps: number, after: Schedule = constant(peak)): Schedule => {
  checkRange("warmup", "peak", peak, 0, Infinity);
  checkPositive("warmup", "steps", steps);
  return (count) => {
    const rising = count.add(1).mul(peak / steps);
    return select(count.less(steps), rising, after(count.sub(steps)));
  };
};

/**
 * scale·width^−½·min(t^−½, t·warmupSteps^−³ᐟ²) with t = step + 1. Vaswani et al. 2017, section 5.3.
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
