/**
 * A decoder at work: its caches, and one program for chunks of prompts, one for steps of a token,
 * one for what is chosen.
 * Texts of a batch stand at positions of their own; where one has no token, its position is beyond
 * the cache and nothing is written.
 */
import {
  type CompiledFunction,
  compile,
  type EntryFunction,
  type TargetOption,
  versionOf,
} from "kiln-ml";
import { checkOptions, type OptionNames, type Tensor, takeAlongAxis } from "kiln-ml/ir";
import { type CacheDtype, checkCacheDtype, type LayerCache, reachOf } from "./cache.ts";
import { LanguageModelError } from "./errors.ts";
import { chooseBy, knobsOf, likeliest, programOf, type SamplingOptions } from "./sampler.ts";
import type { TextNet } from "./text-net.ts";
import { checkTurn, type TextRunner } from "./text-runner.ts";
import { historyFeed, placesOf, stepFeeds, WrittenTokens } from "./written-tokens.ts";

export interface TextSessionOptions {
  /** Where it runs; the default target if not given. */
  readonly target?: TargetOption;
  /** Texts at once, default 1. */
  readonly batch?: number;
  /** The most tokens of a text, prompt and answer; what the model was made for by default. */
  readonly capacity?: number;
  /** Tokens of a prompt that run at once, default 128. */
  readonly chunk?: number;
  /**
   * What keys and values are kept as, default "f32": "f16" takes half, "int8" a little more than a
   * quarter.
   */
  readonly cache?: CacheDtype;
}

const sessionOptions: OptionNames<TextSessionOptions> = {
  target: 1,
  batch: 1,
  capacity: 1,
  chunk: 1,
  cache: 1,
};

type Step = CompiledFunction<[Tensor, Tensor, Tensor, Tensor], Tensor>;
type Choice = CompiledFunction<[Tensor, Tensor, Tensor, Tensor], Tensor>;

/** Steps take tokens, positions, keys and the places of the last tokens, and give scores. */
export type SessionPrograms = Readonly<Record<string, EntryFunction>> & {
  readonly prefill: Step;
  readonly decode: Step;
  readonly greedy: EntryFunction;
  /** Draws, with values of options of sampling as inputs; `sampleFirst` as `first`. */
  readonly sample: EntryFunction;
  /** Of models that have tokens which are not made first. */
  readonly first?: EntryFunction;
};

/** Scores, texts, the key of a draw, and values of options. */
const choiceInputs = (batch: number, vocabulary: number) => [
  { name: "scores", shape: [batch, vocabulary] },
  { name: "history", shape: [batch, "H"], dtype: "i32" as const },
  { name: "key", shape: [2], dtype: "u32" as const },
  { name: "knobs", shape: [4] },
];

/** Programs that choose, at most: a caller may ask for any number of values of `topK`. */
const mostChoices = 8;

/**
 * A decoder with room for `batch` texts of `capacity` tokens. Throws LanguageModelError for a
 * capacity beyond the model's context.
 *
 *     const session = new TextSession(net, { target: "wasm", capacity: 512 });
 */
export class TextSession implements TextRunner<Tensor> {
  readonly net: TextNet;
  readonly batch: number;
  readonly capacity: number;
  readonly chunk: number;
  readonly cache: readonly LayerCache[];
  readonly #target: TargetOption | undefined;
  readonly #prefill: Step;
  readonly #decode: Step;
  readonly #choices = new Map<string, Choice>();
  readonly #places: Int32Array;
  readonly #written: WrittenTokens;
  /** The version of the weights that they were computed with. */
  #writtenAt = 0;
  #weights: readonly Tensor[] = [];
  #ran = 0;
  #turn = 0;

