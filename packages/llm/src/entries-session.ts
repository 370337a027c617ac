/**
 * Texts by the programs of an artifact, which `exportEntries(session.programs())` made: the runtime
 * alone, without the compiler. Which tokens end a text, and how many fit, stands in `text.json`
 * beside it.
 */
import type { LoadedEntries } from "kiln-ml/entries";
import { LanguageModelError, shown } from "./errors.ts";
import { knobsOf, type SamplingOptions } from "./sampler.ts";
import type { TextSession } from "./session.ts";
import { checkTurn, type TextRunner } from "./text-runner.ts";
import { historyFeed, placesOf, stepFeeds, WrittenTokens } from "./written-tokens.ts";

/** What a program gives. */
type DeviceArray = Awaited<ReturnType<LoadedEntries["run"]>>[number];

/** What programs do not say of the texts that they make. */
export interface TextFacts {
  readonly batch: number;
  readonly capacity: number;
  readonly chunk: number;
  /** Tokens before its end that a text may be taken up again; null for any. */
  readonly reach: number | null;
  readonly vocabulary: number;
  readonly ends: readonly number[];
  readonly suppress: readonly number[];
  readonly beginSuppress: readonly number[];
}

/** The file that has them. */
export const factsName = "text.json";

/** What a session's programs do not say. */
export function factsOf({ batch, capacity, chunk, reach, net }: TextSession): TextFacts {
  const { vocabulary, ends, suppress = [], beginSuppress = [] } = net.config;
  const far = Number.isFinite(reach) ? reach : null;
  return { batch, capacity, chunk, reach: far, vocabulary, ends, suppress, beginSuppress };
}

/** Facts of a file. Throws LanguageModelError for what is none. */
export function factsIn(value: unknown): TextFacts {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isCount = (x: unknown, least: number): boolean =>
    Number.isSafeInteger(x) && (x as number) >= least;
  const counts = ["batch", "capacity", "chunk", "vocabulary"];
  const lists = ["ends", "suppress", "beginSuppress"];
  const isList = (x: unknown): boolean =>
    Array.isArray(x) && x.every((t) => isCount(t, 0) && t < Number(given.vocabulary));
  const odd =
    counts.find((name) => !isCount(given[name], 1)) ??
    lists.find((name) => !isList(given[name])) ??
    (given.reach === null || isCount(given.reach, 0) ? undefined : "reach");
  if (odd !== undefined)
    throw new LanguageModelError(
      `${factsName}: ${odd} is ${shown(given[odd])}\n  compile the model again`,
    );
  return given as unknown as TextFacts;
}

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((t) => b.includes(t));

/**
 * A session over an artifact's entries: what `generate` takes.
 *
 *     const entries = await loadEntries(await openEntries("told"), createWasmDevice());
 *     const session = new EntriesSession(entries, factsIn(JSON.parse(text)));
 */
export class EntriesSession implements TextRunner<DeviceArray> {
  readonly net: TextRunner["net"];
  readonly batch: number;
  readonly capacity: number;
  readonly chunk: number;
  readonly #entries: LoadedEntries;
  readonly #facts: TextFacts;
  readonly #places: Int32Array;
  readonly #written: WrittenTokens;
  #ran = 0;
  #turn = 0;

  /** Throws LanguageModelError for entries that are not those of a session. */
  constructor(entries: LoadedEntries, facts: TextFacts) {
    const absent = ["prefill", "decode", "greedy"].filter((n) => !entries.entries.includes(n));
    if (absent.length)
      throw new LanguageModelError(
        `entriesSession: ${entries.name} has no ${absent.join(", ")}\n  its entries are ${entries.entries.join(", ")}, which make no texts`,
      );
    const { batch, capacity, chunk, reach, ...config } = facts;
    this.net = { config: { ...config, context: capacity } };
    [this.batch, this.capacity, this.chunk] = [batch, capacity, chunk];
    this.#entries = entries;
    this.#facts = facts;
    this.#places = placesOf(capacity);
    this.#written = new WrittenTokens(batch, reach ?? Infinity);
  }

  get ran(): number {
    return this.#ran;
  }

  known(b: number, text: readonly number[]): number {
    return this.#written.known(b, text);
  }

  begin(): number {
    return ++this.#turn;
  }

  checkTurn(turn: number): void {
    checkTurn(turn, this.#turn);
  }

  async step(texts: readonly (readonly number[])[], at: readonly number[]): Promise<DeviceArray> {
    const { length, feeds } = stepFeeds(this, this.#places, texts, at);
    this.#written.begin(texts, at);
    const [scores] = await this.#entries.run(length === 1 ? "decode" : "prefill", feeds);
    this.#written.end(texts, at);
    this.#ran += texts.reduce((sum, t) => sum + t.length, 0);
    return scores!;
  }

  /** Throws LanguageModelError for what none of the programs does. */
  checkSampling({ temperature = 0, topK, repetitionPenalty = 1 }: SamplingOptions): void {
    if (temperature === 0 && repetitionPenalty !== 1)
      throw new LanguageModelError(
        "generate: a compiled model weighs repetitions where it draws alone\n  give a temperature above 0 too",
      );
    // The likeliest token is among the K likeliest, whatever K is.
    if (temperature > 0 && topK !== undefined)
      throw new LanguageModelError(
        "generate: topK is a constant of a program, and a compiled model has none for it\n  give topP or minP, or take the model as it was before it was compiled",
      );
  }

  async choose(
    scores: DeviceArray,
    history: readonly (readonly number[])[],
    key: readonly [number, number],
    options: SamplingOptions,
  ): Promise<number[]> {
    const { temperature = 0, repetitionPenalty = 1 } = options;
    this.checkSampling(options);
    const place = this.#placeOf(options);
    const isDrawn = temperature > 0;
    const entry =
      place === "first" ? (isDrawn ? "sampleFirst" : "first") : isDrawn ? "sample" : "greedy";
    const { vocabulary } = this.#facts;
    const texts = historyFeed(history, repetitionPenalty !== 1, this.batch, vocabulary);
    const more = isDrawn ? [texts, Uint32Array.from(key), knobsOf(options)] : [];
    const [chosen] = await this.#entries.run(entry, [scores, ...more]);
    const tokens = [...(await chosen!.data())].map(Number);
    chosen!.dispose();
    scores.dispose();
    return tokens;
  }

  /** Where in a text a choice with such options stands. */
  #placeOf({ suppress = [] }: SamplingOptions): "first" | "next" {
    const { suppress: never, beginSuppress } = this.#facts;
    if (isSame(suppress, never)) return "next";
    if (isSame(suppress, [...new Set([...never, ...beginSuppress])])) return "first";
    throw new LanguageModelError(
      "generate: a compiled model suppresses what it was compiled to\n  leave suppress and beginSuppress out",
    );
  }

  async dispose(): Promise<void> {
    this.#entries.dispose();
  }
}
