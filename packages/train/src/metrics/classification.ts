/**
 * Measures of classes. All are sums of counts in i32, exact up to 2³¹ samples an epoch. Scores are logits or probabilities, float[…, C];
 * targets are classes, i32[…]; of equal scores the first class counts.
 */
import {
  checkOptions,
  GraphError,
  iota,
  kindOf,
  type OptionNames,
  takeAlongAxis,
} from "@kiln-ml/ir";
import type { HostSums, Metric, MetricValue } from "../meter.ts";
import { checkChoice, checkClasses, checkSameShape, countOf, hotRows } from "./counting.ts";

/** Share of samples whose largest score is at their class. */
export const accuracy = (): Metric => ({
  name: "accuracy",
  mode: "max",
  batch(scores, target) {
    checkClasses("accuracy", scores, target);
    const right = scores.argMax(-1).equal(target.convert("i32")).convert("i32").sum();
    return { right, count: countOf(target) };
  },
  value: ({ right, count }) => right![0]! / count![0]!,
});

/** Share of samples whose class is among the `k` largest scores. */
export function topK(k: number): Metric {
  if (!Number.isInteger(k) || k < 1)
    throw new GraphError(`topK: k must be a whole number of 1 or more, got ${kindOf(k)}`);
  return {
    name: `top${k}`,
    mode: "max",
    batch(scores, target) {
      checkClasses("topK", scores, target);
      const at = target.convert("i32").expandDims(-1);
      const own = takeAlongAxis(scores, at, -1);
      const places = iota(scores.shape, scores.rank - 1);
      const before = scores.greater(own).or(scores.equal(own).and(places.less(at)));
      const right = before.convert("i32").sum(-1).less(k).convert("i32").sum();
      return { right, count: countOf(target) };
    },
    value: ({ right, count }) => right![0]! / count![0]!,
  };
}

/** Counts of (target, guess): rows are the classes that are, columns those that were guessed. */
export const confusionMatrix = (): Metric => ({
  name: "confusion",
  batch(scores, target) {
    const { guessed, actual } = hotRows("confusionMatrix", scores, target);
    return { counts: actual.transpose().matmul(guessed).convert("i32") };
  },
  value({ counts }) {
    const n = Math.sqrt(counts!.length);
    return Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => counts![i * n + j]!),
    );
  },
});

export type Average = "macro" | "micro" | "weighted" | "none";

export interface AverageOptions {
  /**
   * "macro" (the default): the mean over the classes that were seen, as target or guess; "weighted": weighted by targets; "micro": from the
   * counts of all classes together; "none": one value a class.
   */
  readonly average?: Average;
}

const averages: readonly Average[] = ["macro", "micro", "weighted", "none"];
const averageOptions: OptionNames<AverageOptions> = { average: 1 };

/** Right guesses, guesses and targets of a class. */
type Ratio = (right: number, guessed: number, actual: number) => number;

const over = (a: number, b: number): number => (b ? a / b : 0);

function averaged(average: Average, ratio: Ratio, sums: HostSums): MetricValue {
  const { right, guessed, actual } = sums as Record<"right" | "guessed" | "actual", number[]>;
  const total = (list: ArrayLike<number>): number => Array.from(list).reduce((a, b) => a + b, 0);
  if (average === "micro") return ratio(total(right), total(guessed), total(actual));
  const each = Array.from(right, (r, i) => ratio(r, guessed[i]!, actual[i]!));
  if (average === "none") return each;
  const weights = each.map((_, i) =>
    average === "weighted" ? actual[i]! : Number(guessed[i]! + actual[i]! > 0),
  );
  return over(
    each.reduce((sum, v, i) => sum + v * weights[i]!, 0),
    total(weights),
  );
}

function byClass(name: string, average: Average, ratio: Ratio): Metric {
  checkChoice(name, "average", average, averages);
  return {
    name,
    mode: "max",
    batch(scores, target) {
      const { guessed, actual } = hotRows(name, scores, target);
      const count = (rows: typeof guessed) => rows.sum(0).convert("i32");
      return {
        right: count(guessed.mul(actual)),
        guessed: count(guessed),
        actual: count(actual),
      };
    },
    value: (sums) => averaged(average, ratio, sums),
  };
}

/** right / guessed, by class; 0 for a class that was never guessed. */
export function precision(options: AverageOptions = {}): Metric {
  const { average = "macro" } = checkOptions("precision", options, averageOptions);
  return byClass("precision", average, (right, guessed) => over(right, guessed));
}

/** right / actual, by class; 0 for a class that never was. */
export function recall(options: AverageOptions = {}): Metric {
  const { average = "macro" } = checkOptions("recall", options, averageOptions);
  return byClass("recall", average, (right, _, actual) => over(right, actual));
}

/** (1 + β²)·right / (guessed + β²·actual), by class: the harmonic mean of precision and recall for β = 1. */
export function fBeta(beta: number, options: AverageOptions = {}): Metric {
  const { average = "macro" } = checkOptions("fBeta", options, averageOptions);
  if (typeof beta !== "number" || !(beta > 0 && beta < Infinity))
    throw new GraphError(`fBeta: beta must be positive, got ${kindOf(beta)}`);
  const b = beta * beta;
  return byClass(beta === 1 ? "f1" : `f${beta}`, average, (right, guessed, actual) =>
    over((1 + b) * right, guessed + b * actual),
  );
}

export const f1 = (options: AverageOptions = {}): Metric => fBeta(1, options);

export interface ThresholdOptions {
  /** A label is guessed where its score is above this, default 0.5; 0 for logits. */
  readonly threshold?: number;
}

/** Share of labels that are right, of samples with several: scores and targets of one shape, targets 0 or 1. */
export function hammingScore(options: ThresholdOptions = {}): Metric {
  const { threshold = 0.5 } = checkOptions("hammingScore", options, { threshold: 1 });
  return {
    name: "hammingScore",
    mode: "max",
    batch(scores, target) {
      checkSameShape("hammingScore", scores, target);
      const right = scores.greater(threshold).equal(target.convert("f32").greater(0.5));
      return { right: right.convert("i32").sum(), count: countOf(target) };
    },
    value: ({ right, count }) => right![0]! / count![0]!,
  };
}
