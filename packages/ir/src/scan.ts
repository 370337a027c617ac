/**
 * A cursor over text with line and column in its errors, and the grammar of dims: sums of products of integers,
 * symbols, `min(a,b)`, `max(a,b)`, floor division `/` and remainder `%`. Used by the graph parser.
 */
import { addDim, type Dim, dim, floorDiv, maxDim, minDim, modDim, mulDim, subDim } from "./dim.ts";
import { GraphError } from "./errors.ts";

/** For what reads dims as they stand, rather than simplified. */
export { areInOrder, compound, term } from "./dim-expr.ts";

export class Scanner {
  readonly text: string;
  readonly symbols: Map<string, Dim>;
  at = 0;

  constructor(text: string, symbols: Map<string, Dim> = new Map()) {
    this.text = text;
    this.symbols = symbols;
  }

  /** Skips blanks and `#` comments. */
  blank(): void {
    const m = /(?:\s|#[^\n]*)*/y;
    m.lastIndex = this.at;
    this.at += m.exec(this.text)![0].length;
  }

  fail(problem: string, at = this.at): never {
    const before = this.text.slice(0, at).split("\n");
    const place = `(line ${before.length}, column ${before.at(-1)!.length + 1})`;
    // The way out of a problem stays on its own line.
    const [what, ...repair] = problem.split("\n");
    throw new GraphError([`parse: ${what} ${place}`, ...repair].join("\n"));
  }

  /** What stands here, for messages. */
  found(): string {
    const m = /%?[\w.]+|\S/y;
    m.lastIndex = this.at;
    const word = m.exec(this.text)?.[0];
    return word === undefined ? "the end" : JSON.stringify(word);
  }

  /** The match of a sticky pattern after blanks, consumed; undefined if there is none. */
  match(pattern: RegExp): string | undefined {
    this.blank();
    const m = new RegExp(pattern, "y");
    m.lastIndex = this.at;
    const text = m.exec(this.text)?.[0];
    if (text !== undefined) this.at += text.length;
    return text;
  }

  take(literal: string): boolean {
    this.blank();
    if (!this.text.startsWith(literal, this.at)) return false;
    this.at += literal.length;
    return true;
  }

  peek(literal: string): boolean {
    this.blank();
    return this.text.startsWith(literal, this.at);
  }

  /** As `peek`, but on this line. */
  peekInline(literal: string): boolean {
    const m = /[ \t]*/y;
    m.lastIndex = this.at;
    return this.text.startsWith(literal, this.at + m.exec(this.text)![0].length);
  }

  expect(literal: string): void {
    if (!this.take(literal)) this.fail(`expected ${JSON.stringify(literal)}, got ${this.found()}`);
  }

  word(what: string): string {
    return (
      this.match(/[A-Za-z_][A-Za-z0-9_]*/) ?? this.fail(`expected ${what}, got ${this.found()}`)
    );
  }

  /** `open item, item close`. */
  list<T>(open: string, close: string, item: () => T): T[] {
    this.expect(open);
    const items: T[] = [];
    if (this.take(close)) return items;
    do items.push(item());
    while (this.take(","));
    this.expect(close);
    return items;
  }

  /** A signed number, `inf` and `nan` included. */
  number(): number | undefined {
    const text = this.match(/-?(?:(?:inf|nan)\b|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/);
    if (text === undefined) return undefined;
    return text.endsWith("nan") ? Number.NaN : Number(text.replace("inf", "Infinity"));
  }

  dim(): Dim {
    let sum: Dim = this.take("-") ? mulDim(this.product(), -1) : this.product();
    for (;;) {
      if (this.take("+")) sum = addDim(sum, this.product());
      else if (this.take("-")) sum = subDim(sum, this.product());
      else return sum;
    }
  }

  private product(): Dim {
    let p = this.factor();
    for (;;) {
      if (this.take("*")) p = mulDim(p, this.factor());
      else if (this.take("/")) p = floorDiv(p, this.factor());
      else if (this.take("%")) p = modDim(p, this.factor());
      else return p;
    }
  }

  private factor(): Dim {
    if (this.take("(")) {
      const d = this.dim();
      this.expect(")");
      return d;
    }
    const digits = this.match(/\d+/);
    if (digits !== undefined) return Number(digits);
    const name = this.word("a dim");
    if ((name === "min" || name === "max") && this.peek("(")) {
      const at = this.at;
      const sides = this.list("(", ")", () => this.dim());
      if (sides.length !== 2) this.fail(`${name} takes 2 dims, got ${sides.length}`, at);
      return (name === "min" ? minDim : maxDim)(sides[0]!, sides[1]!);
    }
    return this.symbol(name);
  }

  private symbol(name: string): Dim {
    const known = this.symbols.get(name) ?? dim(name);
    this.symbols.set(name, known);
    return known;
  }
}

/** The dim that `printDim` printed. `symbols` gives known ones; others are made, with bounds [1, inf]. */
export function parseDim(text: string, symbols: ReadonlyMap<string, Dim> = new Map()): Dim {
  const s = new Scanner(text, new Map(symbols));
  const d = s.dim();
  s.blank();
  if (s.at < text.length) s.fail(`expected the end, got ${s.found()}`);
  return d;
}
