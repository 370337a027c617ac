/**
 * A rate that falls when a metric no longer gets better. It has state, so that a compiled step, or
 * one beside it, updates it.
 */
import {
  assign,
  checkOptions,
  checkTensor,
  currentValue,
  GraphError,
  type OptionNames,
  param,
  printShape,
  ShapeError,
  Stateful,
  select,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import { checkRange } from "./check.ts";

export interface ReduceOnPlateauOptions {
  /** Whether the metric is better where it is less ("min", the default) or more ("max"). */
  readonly mode?: "min" | "max";
  /** What the rate is multiplied by, default 0.1. */
  readonly factor?: number;
  /** How many metrics in a row may be no better, default 10; the next one lowers the rate. */
  readonly patience?: number;
  /** By how much a metric must be better to count, default 1e-4. */
  readonly threshold?: number;
  /** Whether `threshold` is a share of the best ("rel", the default) or a difference ("abs"). */
  readonly thresholdMode?: "rel" | "abs";
  /** How many metrics after a fall do not count as bad, default 0. */
  readonly cooldown?: number;
  /** The lowest rate, default 0. */
  readonly minLr?: number;
  /** A fall by no more than this does not take place, default 1e-8. */
  readonly eps?: number;
  /** Prefix of the names of state, default "plateau". */
  readonly name?: string;
}

const plateauOptions: OptionNames<ReduceOnPlateauOptions> = {
  mode: 1,
  factor: 1,
  patience: 1,
  threshold: 1,
  thresholdMode: 1,
  cooldown: 1,
  minLr: 1,
  eps: 1,
  name: 1,
};

/**
 * lr ← max(lr·factor, minLr) when more than `patience` metrics in a row were no better than the
 * best so far. Better is, for "min", metric < best·(1 − threshold), or metric < best − threshold
 * with "abs"; NaN is never better.
 *
 * Its `rate` is the `lr` of optimizers, or of their groups; `step(metric)` is called in a compiled
 * function or outside. Throws GraphError for options out of range, ShapeError for a metric that is
 * no scalar. torch.optim.lr_scheduler.ReduceLROnPlateau.
 *
 * @example
 *   const plateau = new optim.ReduceOnPlateau(0.1, { patience: 1 });
 *   const optimizer = new optim.SGD([param([1])], { lr: plateau.rate });
 *   for (const validationLoss of [1, 2, 2, 2]) plateau.step(validationLoss);
 *   plateau.rate // 0.01
 */
export class ReduceOnPlateau extends Stateful {
  readonly options: ReduceOnPlateauOptions;
  readonly #states: Record<"rate" | "best" | "bad" | "cooldown", Tensor>;

  constructor(lr: number, options: ReduceOnPlateauOptions = {}) {
    super();
    const op = "reduceOnPlateau";
    this.options = checkOptions(op, options, plateauOptions);
    const { mode = "min", thresholdMode = "rel", factor = 0.1, name = "plateau" } = options;
    checkRange(op, "lr", lr, 0, Infinity);
    checkRange(op, "factor", factor, 0, 1);
    for (const what of ["patience", "threshold", "cooldown", "minLr", "eps"] as const)
      checkRange(op, what, options[what] ?? 0, 0, Infinity);
    if (mode !== "min" && mode !== "max")
      throw new GraphError(`${op}: mode must be "min" or "max", got ${String(mode)}`);
    if (thresholdMode !== "rel" && thresholdMode !== "abs")
      throw new GraphError(
        `${op}: thresholdMode must be "rel" or "abs", got ${String(thresholdMode)}`,
      );
    const scalar = (what: string, value: number): Tensor =>
      param(tensor(Float32Array.of(value), { dtype: "f32", shape: [] }), {
        name: `${name}.${what}`,
        trainable: false,
      });
    this.#states = {
      rate: scalar("rate", lr),
      best: scalar("best", mode === "min" ? Infinity : -Infinity),
      bad: scalar("bad", 0),
      cooldown: scalar("cooldown", 0),
    };
  }

  /** The present rate, f32[]: the `lr` of an optimizer, and a number to log. */
  get rate(): Tensor {
    return this.#states.rate;
  }

  /** Takes a metric, a scalar or a number, and lowers the rate if it is time. */
  step(metric: Tensor | number): void {
    const given = typeof metric === "number" ? tensor(metric, { dtype: "f32" }) : metric;
    checkTensor("reduceOnPlateau", given);
    if (given.rank !== 0)
      throw new ShapeError(
        `reduceOnPlateau: metric must be a scalar, got ${printShape(given.shape)}\n  take its mean first`,
      );
    const { factor = 0.1, patience = 10, cooldown = 0, minLr = 0, eps = 1e-8 } = this.options;
    const s = this.#states;
    const [rate, best, bad, wait] = [s.rate, s.best, s.bad, s.cooldown].map(currentValue) as [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ];
    const value = given.convert("f32");
    const better = this.#better(value, best);
    const waiting = wait.greater(0);
    const count = select(better.or(waiting), 0, bad.add(1));
    const due = count.greater(patience);
    const lower = rate.mul(factor).maximum(minLr);
    const next = select(due.and(rate.sub(lower).greater(eps)), lower, rate);
    const news = [
      [s.best, select(better, value, best)],
      [s.bad, select(due, 0, count)],
      [s.cooldown, select(due, cooldown, wait.sub(1).maximum(0))],
      [s.rate, next],
    ] as const;
    for (const [state, value] of news) assign(state, value);
  }

  #better(value: Tensor, best: Tensor): Tensor {
    const { mode = "min", thresholdMode = "rel", threshold = 1e-4 } = this.options;
    const margin = mode === "min" ? -threshold : threshold;
    const bar = thresholdMode === "rel" ? best.mul(1 + margin) : best.add(margin);
    return mode === "min" ? value.less(bar) : value.greater(bar);
  }

  checkpoint(): Map<string, Tensor> {
    return new Map(Object.values(this.#states).map((t) => [String(t.attrs.name), t]));
  }
}
