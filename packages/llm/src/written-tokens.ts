/** What stands in the caches of a session, text by text, and what a step of it is fed. */
import { LanguageModelError } from "./errors.ts";

type Texts = readonly (readonly number[])[];

/** Tokens whose keys and values stand in the caches. */
export class WrittenTokens {
  readonly #written: number[][];
  /** The last place of each text that rows of the caches may be of, where rows are used again. */
  readonly #marks: number[];
  /** How far before that a text may be taken up again. */
  readonly reach: number;

  constructor(batch: number, reach: number) {
    this.#written = Array.from({ length: batch }, () => []);
    this.#marks = Array(batch).fill(0);
    this.reach = reach;
  }

  /** How many tokens text `b` begins with as the text before it did. */
  known(b: number, text: readonly number[]): number {
    const written = this.#written[b] ?? [];
    let n = 0;
    while (n < text.length && n < written.length && written[n] === text[n]) n++;
    // Where rows were used again, what stood there before is gone.
    return (this.#marks[b] ?? 0) - n > this.reach ? 0 : n;
  }

  forget(): void {
    for (const written of this.#written) written.length = 0;
  }

  /** What a step overwrites is not known until it has run. */
  begin(texts: Texts, at: readonly number[]): void {
    for (const [b, text] of texts.entries()) {
      if (!text.length) continue;
      const written = this.#written[b]!;
      written.length = Math.min(written.length, at[b]!);
      const mark = at[b] === 0 ? 0 : this.#marks[b]!;
      this.#marks[b] = Math.max(mark, at[b]! + text.length);
    }
  }

  /** The step has run. */
  end(texts: Texts, at: readonly number[]): void {
    for (const [b, text] of texts.entries())
      if (this.#written[b]!.length === at[b])
        for (const token of text) this.#written[b]!.push(token);
  }
}

/** The extents of a session. */
export interface Room {
  readonly batch: number;
  readonly capacity: number;
  readonly chunk: number;
}

/** 0 … capacity − 1, of which a step reads the first ones. */
export const placesOf = (capacity: number): Int32Array =>
  Int32Array.from({ length: capacity }, (_, i) => i);

/**
 * Tokens, positions, keys and the places of the last tokens, of a step whose texts go on from
 * positions `at`. Throws LanguageModelError for more tokens than run at once.
 */
export function stepFeeds(
  { batch, capacity, chunk }: Room,
  all: Int32Array,
  texts: Texts,
  at: readonly number[],
) {
  const length = Math.max(...texts.map((t) => t.length));
  if (length > chunk)
    throw new LanguageModelError(
      `step: ${length} tokens at once, the session takes ${chunk}\n  run them in parts, or make the session with a larger chunk`,
    );
  const tokens = new Int32Array(batch * length);
  const positions = new Int32Array(batch * length).fill(capacity);
  for (const [b, text] of texts.entries())
    for (const [t, token] of text.entries()) {
      tokens[b * length + t] = token;
      positions[b * length + t] = at[b]! + t;
    }
  const seen = Math.max(...texts.map((t, b) => (t.length ? at[b]! + t.length : 0)));
  const last = Int32Array.from(texts, (t) => Math.max(0, t.length - 1));
  const shaped = (data: Int32Array) => ({ data, shape: [batch, length] });
  const places = all.subarray(0, seen);
  return { length, feeds: [shaped(tokens), shaped(positions), places, last] as const };
}

/** The texts for a choice: i32[batch, H], whose rest is no token; one column where nobody asks. */
export function historyFeed(texts: Texts, isAsked: boolean, batch: number, vocabulary: number) {
  const length = isAsked ? Math.max(1, ...texts.map((h) => h.length)) : 1;
  const data = new Int32Array(batch * length).fill(vocabulary);
  if (isAsked) for (const [b, text] of texts.entries()) data.set(text, b * length);
  return { data, shape: [batch, length] };
}
