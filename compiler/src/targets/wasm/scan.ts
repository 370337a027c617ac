/**
 * Characters of WAT to atoms, in one pass and without a string an atom: an atom is a range of the text
 * and a hash, and a table of names turns it into a small number. Does not know what an atom means.
 */

import { bug } from "@kiln-ml/ir";

/** Names and their numbers, in order of first sight: open addressing over hashes of the characters. */
export class Names {
  readonly names: string[] = [];
  #hashes: number[] = [];
  #slots: Int32Array = new Int32Array(1024).fill(-1);

  /** The number of the atom, or −1. */
  find(text: string, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = slots[slot]!;
      if (id < 0) return -1;
      if (this.#hashes[id] !== hash) continue;
      const name = this.names[id]!;
      if (name.length === end - start && text.startsWith(name, start)) return id;
    }
  }

  /** The number of the atom, a new one at its first sight. */
  intern(text: string, start: number, end: number, hash: number): number {
    const found = this.find(text, start, end, hash);
    if (found >= 0) return found;
    const id = this.names.length;
    this.names.push(text.slice(start, end));
    this.#hashes.push(hash);
    if (2 * this.names.length > this.#slots.length) this.#grow();
    else this.#place(id);
    return id;
  }

  #place(id: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes[id]! & mask;
    while (this.#slots[slot]! >= 0) slot = (slot + 1) & mask;
    this.#slots[slot] = id;
  }

  #grow(): void {
    this.#slots = new Int32Array(2 * this.#slots.length).fill(-1);
    for (let id = 0; id < this.names.length; id++) this.#place(id);
  }
}

const space = 32;
const quote = 34;
const dollar = 36;
const open = 40;
const close = 41;
const semicolon = 59;
/** What `skip` returns at the end of the text. */
export const atEnd = 0;

const encoder = new TextEncoder();

/** A place in one text and the atom read last. */
export class Scanner {
  text = "";
  at = 0;
  start = 0;
  hash = 0;
  /** What errors name: the function being read. */
  where = "the module";
  /** The text's characters and a zero: cheaper to read than a string where nothing is compiled yet. */
  #bytes: Uint8Array = new Uint8Array(1);

  begin(text: string): void {
    const length = text.length;
    if (this.#bytes.length <= length) this.#bytes = new Uint8Array(2 * length + 1);
    this.text = text;
    this.at = 0;
    const { read, written } = encoder.encodeInto(text, this.#bytes);
    // Only comments hold other than ASCII, and those are not read.
    if (read !== length || written !== length)
      encoder.encodeInto(text.replace(/[^\0-\x7f]/g, "?"), this.#bytes);
    this.#bytes[length] = atEnd;
  }

  /** As `skip`, which it calls where more than a space stands here. */
  #next(): number {
    const bytes = this.#bytes;
    let char = bytes[this.at]!;
    if (char === close) return char;
    if (char === space) char = bytes[++this.at]!;
    const plain = char > space && char !== semicolon;
    return plain && bytes[this.at + 1] !== semicolon ? char : this.skip();
  }

  fail(what: string): never {
    return bug("assemble", `${this.where}: ${what}`);
  }

  /** Passes white space and comments, and returns the character that follows. */
  skip(): number {
    const bytes = this.#bytes;
    for (;;) {
      const char = bytes[this.at]!;
      if (char <= space) {
        if (this.at >= this.text.length) return atEnd;
        this.at += 1;
      } else if (char === semicolon) this.#lineComment();
      else if (char === open && bytes[this.at + 1] === semicolon) this.#comment();
      else return char;
    }
  }

  #lineComment(): void {
    if (this.#bytes[this.at + 1] !== semicolon) this.fail("a lone ;");
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end + 1;
  }

  #comment(): void {
    let depth = 0;
    do {
      const pair = this.text.slice(this.at, this.at + 2);
      if (pair === "") this.fail("a comment does not end");
      if (pair === "(;") depth += 1;
      if (pair === ";)") depth -= 1;
      this.at += pair === "(;" || pair === ";)" ? 2 : 1;
    } while (depth > 0);
  }

  /**
   * Reads an atom: letters, digits and `+-./=_:` after a first character that may be `$`. All
   * delimiters but the semicolon come before `*` in ASCII.
   */
  atom(): void {
    const bytes = this.#bytes;
    let char = bytes[this.at]!;
    // Most words follow a parenthesis or one space.
    if (char === space) char = bytes[++this.at]!;
    if (char <= open || char === semicolon) char = this.skip();
    const start = this.at;
    let at = start;
    let hash = 0;
    if (char > close || char === dollar) {
      do {
        hash = (hash << 5) ^ (hash >>> 27) ^ char;
        at += 1;
        char = bytes[at]!;
      } while (char > close && char !== semicolon);
    }
    if (at === start) this.fail(`${this.found()} where a word must stand`);
    this.start = start;
    this.at = at;
    // The first characters reach the low bits only after a fold.
    this.hash = hash ^ (hash >>> 15);
  }

  /** Whether the atom read last is this one. */
  is(word: string): boolean {
    return this.at - this.start === word.length && this.text.startsWith(word, this.start);
  }

  /** The atom read last. */
  word(): string {
    return this.text.slice(this.start, this.at);
  }

  /** What stands here, for messages. */
  found(): string {
    const char = this.skip();
    if (char === atEnd) return "the end of the text";
    return JSON.stringify(this.text.slice(this.at).split("\n", 1)[0]!.slice(0, 32));
  }

  /** Passes an opening parenthesis. */
  open(): void {
    if (this.#next() !== open) this.fail(`${this.found()} where ( must stand`);
    this.at += 1;
  }

  /** Passes a closing parenthesis if one is next. */
  closes(): boolean {
    const char = this.#next();
    if (char === close) {
      this.at += 1;
      return true;
    }
    if (char === atEnd) this.fail("the text ends inside a parenthesis");
    return false;
  }

  /** Passes the closing parenthesis that must be next. */
  close(): void {
    if (!this.closes()) this.fail(`${this.found()} where ) must stand`);
  }

  /** A text in quotes, without escapes. */
  quoted(): string {
    if (this.skip() !== quote) this.fail(`${this.found()} where a quoted name must stand`);
    const end = this.text.indexOf('"', this.at + 1);
    if (end < 0) this.fail("a quoted name does not end");
    const value = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return value;
  }
}
