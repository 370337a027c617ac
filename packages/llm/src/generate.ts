/**
 * Texts out of a session, token by token or in pieces of text.
 */
import { checkOptions, type OptionNames } from "kiln-ml/ir";
import { LanguageModelError } from "./errors.ts";
import { checkSampling, checkTokens, type SamplingOptions, samplingOptions } from "./sampler.ts";
import type { TextRunner } from "./text-runner.ts";
import { TextStream } from "./text-stream.ts";

export interface EncodeOptions {
  /** The text is a chat template's: its special tokens stand in it, and none is added. */
  readonly formatted?: boolean;
}

/** Text as tokens and back. */
export interface Tokenizer {
  /** How many tokens it knows. */
  readonly size: number;
  /** With the tokens that texts begin with, but for one that is formatted. */
  encode(text: string, options?: EncodeOptions): readonly number[];
  /** Bytes of UTF-8 that do not make whole characters become U+FFFD. */
  decode(tokens: readonly number[]): string;
}

export interface TokenOptions extends SamplingOptions {
  /** The most tokens to make; up to the capacity by default. */
  readonly maxTokens?: number;
  /** Draws are the same for the same seed, which is 0 by default. */
  readonly seed?: number;
  /** Ends it: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Tokens that end a text; the config's by default. */
  readonly ends?: readonly number[];
  /** Tokens that are not made first; the config's by default, as those of `suppress` are. */
  readonly beginSuppress?: readonly number[];
}

export interface GenerateOptions extends TokenOptions {
  /** Texts that end it; they are not given. */
  readonly stop?: string | readonly string[];
}

const tokenOptions: OptionNames<TokenOptions> = {
  ...samplingOptions,
  maxTokens: 1,
  seed: 1,
  signal: 1,
  ends: 1,
  beginSuppress: 1,
};
export const generateOptions: OptionNames<GenerateOptions> = { ...tokenOptions, stop: 1 };

/** Throws LanguageModelError for prompts that do not fit the session. */
function checkPrompts(session: TextRunner, prompts: readonly (readonly number[])[]): void {
  const { batch, capacity, net } = session;
  if (prompts.length !== batch)
    throw new LanguageModelError(
      `generate: the session is for ${batch} texts, got ${prompts.length} prompts\n  make it with { batch: ${prompts.length} }`,
    );
  for (const [i, prompt] of prompts.entries()) {
    if (prompt.length === 0)
      throw new LanguageModelError(
        `generate: prompt ${i} has no tokens\n  begin with the token that begins texts`,
      );
    if (prompt.length > capacity)
      throw new LanguageModelError(
        `generate: prompt ${i} has ${prompt.length} tokens, the session has room for ${capacity}\n  shorten it, or make the session with a larger capacity`,
      );
    const odd = prompt.find((t) => !(Number.isInteger(t) && t >= 0 && t < net.config.vocabulary));
    if (odd !== undefined)
      throw new LanguageModelError(
        `generate: prompt ${i} has token ${odd}, the model knows ${net.config.vocabulary}\n  take the tokenizer that came with the weights`,
      );
  }
}

/**
 * What follows each prompt, one token a text at a time; `undefined` for a text that has ended.
 * Prompts run in chunks, and what a prompt begins with as the text before it did does not run
 * again.
 *
 *     for await (const [token] of generateTokens(session, [[1, 9038]], { maxTokens: 20 })) console.log(token);
 */
export async function* generateTokens(
  session: TextRunner,
  prompts: readonly (readonly number[])[],
  options: TokenOptions = {},
): AsyncGenerator<(number | undefined)[]> {
  checkOptions("generateTokens", options, tokenOptions);
  const { maxTokens = Infinity, seed = 0, signal, ends = session.net.config.ends } = options;
  const { maxTokens: _m, seed: _s, signal: _a, ends: _e, ...more } = options;
  const { config } = session.net;
  const { beginSuppress = config.beginSuppress ?? [], ...given } = more;
  const { suppress = config.suppress ?? [] } = given;
  const sampling = { ...given, suppress };
  const first = { ...given, suppress: [...new Set([...suppress, ...beginSuppress])] };
  checkSampling(sampling, config.vocabulary);
  session.checkSampling?.(sampling);
  checkTokens("beginSuppress", first.suppress, config.vocabulary);
  checkPrompts(session, prompts);
  const texts = prompts.map((p) => [...p]);
  const turn = session.begin();
  // The scores after the last token are not kept: it always runs.
  const done = prompts.map((p, b) => Math.min(session.known(b, p), p.length - 1));
  const alive = prompts.map(() => true);
  for (let made = 0; made < maxTokens && alive.includes(true); made++) {
    const chosen = await nextTokens(session, texts, done, alive, {
      key: [seed >>> 0, made],
      sampling: made === 0 ? first : sampling,
      signal,
      turn,
    });
    const given = chosen.map((token, b) => {
      if (!alive[b] || token === undefined || ends.includes(token)) {
        alive[b] = false;
        return undefined;
      }
      texts[b]!.push(token);
      // The last token of a full text is given, and runs no more.
      if (texts[b]!.length > session.capacity) alive[b] = false;
      return token;
    });
    if (given.some((t) => t !== undefined)) yield given;
  }
}

