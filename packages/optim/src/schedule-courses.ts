/**
 * Schedules of several parts: restarts, milestones, one cycle, and schedules made of schedules.
 */
import {
  checkOptions,
  GraphError,
  kindOf,
  type OptionNames,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { checkPositive, checkRange } from "./check.ts";
import type { Schedule } from "./schedule.ts";

/** end + (start − end)·(1 + cos(π·share))/2. */
const wave = (share: Tensor, start: number, end: number): Tensor =>
  share
    .mul(Math.PI)
    .cos()
    .add(1)
    .mul((start - end) / 2)
    .add(end);

function checkSchedules(op: string, schedules: readonly Schedule[]): void {
  if (!Array.isArray(schedules) || !schedules.length)
    throw new GraphError(
      `${op}: takes a list of one schedule or more, got ${kindOf(schedules)}\n  pass [schedule.linear(…), schedule.cosine(…)]`,
    );
  for (const [i, s] of schedules.entries())
    if (typeof s !== "function")
      throw new GraphError(
        `${op}: entry ${i} must be a schedule, got ${kindOf(s)}\n  pass schedule.constant(…) for a fixed rate`,
      );
}

function checkMilestones(op: string, milestones: readonly number[]): void {
  if (!Array.isArray(milestones))
    throw new GraphError(`${op}: milestones must be a list of steps, got ${kindOf(milestones)}`);
  for (const [i, m] of milestones.entries())
    if (!(Number.isFinite(m) && m >= 0 && (i === 0 || m > milestones[i - 1]!)))
      throw new GraphError(
        `${op}: milestones must rise from 0 or more, got [${milestones.map(kindOf).join(", ")}]\n  give the steps at which the rate changes, in order`,
      );
}

export interface CosineRestartsOptions {
  /** What each cycle is longer than the last by, an integer of 1 or more; default 1. */
  readonly factor?: number;
  /** The lowest rate, default 0. */
  readonly end?: number;
}

const cosineRestartsOptions: OptionNames<CosineRestartsOptions> = { factor: 1, end: 1 };

/**
 * end + (start − end)·(1 + cos(π·T/Tᵢ))/2, T steps into the ith cycle, whose length is Tᵢ =
 * every·factorⁱ. Loshchilov & Hutter 2017, eq. 5;
 * torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.
 *
 * @param start The rate at step 0.
 * @param every Steps between two changes.
 * @example
 *   const rates = schedule.cosineRestarts(1, 4, { factor: 2 });
 *   rates(tensor([0, 2, 4, 8])) // [1, ½, 1, ½]; 4 steps, then 8
 */
export const cosineRestarts = (
  start: number,
  every: number,
  options: CosineRestartsOptions = {},
): Schedule => {
  const op = "cosineRestarts";
  const { factor = 1, end = 0 } = checkOptions(op, options, cosineRestartsOptions);
  checkRange(op, "start", start, 0, Infinity);
  checkRange(op, "end", end, 0, Infinity);
  checkPositive(op, "every", every);
  if (!(Number.isInteger(factor) && factor >= 1))
    throw new GraphError(
      `${op}: factor must be an integer of 1 or more, got ${kindOf(factor)}\n  leave it out for cycles of one length`,
    );
  return (count) => {
    // Half a step keeps the quotient off the integers, where rounding could tip it.
    if (factor === 1) {
      const cycle = count
        .add(0.5)
        .mul(1 / every)
        .floor();
      return wave(count.sub(cycle.mul(every)).mul(1 / every), start, end);
    }
    // The ith cycle begins at every·(factorⁱ − 1)/(factor − 1).
    const i = count
      .add(0.5)
      .mul((factor - 1) / every)
      .log1p()
      .mul(1 / Math.log(factor))
      .floor();
    const length = i.mul(Math.log2(factor)).exp2().mul(every);
    const begin = length.sub(every).mul(1 / (factor - 1));
    return wave(count.sub(begin).div(length), start, end);
  };
};

/**
 * start·gamma^(milestones at or before this step). torch.optim.lr_scheduler.MultiStepLR.
 *
 * @param start The rate at step 0.
 * @param milestones Steps, ascending.
 * @param gamma The factor at each milestone.
 * @example
 *   schedule.multiStep(1, [30, 80])(tensor([0, 30, 80])) // [1, 0.1, 0.01]
 */
export const multiStep = (start: number, milestones: readonly number[], gamma = 0.1): Schedule => {
  checkRange("multiStep", "start", start, 0, Infinity);
  checkMilestones("multiStep", milestones);
  checkPositive("multiStep", "gamma", gamma);
  return (count) =>
    milestones.reduce(
      (rate, m, i) => select(count.less(m), rate, start * gamma ** (i + 1)),
      count.mul(0).add(start),
    );
};

/**
 * Each schedule in turn: the first until milestones[0], the next, counting from 0 there, until
 * milestones[1], and so on. torch.optim.lr_scheduler.SequentialLR.
 *
 * @param schedules Schedules, functions of the step.
 * @param milestones Where the next schedule begins, ascending, one fewer than schedules.
 * @example
 *   const parts = [schedule.linear(0, 1, 10), schedule.cosine(1, 90)];
 *   schedule.sequential(parts, [10])(tensor([5, 10, 100])) // [½, 1, 0]
 */
export const sequential = (
  schedules: readonly Schedule[],
  milestones: readonly number[],
): Schedule => {
  checkSchedules("sequential", schedules);
  checkMilestones("sequential", milestones);
  if (milestones.length !== schedules.length - 1)
    throw new GraphError(
      `sequential: needs a milestone between each two schedules: ${schedules.length} schedules, ${milestones.length} milestones`,
    );
  const [first, ...rest] = schedules;
  return (count) =>
    rest.reduce(
      (rate, s, i) =>
        select(count.less(milestones[i]!), rate, s(count.sub(milestones[i]!).maximum(0))),
      first!(count),
    );
};

export interface OneCycleOptions {
  /** Share of the steps that rise, default 0.3. */
  readonly pctStart?: number;
  /** "cos" (the default) or "linear". */
  readonly annealStrategy?: "cos" | "linear";
  /** The first rate is peak/divFactor, default 25. */
  readonly divFactor?: number;
  /** The last rate is the first one by this, default 10000. */
  readonly finalDivFactor?: number;
  /** Falls back to the first rate as slowly as it rose, then to the last; default false. */
  readonly threePhase?: boolean;
}

const oneCycleOptions: OptionNames<OneCycleOptions> = {
  pctStart: 1,
  annealStrategy: 1,
  divFactor: 1,
  finalDivFactor: 1,
  threePhase: 1,
};

/**
 * From peak/divFactor to `peak` and down to peak/divFactor/finalDivFactor over `steps`, in half
 * waves or straight; it stays there. Smith & Topin 2018; torch.optim.lr_scheduler.OneCycleLR.
 * @example
 *   const rates = schedule.oneCycle(1, 100);
 *   rates(tensor([30])) // [1]; the peak, at 30 % of the steps
 */
export const oneCycle = (peak: number, steps: number, options: OneCycleOptions = {}): Schedule => {
  const op = "oneCycle";
  const o = checkOptions(op, options, oneCycleOptions);
  const { pctStart = 0.3, annealStrategy = "cos", divFactor = 25, finalDivFactor = 1e4 } = o;
  checkRange(op, "peak", peak, 0, Infinity);
  checkPositive(op, "steps", steps);
  checkPositive(op, "divFactor", divFactor);
  checkPositive(op, "finalDivFactor", finalDivFactor);
  checkRange(op, "pctStart", pctStart, 0, 1);
  if (annealStrategy !== "cos" && annealStrategy !== "linear")
    throw new GraphError(
      `${op}: annealStrategy must be "cos" or "linear", got ${String(annealStrategy)}`,
    );
  const [low, last] = [peak / divFactor, peak / divFactor / finalDivFactor];
  const top = pctStart * steps - 1;
  // Where a phase ends, and with what rate.
  const phases: (readonly [end: number, rate: number])[] = o.threePhase
    ? [
        [top, peak],
        [2 * top, low],
        [steps - 1, last],
      ]
    : [
        [top, peak],
        [steps - 1, last],
      ];
  return (count) => {
    let [from, begin] = [low, 0];
    let rate: Tensor | undefined;
    for (const [end, to] of phases) {
      const share = count
        .sub(begin)
        .mul(1 / Math.max(end - begin, 1e-6))
        .maximum(0)
        .minimum(1);
      const value =
        annealStrategy === "cos" ? wave(share, from, to) : share.mul(to - from).add(from);
      rate = rate ? select(count.lessEqual(begin), rate, value) : value;
      [from, begin] = [to, end];
    }
    return rate!;
  };
};

function composed(
  op: string,
  schedules: readonly Schedule[],
  join: (a: Tensor, b: Tensor) => Tensor,
): Schedule {
  checkSchedules(op, schedules);
  return (count) => schedules.map((s) => s(count)).reduce(join);
}

/**
 * The sum of schedules. No counterpart in PyTorch.
 *
 * @param schedules Schedules, functions of the step.
 * @example
 *   schedule.sum([schedule.constant(1), schedule.constant(3)])(tensor([0])) // [4]
 */
export const sum = (schedules: readonly Schedule[]): Schedule =>
  composed("sum", schedules, (a, b) => a.add(b));

/**
 * The product of schedules: torch.optim.lr_scheduler.ChainedScheduler, where all but one are
 * factors.
 * @example
 *   schedule.product([schedule.constant(2), schedule.linear(0, 1, 10)])(tensor([5])) // [1]
 */
export const product = (schedules: readonly Schedule[]): Schedule =>
  composed("product", schedules, (a, b) => a.mul(b));

/**
 * The mean of schedules. No counterpart in PyTorch.
 *
 * @param schedules Schedules, functions of the step.
 * @example
 *   schedule.mean([schedule.constant(1), schedule.constant(3)])(tensor([0])) // [2]
 */
export const mean = (schedules: readonly Schedule[]): Schedule => {
  const all = sum(schedules);
  return (count) => all(count).mul(1 / schedules.length);
};