  constructor(net: TextNet, options: TextSessionOptions = {}) {
    checkOptions("textSession", options, sessionOptions);
    const { batch = 1, capacity = net.config.context, chunk = 128, target } = options;
    const { cache: dtype = "f32" } = options;
    checkCacheDtype(dtype);
    for (const [name, value] of Object.entries({ batch, capacity, chunk }))
      if (!(Number.isInteger(value) && value > 0))
        throw new LanguageModelError(
          `textSession: ${name} must be an integer of 1 or more, got ${String(value)}`,
        );
    if (capacity > net.config.context)
      throw new LanguageModelError(
        `textSession: capacity ${capacity} is beyond the ${net.config.context} tokens that the model was made for\n  give a smaller capacity`,
      );
    this.net = net;
    this.batch = batch;
    this.capacity = capacity;
    this.chunk = chunk;
    this.cache = net.caches(batch, capacity, { dtype, chunk });
    this.#target = target;
    this.#written = new WrittenTokens(batch, reachOf(this.cache, net.config.window));
    this.#places = placesOf(capacity);
    this.#prefill = this.#compiled("prefill", "T");
    this.#decode = this.#compiled("decode", 1);
  }

  #compiled(name: string, length: string | number): Step {
    const of = (input: string, ...shape: (string | number)[]) => ({
      name: input,
      shape,
      dtype: "i32" as const,
    });
    const step = (tokens: Tensor, positions: Tensor, keys: Tensor, last: Tensor): Tensor => {
      const y = this.net.hidden({ tokens, positions, keys }, this.cache);
      const row = last.reshape([this.batch, 1, 1]).broadcastTo([this.batch, 1, y.shape[2]!]);
      return this.net.scores(takeAlongAxis(y, row, 1).reshape([this.batch, y.shape[2]!]));
    };
    return compile(step, {
      name,
      ...(this.#target && { target: this.#target }),
      inputs: [
        of("tokens", this.batch, length),
        of("positions", this.batch, length),
        of("keys", "S"),
        of("last", this.batch),
      ],
    });
  }

  /**
   * Its steps as entries of an artifact, which share weights and caches, and `greedy`, which takes
   * scores to the likeliest tokens that the model may make: what `exportEntries` takes. `sample`
   * draws by the values of options that it is given. `first` and `sampleFirst` are there where the
   * model says what is not made first, and go in their places after the prompt. A session that has
   * run has what it ran in its caches.
   *
   *     const all = await exportEntries(session.programs(), { targets: ["wasm", "webgpu"] });
   */
  programs(): SessionPrograms {
    const { vocabulary, suppress = [], beginSuppress = [] } = this.net.config;
    const best = (without: readonly number[]): EntryFunction => ({
      fn: (scores: Tensor) => likeliest(scores, without),
      inputs: [{ name: "scores", shape: [this.batch, vocabulary] }],
    });
    return {
      prefill: this.#prefill,
      decode: this.#decode,
      greedy: best(suppress),
      sample: this.#sampling(suppress),
      ...(beginSuppress.length && {
        first: best([...suppress, ...beginSuppress]),
        sampleFirst: this.#sampling([...suppress, ...beginSuppress]),
      }),
    };
  }