interface Turn {
  readonly key: readonly [number, number];
  readonly sampling: SamplingOptions;
  readonly signal: AbortSignal | undefined;
  /** What `begin` gave. */
  readonly turn: number;
}

/**
 * Runs what is new of each text and chooses after it; shorter prompts of a batch are chosen for
 * when their last chunk has run.
 */
async function nextTokens(
  session: TextRunner,
  texts: readonly number[][],
  done: number[],
  alive: readonly boolean[],
  { key, sampling, signal, turn }: Turn,
): Promise<(number | undefined)[]> {
  const found: (number | undefined)[] = texts.map(() => undefined);
  for (;;) {
    signal?.throwIfAborted();
    const parts = texts.map((t, b) => (alive[b] ? t.slice(done[b], done[b]! + session.chunk) : []));
    if (parts.every((p) => p.length === 0)) return found;
    session.checkTurn(turn);
    const scores = await session.step(parts, done);
    for (const [b, part] of parts.entries()) done[b]! += part.length;
    const ready = parts.map((p, b) => p.length > 0 && done[b] === texts[b]!.length);
    if (!ready.includes(true)) continue;
    const tokens = await session.choose(scores, texts, key, sampling);
    for (const [b, isReady] of ready.entries()) if (isReady) found[b] = tokens[b]!;
  }
}

/** How a text ended. */
export interface Ending {
  /**
   * "stop" at a text of `stop` or a token that ends, "length" where no more were asked for or fit.
   */
  readonly reason: "stop" | "length";
  /** Tokens of the prompt, and tokens that were made. */
  readonly promptTokens: number;
  readonly madeTokens: number;
}

/**
 * What follows a prompt, a text or its tokens, in pieces of text as they are made. A piece ends
 * where characters do; one that may begin a `stop` is held back. Returns how it ended.
 *
 *     for await (const piece of generate({ session, tokenizer }, "Once upon a time", { maxTokens: 50 }))
 *       process.stdout.write(piece);
 *
 * Throws LanguageModelError for a prompt beyond the capacity, a tokenizer of another vocabulary,
 * and options that mean nothing.
 */
export async function* generate(
  model: { readonly session: TextRunner; readonly tokenizer: Tokenizer },
  prompt: string | readonly number[],
  options: GenerateOptions = {},
): AsyncGenerator<string, Ending> {
  checkOptions("generate", options, generateOptions);
  const { session, tokenizer } = model;
  checkVocabulary(session, tokenizer);
  const { stop = [], ...rest } = options;
  const stops = [stop].flat().filter((s) => s !== "");
  const start = typeof prompt === "string" ? tokenizer.encode(prompt) : prompt;
  const text = new TextStream(tokenizer, start);
  let made = 0;
  const ending = (reason: Ending["reason"]): Ending => ({
    reason,
    promptTokens: start.length,
    madeTokens: made,
  });
  // Text that is made and not given. What may begin a stop stays in it.
  let held = "";
  for await (const [token] of generateTokens(session, [start], rest)) {
    made++;
    held += text.push(token!);
    const end = firstStop(held, stops);
    if (end > 0) yield held.slice(0, end);
    if (end >= 0) return ending("stop");
    const safe = held.length - heldBack(held, stops);
    if (safe > 0) yield held.slice(0, safe);
    held = held.slice(safe);
  }
  held += text.end();
  if (held !== "") yield held;
  const isFull = made >= (rest.maxTokens ?? Infinity) || start.length + made > session.capacity;
  return ending(isFull ? "length" : "stop");
}

/** Throws LanguageModelError if a tokenizer makes tokens that the model does not have. */
export function checkVocabulary(session: TextRunner, tokenizer: Tokenizer): void {
  const { vocabulary } = session.net.config;
  if (tokenizer.size > vocabulary)
    throw new LanguageModelError(
      `generate: the tokenizer knows ${tokenizer.size} tokens, the model ${vocabulary}\n  take the tokenizer that came with the weights`,
    );
}

const firstStop = (text: string, stops: readonly string[]): number =>
  stops
    .map((s) => text.indexOf(s))
    .filter((i) => i >= 0)
    .reduce((a, b) => (a < 0 ? b : Math.min(a, b)), -1);

/** Characters at the end that may begin a stop. */
function heldBack(text: string, stops: readonly string[]): number {
  const begun = stops.map((s) => {
    let n = Math.min(s.length - 1, text.length);
    while (n > 0 && !text.endsWith(s.slice(0, n))) n--;
    return n;
  });
  return Math.max(0, ...begun);
}
