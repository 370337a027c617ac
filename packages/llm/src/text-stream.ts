/**
 * Tokens as a text that grows: each token gives the characters that are certain with it. A token is
 * decoded among a few before it and never with the whole text, so that a text takes time by its
 * length.
 */
import type { Tokenizer } from "./generate.ts";

/** Tokens before a new one that it is decoded among: what they are spelled as decides of spaces. */
const kept = 8;
/** Tokens that are decoded at once, until the first of them are left behind. */
const most = 24;

/**
 * A text token by token. What `push` gives, and `end` at last, is together what decoding all tokens
 * gives after those of `before`.
 *
 *     const text = new TextStream(tokenizer, prompt);
 *     for (const token of made) process.stdout.write(text.push(token));
 *     process.stdout.write(text.end());
 */
export class TextStream {
  readonly #tokenizer: Tokenizer;
  /** The tokens that are decoded with the next one. */
  #tokens: number[];
  /** What they spell, and how much of it was given. */
  #text: string;
  #given: string;

  constructor(tokenizer: Tokenizer, before: readonly number[] = []) {
    this.#tokenizer = tokenizer;
    this.#tokens = [...before];
    this.#text = tokenizer.decode(this.#tokens);
    this.#given = this.#text;
    this.#leaveBehind();
  }

  /** The characters that became certain; "" while a character lacks bytes. */
  push(token: number): string {
    this.#tokens.push(token);
    const text = this.#tokenizer.decode(this.#tokens);
    // A mark that is not spelled changes nothing. A byte may not show either, nor a first space.
    if (text === this.#text && this.#tokenizer.decode([token, token]) === "") this.#tokens.pop();
    this.#text = text;
    const piece = this.#give(text.length - unfinished(text));
    if (this.#tokens.length > most) this.#leaveBehind();
    return piece;
  }

  /** What is left, bytes without the rest of their character included. */
  end(): string {
    return this.#give(this.#text.length);
  }

  #give(end: number): string {
    const text = this.#text;
    // A character of the prompt that was not whole shows as another one until it is.
    let from = 0;
    while (from < this.#given.length && this.#given[from] === text[from]) from++;
    if (end <= from) return "";
    this.#given = text.slice(0, end);
    return text.slice(from, end);
  }

  /** Goes on with the last tokens alone, if what is not given yet is the same among them. */
  #leaveBehind(): void {
    const tokens = this.#tokens.slice(-kept);
    const text = this.#tokenizer.decode(tokens);
    const rest = this.#text.slice(this.#given.length);
    if (text.length <= rest.length || !text.endsWith(rest)) return;
    this.#tokens = tokens;
    this.#text = text;
    this.#given = text.slice(0, text.length - rest.length);
  }
}

/** Characters at the end that may be a part of one: a character has four bytes at most. */
const unfinished = (text: string): number =>
  Math.min(3, /\uFFFD*$/.exec(text.slice(-3))![0].length);
