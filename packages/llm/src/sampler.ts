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
  tensor,
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
  /** Tokens that are never chosen. */
  readonly suppress?: readonly number[];
}

export const samplingOptions: OptionNames<SamplingOptions> = {
  temperature: 1,
  topK: 1,
  topP: 1,
  minP: 1,
  repetitionPenalty: 1,
  suppress: 1,
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
  checkTokens("suppress", options.suppress, vocabulary);
}

/** Throws LanguageModelError unless all of a list are tokens, and others are left. */
export function checkTokens(
  name: string,
  tokens: readonly number[] = [],
  vocabulary: number,
): void {
  const odd = tokens.find((t) => !(Number.isInteger(t) && t >= 0 && t < vocabulary));
  if (odd !== undefined)
    throw new LanguageModelError(
      `generate: ${name} has token ${String(odd)}, the model knows ${vocabulary}`,
    );
  if (new Set(tokens).size === vocabulary)
    throw new LanguageModelError(`generate: ${name} leaves no token of ${vocabulary}`);
}

/** Values of options that a run gives: programs are one for all of them. */
type Knob = number | Tensor;

interface Knobs {
  readonly temperature: Knob;
  readonly topP: Knob;
  readonly minP: Knob;
  readonly repetitionPenalty: Knob;
}

const knobNames = ["temperature", "topP", "minP", "repetitionPenalty"] as const;

/** The program that options need: which filters there are, and how many tokens the first keeps. */
export const programOf = (options: SamplingOptions): string =>
  JSON.stringify([
    (options.temperature ?? 0) > 0,
    options.topK ?? 0,
    (options.topP ?? 1) < 1,
    (options.minP ?? 0) > 0,
    (options.repetitionPenalty ?? 1) !== 1,
    options.suppress ?? [],
  ]);

const nothing = { temperature: 0, topP: 1, minP: 0, repetitionPenalty: 1 };

/** The values of options: f32[4]. */
export const knobsOf = (options: SamplingOptions): Float32Array =>
  Float32Array.from(knobNames, (name) => options[name] ?? nothing[name]);

/** `choose` with the values of `knobs` in place of those of the options, which say what is done. */
export function chooseBy(
  scores: Tensor,
  history: Tensor,
  key: Tensor,
  knobs: Tensor,
  options: SamplingOptions,
): Tensor {
  const values = knobNames.map((name, i) => [name, knobs.slice([i], [i + 1]).reshape([])]);
  return chosen(scores, history, key, options, Object.fromEntries(values));
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
  return chosen(scores, history, key, options, { ...nothing, ...options });
}

function chosen(
  scores: Tensor,
  history: Tensor,
  key: Tensor,
  options: SamplingOptions,
  knobs: Knobs,
): Tensor {
  const { temperature = 0, repetitionPenalty = 1 } = options;
  const all =
    repetitionPenalty === 1 ? scores : penalised(scores, history, knobs.repetitionPenalty);
  if (temperature === 0) return likeliest(all, options.suppress);
  const x = without(all, options.suppress);
  const kept = filtered(x.div(knobs.temperature), options, knobs);
  return argMax(kept.add(random.gumbel(key, kept.shape)), [-1]);
}

/** The best of each text's scores, but for these tokens. */
export const likeliest = (scores: Tensor, suppress?: readonly number[]): Tensor =>
  argMax(without(scores, suppress), [-1]);

/** Scores of these tokens become the lowest number: none of them is the best, or likely. */
function without(x: Tensor, tokens: readonly number[] = []): Tensor {
  if (tokens.length === 0) return x;
  const vocabulary = x.shape.at(-1) as number;
  const flags = new Uint8Array(vocabulary);
  for (const t of tokens) flags[t] = 1;
  const isOut = tensor(flags, { dtype: "bool" }).broadcastTo(x.shape);
  return select(isOut, minOf(x.dtype), x);
}

function penalised(x: Tensor, history: Tensor, penalty: Knob): Tensor {
  const text = iota(history.shape, 0);
  const ones = zeros(history.shape).add(1);
  const seen = scatter(zeros(x.shape), ones, [text, history], [0, 1], "set").greater(0);
  return select(seen, select(x.greater(0), x.div(penalty), x.mul(penalty)), x);
}

/**
 * Scores of what is left out become the lowest number. Each filter sees what the one before left.
 */
function filtered(
  scores: Tensor,
  { topK: k, topP = 1, minP = 0 }: SamplingOptions,
  knobs: Knobs,
): Tensor {
  const lowest = minOf(scores.dtype);
  let x = scores;
  const keepFrom = (least: Tensor): void => {
    x = select(x.greaterEqual(least), x, lowest);
  };
  if (k !== undefined) keepFrom(topK(x, k, -1).values.min([-1], { keepDims: true }));
  if (topP < 1) {
    const sorted = sort(x, -1, { descending: true });
    const before = cumsum(sorted.softmax(-1), -1, { exclusive: true });
    keepFrom(select(before.less(knobs.topP), sorted, Infinity).min([-1], { keepDims: true }));
  }
  if (minP > 0) {
    const log = typeof knobs.minP === "number" ? Math.log(knobs.minP) : knobs.minP.log();
    keepFrom(x.max([-1], { keepDims: true }).add(log));
  }
  return x;
}
