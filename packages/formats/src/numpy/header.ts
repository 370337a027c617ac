/**
 * The header of an `.npy` file: a dict written as a Python literal, with exactly the keys descr, fortran_order and shape.
 * Reads the few literals that occur in one; nothing is evaluated.
 *
 * Format: numpy.lib.format, versions 1.0 to 3.0 (NEP 1).
 */
import { type Fail, quoted } from "../reading.ts";

type Literal = null | boolean | number | string | readonly Literal[] | ReadonlyMap<string, Literal>;

export interface NpyHeader {
  /** Text such as `<f4`, or a list of fields. */
  readonly descr: string;
  readonly fortran: boolean;
  readonly shape: readonly number[];
}

const deepest = 8;

/** The three facts of a header, whose text begins at `offset`. */
export function readHeader(text: string, offset: number, fail: Fail): NpyHeader {
  const header = new Literals(text, offset, fail).whole();
  if (!(header instanceof Map)) return fail("the header is not a dict", offset);
  const { descr, fortran_order: fortran, shape, ...rest } = Object.fromEntries(header);
  const extra = Object.keys(rest)[0];
  if (extra !== undefined) fail(`the header has the unknown key ${quoted(extra)}`, offset);
  if (typeof descr !== "string")
    return fail("the elements are records of several fields, or have no type", offset);
  if (typeof fortran !== "boolean") return fail("fortran_order is neither True nor False", offset);
  if (!isShape(shape)) return fail("shape is not a tuple of at most 32 sizes", offset);
  return { descr, fortran, shape };
}

const isShape = (x: unknown): x is number[] =>
  Array.isArray(x) && x.length <= 32 && x.every((d) => Number.isSafeInteger(d) && d >= 0);

class Literals {
  readonly text: string;
  readonly offset: number;
  readonly refuse: Fail;
  at = 0;

  constructor(text: string, offset: number, fail: Fail) {
    this.text = text;
    this.offset = offset;
    this.refuse = fail;
  }

  whole(): Literal {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail("text after the dict");
    return value;
  }

  fail(what: string): never {
    return this.refuse(`the header is no Python literal: ${what}`, this.offset + this.at);
  }

  space(): void {
    while (/\s/.test(this.text[this.at] ?? "x")) this.at++;
  }

  /** Moves past `word` if it is next. */
  accept(word: string): boolean {
    this.space();
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  value(depth: number): Literal {
    if (depth > deepest) this.fail(`nested deeper than ${deepest}`);
    if (this.accept("{")) return this.dict(depth);
    if (this.accept("(")) return this.list(")", depth);
    if (this.accept("[")) return this.list("]", depth);
    if (this.accept("True")) return true;
    if (this.accept("False")) return false;
    if (this.accept("None")) return null;
    // Python 2 wrote 3L.
    const number = /^-?\d{1,20}L?/.exec(this.text.slice(this.at, this.at + 22))?.[0];
    if (number === undefined) return this.string();
    this.at += number.length;
    return Number.parseInt(number, 10);
  }

  list(end: string, depth: number): Literal[] {
    const items: Literal[] = [];
    while (!this.accept(end)) {
      items.push(this.value(depth + 1));
      if (!this.accept(",") && !this.text.startsWith(end, this.at)) this.fail(`"," or "${end}"`);
    }
    return items;
  }

  dict(depth: number): Map<string, Literal> {
    const entries = new Map<string, Literal>();
    while (!this.accept("}")) {
      const key = this.string();
      if (entries.has(key)) this.fail(`the key ${quoted(key)} stands twice`);
      if (!this.accept(":")) this.fail('":"');
      entries.set(key, this.value(depth + 1));
      if (!this.accept(",") && !this.text.startsWith("}", this.at)) this.fail('"," or "}"');
    }
    return entries;
  }

  string(): string {
    this.space();
    const quote = this.text[this.at];
    if (quote !== "'" && quote !== '"') this.fail("a value");
    const end = this.text.indexOf(quote!, this.at + 1);
    if (end < 0) this.fail("a string without an end");
    const value = this.text.slice(this.at + 1, end);
    if (value.includes("\\")) this.fail("a string with escapes");
    this.at = end + 1;
    return value;
  }
}
