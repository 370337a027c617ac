/** Options that every optimizer takes, and their names. */
import type { OptionNames } from "@kiln-ml/ir";
import type { Rate } from "./schedule.ts";

export interface OptimizerOptions {
  /** The rate: a number, a scalar tensor or a schedule. */
  readonly lr: Rate;
  /** Share of the parameter that is added to its gradient (or decays, in AdamW). */
  readonly weightDecay?: number;
  /** Scales all gradients so that their common norm is at most this. */
  readonly clipNorm?: number;
  /** Scales each gradient by itself so that its norm is at most this. */
  readonly clipEach?: number;
  /** Bounds every element of a gradient. */
  readonly clipValue?: number;
  /**
   * Steps whose gradients are averaged before parameters are updated, default 1: a step is then
   * `accumulate` calls, and between them parameters, other state and schedules stay as they are. It
   * takes one more tensor a parameter.
   */
  readonly accumulate?: number;
  /**
   * What `step` does about parameters that do not reach the loss: "skip" (the default) leaves them
   * and their state as they are, and tells their names once on the console; "error" throws.
   */
  readonly unused?: "skip" | "error";
  /**
   * Parameters of f16 and bf16 are moved in f32 and rounded to what they are: a master of each is
   * state, so that no step is lost for being less than half an ulp. True by default; without, a
   * parameter is all there is, and small steps leave it where it was.
   */
  readonly masters?: boolean;
  /** Prefix of the names of state; the kind of optimizer by default. */
  readonly name?: string;
}

export const optimizerOptions: OptionNames<OptimizerOptions> = {
  lr: 1,
  weightDecay: 1,
  clipNorm: 1,
  clipEach: 1,
  clipValue: 1,
  accumulate: 1,
  unused: 1,
  masters: 1,
  name: 1,
};
