/**
 * Areas under curves, of scores of one class against the rest. In a program they are streamed: scores are counted in bins, so the values
 * are exact for scores rounded down to a bin, ties counting half. `aurocOf` and `averagePrecisionOf` are exact on all values.
 */
import {
  checkOptions,
  full,
  GraphError,
  kindOf,
  type OptionNames,
  scatter,
  select,
  zeros,
} from "@kiln-ml/ir";
import type { HostSums, Metric } from "../meter.ts";
import { checkSameShape } from "./counting.ts";

export interface RankingOptions {
  /** Bins from 0 to 1, default 1024. */
  readonly bins?: number;
  /** Scores are logits, of which the sigmoid is taken; probabilities if false, the default. */
  readonly logits?: boolean;
}

const names: OptionNames<RankingOptions> = { bins: 1, logits: 1 };

/** Samples of both kinds by falling score: those of one entry are ties. */
type Ranked = readonly (readonly [positive: number, negative: number])[];

function binned(op: string, options: RankingOptions, value: (ranked: Ranked) => number): Metric {
  const { bins = 1024, logits = false } = checkOptions(op, options, names);
  if (!Number.isInteger(bins) || bins < 2)
    throw new GraphError(`${op}: bins must be a whole number of 2 or more, got ${kindOf(bins)}`);
  return {
    name: op,
    mode: "max",
    batch(scores, target) {
      checkSameShape(op, scores, target);
      const chance = (logits ? scores.sigmoid() : scores).convert("f32").reshape([-1]);
      const bin = chance
        .mul(bins)
        .floor()
        .maximum(0)
        .minimum(bins - 1)
        .convert("i32");
      const positive = target.convert("f32").reshape([-1]).greater(0.5);
      const ones = (yes: number, no: number) =>
        select(positive, full([], yes, "i32"), full([], no, "i32"));
      const count = (values: typeof bin) => scatter(zeros([bins], "i32"), values, [bin], [0]);
      return { positive: count(ones(1, 0)), negative: count(ones(0, 1)) };
    },
    value: ({ positive, negative }: HostSums) =>
      value(Array.from(positive!, (p, i) => [p, negative![i]!] as const).reverse()),
  };
}

/** The chance that a positive has a larger score than a negative: Hanley & McNeil 1982. NaN unless there are both. */
function areaOfRoc(ranked: Ranked): number {
  let [above, area, positives, negatives] = [0, 0, 0, 0];
  for (const [p, n] of ranked) {
    area += n * (above + p / 2);
    above += p;
    positives += p;
    negatives += n;
  }
  return positives && negatives ? area / (positives * negatives) : NaN;
}

/** Σ (Rᵢ − Rᵢ₋₁)·Pᵢ over falling thresholds, as scikit-learn's average_precision_score. NaN without positives. */
function areaOfPrecision(ranked: Ranked): number {
  let [right, guessed, area] = [0, 0, 0];
  for (const [p, n] of ranked) {
    right += p;
    guessed += p + n;
    if (p) area += (p * right) / guessed;
  }
  return right ? area / right : NaN;
}

/** Area under the curve of true over false positives. scores: float[S] from 0 to 1, target: 0 or 1 of the same shape. */
export const auroc = (options: RankingOptions = {}): Metric => binned("auroc", options, areaOfRoc);

/** Area under the curve of precision over recall, as average precision. Shapes as in `auroc`. */
export const averagePrecision = (options: RankingOptions = {}): Metric =>
  binned("averagePrecision", options, areaOfPrecision);

function rankedBy(op: string, scores: ArrayLike<number>, labels: ArrayLike<number>): Ranked {
  for (const [what, list] of [
    ["scores", scores],
    ["labels", labels],
  ] as const)
    if (!Array.isArray(list) && !ArrayBuffer.isView(list))
      throw new GraphError(
        `${op}: ${what} must be a list or a typed array, got ${kindOf(list)}\n  pass one for each sample; a tensor's are await t.data()`,
      );
  for (const [what, list] of [
    ["score", scores],
    ["label", labels],
  ] as const)
    for (let i = 0; i < list.length; i++)
      if (typeof list[i] !== "number")
        throw new GraphError(
          `${op}: ${what} ${i} must be a number, got ${kindOf(list[i])}\n  labels are 0 or 1`,
        );
  if (scores.length !== labels.length)
    throw new GraphError(`${op}: ${scores.length} scores, ${labels.length} labels`);
  const order = Array.from(scores, (_, i) => i).sort((a, b) => scores[b]! - scores[a]!);
  const ranked: [number, number][] = [];
  for (const [at, i] of order.entries()) {
    if (at === 0 || scores[i] !== scores[order[at - 1]!]) ranked.push([0, 0]);
    ranked.at(-1)![labels[i]! > 0.5 ? 0 : 1]++;
  }
  return ranked;
}

/** `auroc` of values on the host, exact. */
export const aurocOf = (scores: ArrayLike<number>, labels: ArrayLike<number>): number =>
  areaOfRoc(rankedBy("aurocOf", scores, labels));

/** `averagePrecision` of values on the host, exact. */
export const averagePrecisionOf = (scores: ArrayLike<number>, labels: ArrayLike<number>): number =>
  areaOfPrecision(rankedBy("averagePrecisionOf", scores, labels));
