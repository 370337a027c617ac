/**
 * What makes texts: a session that compiles its model, or one of programs that are compiled
 * already.
 */
import { LanguageModelError } from "./errors.ts";
import type { SamplingOptions } from "./sampler.ts";
import type { TextNet } from "./text-net.ts";

export interface TextRunner<Scores = unknown> {
  readonly net: Pick<TextNet, "config">;
  /** Texts at once, the most tokens of one, and of a prompt that run at once. */
  readonly batch: number;
  readonly capacity: number;
  readonly chunk: number;
  /** Tokens that ran so far, of prompts and of what was made. */
  readonly ran: number;
  /** How many tokens of text `b` need not run again. */
  known(b: number, text: readonly number[]): number;
  /** Begins a generation: one that began before it ends with an error. */
  begin(): number;
  /** Throws LanguageModelError if another generation has begun since. */
  checkTurn(turn: number): void;
  /** Throws LanguageModelError for options that `choose` cannot take, where there are such. */
  checkSampling?(options: SamplingOptions): void;
  /** Runs what is new of each text, from position `at` of each: scores after the last one. */
  step(texts: readonly (readonly number[])[], at: readonly number[]): Promise<Scores>;
  /** Tokens by such scores. */
  choose(
    scores: Scores,
    history: readonly (readonly number[])[],
    key: readonly [number, number],
    options: SamplingOptions,
  ): Promise<number[]>;
  dispose(): Promise<void>;
}

/** Throws LanguageModelError if the generation `turn` is not the last that began. */
export function checkTurn(turn: number, now: number): void {
  if (turn !== now)
    throw new LanguageModelError(
      "generate: another generation has begun on this session\n  await one before the next, or make a session for each",
    );
}
