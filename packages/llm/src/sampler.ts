/**
 * The next token of scores, chosen in the graph: penalties, temperature, then what may be chosen at
 * all, then a draw. Only tokens leave the device.
 */
import {
  argMax,
  checkOptions,
  cumsum,
  iota,
  minOf,
  type OptionNames,
  random,
  scatter,
  select,
  sort,
  type Tensor,
  topK,
  zeros,
} from "kiln-ml/ir";
import { LanguageModelError } from "./errors.ts";

export interface SamplingOptions {
  /** Scores are divided by it; 0, the default, takes the best token. */
  readonly temperature?: number;
  /** Draws from the best K tokens. */
  readonly topK?: number;
  /** Draws from the fewest best tokens whose probabilities sum to this. */
  readonly topP?: number;
  /** Draws from tokens at least this probable, as a part of the best one's probability. */
  readonly minP?: number;
  /**
   * Scores of tokens that the text has are divided by it, negative ones multiplied; 1 by default.
   * Keskar et al. 2019.
   */
  readonly repetitionPenalty?: number;
}

export const samplingOptions: OptionNames<SamplingOptions> = {
  temperature: 1,
  topK: 1,
  topP: 1,
  minP: 1,
  repetitionPenalty: 1,
};

/** Throws LanguageModelError for numbers that mean nothing. */
export function checkSampling(options: SamplingOptions, vocabulary: number): void {
  const { temperature = 0, topK: k, topP = 1, minP = 0, repetitionPenalty = 1 } = options;
  const refuse = (what: string, value: unknown): never => {
    throw new LanguageModelError(`generate: ${what}, got ${String(value)}`);
  };
  if (!(temperature >= 0 && temperature < Infinity))
    refuse("temperature must be 0 or more", temperature);
  if (k !== undefined && !(Number.isInteger(k) && k >= 1 && k <= vocabulary))
    refuse(`topK must be an integer from 1 to ${vocabulary}, the size of the vocabulary`, k);
  if (!(topP > 0 && topP <= 1)) refuse("topP must be above 0 and at most 1", topP);
  if (!(minP >= 0 && minP <= 1)) refuse("minP must be from 0 to 1", minP);
  if (!(repetitionPenalty > 0 && repetitionPenalty < Infinity))
    refuse("repetitionPenalty must be above 0", repetitionPenalty);
}

/**
 * scores f32[B, V], history i32[B, H] with tokens of the texts (V and beyond are none), key u32[2]
 * → tokens i32[B].
 *
 *     choose(scores, history, key, { temperature: 0.8, topP: 0.95 })
 */
export function choose(
  scores: Tensor,
  history: Tensor,
  key: Tensor,
  options: SamplingOptions = {},
): Tensor {
  checkOptions("choose", options, samplingOptions);
  const { temperature = 0, repetitionPenalty = 1 } = options;
  const x = repetitionPenalty === 1 ? scores : penalised(scores, history, repetitionPenalty);
  if (temperature === 0) return argMax(x, [-1]);
  const kept = filtered(x.div(temperature), options);
  return argMax(kept.add(random.gumbel(key, kept.shape)), [-1]);
}

function penalised(x: Tensor, history: Tensor, penalty: number): Tensor {
  const text = iota(history.shape, 0);
  const ones = zeros(history.shape).add(1);
  const seen = scatter(zeros(x.shape), ones, [text, history], [0, 1], "set").greater(0);
  return select(seen, select(x.greater(0), x.div(penalty), x.mul(penalty)), x);
}

/**
 * Scores of what is left out become the lowest number. Each filter sees what the one before left.
 */
function filtered(scores: Tensor, { topK: k, topP = 1, minP = 0 }: SamplingOptions): Tensor {
  const lowest = minOf(scores.dtype);
  let x = scores;
  const keepFrom = (least: Tensor): void => {
    x = select(x.greaterEqual(least), x, lowest);
  };
  if (k !== undefined) keepFrom(topK(x, k, -1).values.min([-1], { keepDims: true }));
  if (topP < 1) {
    const sorted = sort(x, -1, { descending: true });
    const before = cumsum(sorted.softmax(-1), -1, { exclusive: true });
    keepFrom(select(before.less(topP), sorted, Infinity).min([-1], { keepDims: true }));
  }
  if (minP > 0) keepFrom(x.max([-1], { keepDims: true }).add(Math.log(minP)));
  return x;
}