  /** Draws by all filters but topK, which is a constant of a program; values of options come in. */
  #sampling(suppress: readonly number[]): EntryFunction {
    const all = { temperature: 1, topP: 0.5, minP: 0.5, repetitionPenalty: 2, suppress };
    return {
      fn: (scores: Tensor, history: Tensor, key: Tensor, knobs: Tensor) =>
        chooseBy(scores, history, key, knobs, all),
      inputs: choiceInputs(this.batch, this.net.config.vocabulary),
    };
  }

  /** Programs compiled so far. */
  get compiles(): number {
    const all = [this.#prefill, this.#decode, ...this.#choices.values()];
    return all.reduce((sum, f) => sum + f.compiles, 0);
  }

  /** Tokens that ran so far, of prompts and of what was made. */
  get ran(): number {
    return this.#ran;
  }

  /**
   * How many tokens of text `b` need not run again: those that it begins with as the text before it
   * did. None after a weight has changed.
   */
  known(b: number, text: readonly number[]): number {
    if (this.#writtenAt !== this.#weightsVersion()) return 0;
    return this.#written.known(b, text);
  }

  /** How many tokens before its end a text may be taken up again. */
  get reach(): number {
    return this.#written.reach;
  }

  /** Nothing is known of what has run: what texts stand beside is another. */
  forget(): void {
    this.#written.forget();
  }

  #weightsVersion(): number {
    return this.#weights.reduce((sum, p) => sum + versionOf(p), 0);
  }

  /** Begins a generation: one that began before it ends with an error, as they share the caches. */
  begin(): number {
    this.#weights = [...this.net.state().values()];
    return ++this.#turn;
  }

  /** Throws LanguageModelError if another generation has begun since. */
  checkTurn(turn: number): void {
    checkTurn(turn, this.#turn);
  }

  /**
   * Runs the tokens of each text that are new, from position `at` of each, and resolves to the
   * scores after the last one: f32[batch, vocabulary], meaningless for a text without new tokens.
   * At most `chunk` of them at once. The caches must hold what is before them.
   */
  async step(texts: readonly (readonly number[])[], at: readonly number[]): Promise<Tensor> {
    const { run, feeds } = this.#stepOf(texts, at);
    this.#forgetAfter(texts, at);
    const scores = await run(...feeds);
    this.#written.end(texts, at);
    this.#ran += texts.reduce((sum, t) => sum + t.length, 0);
    return scores;
  }

  /** The kernels of such a step: their times, bytes and operations. */
  async profile(
    texts: readonly (readonly number[])[],
    at: readonly number[],
  ): ReturnType<Step["profile"]> {
    const { run, feeds } = this.#stepOf(texts, at);
    this.#forgetAfter(texts, at);
    return run.profile(...feeds);
  }

  #stepOf(texts: readonly (readonly number[])[], at: readonly number[]) {
    const { length, feeds } = stepFeeds(this, this.#places, texts, at);
    return { run: length === 1 ? this.#decode : this.#prefill, feeds };
  }

  /** What a step overwrites is not known until it has run, and nothing is once weights change. */
  #forgetAfter(texts: readonly (readonly number[])[], at: readonly number[]): void {
    const version = this.#weightsVersion();
    if (version !== this.#writtenAt) this.#written.forget();
    this.#writtenAt = version;
    this.#written.begin(texts, at);
  }

  /** Tokens chosen by scores, as `choose` does. */
  async choose(
    scores: Tensor,
    history: readonly (readonly number[])[],
    key: readonly [number, number],
    options: SamplingOptions,
  ): Promise<number[]> {
    const choice = this.#choiceFor(options);
    const isAsked = (options.repetitionPenalty ?? 1) !== 1;
    const shaped = historyFeed(history, isAsked, this.batch, this.net.config.vocabulary);
    const chosen = await choice(scores, shaped, Uint32Array.from(key), knobsOf(options));
    return [...(await chosen.data())] as number[];
  }

  /** The one that was used last is the last of the map; the first goes where there are too many. */
  #choiceFor(options: SamplingOptions): Choice {
    const name = programOf(options);
    const choice = this.#choices.get(name) ?? this.#choice(options);
    this.#choices.delete(name);
    this.#choices.set(name, choice);
    const [[oldest, first]] = this.#choices as unknown as [[string, Choice]];
    if (this.#choices.size > mostChoices) {
      this.#choices.delete(oldest);
      void first.dispose();
    }
    return choice;
  }

  #choice(options: SamplingOptions): Choice {
    return compile(
      (scores: Tensor, history: Tensor, key: Tensor, knobs: Tensor) =>
        chooseBy(scores, history, key, knobs, options),
      {
        name: "choose",
        ...(this.#target && { target: this.#target }),
        inputs: choiceInputs(this.batch, this.net.config.vocabulary),
      },
    );
  }

  /** Gives back what its programs take. */
  async dispose(): Promise<void> {
    await Promise.all(
      [this.#prefill, this.#decode, ...this.#choices.values()].map((f) => f.dispose()),
    );
  }
}
