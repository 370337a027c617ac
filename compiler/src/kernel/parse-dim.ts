/**
 * Reads the index expressions of kernel IR, and what their symbols are: declared by the kernel, or
 * bound by a statement with what is known of them. Expressions are made as they stand: nothing is
 * simplified.
 */
import { anyInteger, type Dim, DimExpr, dim, loopVar } from "@kiln-ml/ir";
import { areInOrder, compound, type Scanner, term } from "@kiln-ml/ir/scan";

const name = /[A-Za-z_$][\w$.]*['@]?(?:~\d+)?/;
/** The name without the number that tells one symbol of a name from another. */
const plain = (text: string): string => text.replace(/~\d+$/, "");

export class DimReader {
  private readonly s: Scanner;
  /** What a symbol is called in the text, by block. */
  private readonly symbols: Map<string, Dim>[] = [new Map()];

  constructor(s: Scanner) {
    this.s = s;
  }

  open(): void {
    this.symbols.push(new Map());
  }

  close(): void {
    this.symbols.pop();
  }

  name(what: string): string {
    return this.s.match(name) ?? this.s.fail(`expected ${what}, got ${this.s.found()}`);
  }

  /** Symbols of one name that the kernel declares. */
  declaration(): string {
    const { s } = this;
    const first = this.symbolName();
    this.declared(first.text, first.name);
    while (s.take(",")) {
      const next = this.symbolName();
      this.declared(next.text, next.name);
    }
    return first.name;
  }

  private declared(text: string, own: string): void {
    const { s } = this;
    let symbol: Dim;
    if (s.take("<")) symbol = loopVar(own, this.dim());
    else if (s.take("within")) symbol = anyInteger(own, ...this.range());
    else if (s.take("in ")) {
      const [min, max] = this.range();
      symbol = dim(own, { min, max });
    } else symbol = /^\w+$/.test(own) ? dim(own) : anyInteger(own);
    this.symbols[0]!.set(text, symbol);
  }

  private symbolName(): { text: string; name: string } {
    const text = this.name("a symbol");
    return { text, name: plain(text) };
  }

  private range(): [number, number] {
    const { s } = this;
    const at = s.at;
    const range = s.list(
      "[",
      "]",
      () => s.number() ?? s.fail(`expected a number, got ${s.found()}`),
    );
    if (range.length !== 2) s.fail(`expected two bounds, got ${range.length}`, at);
    return [range[0]!, range[1]!];
  }

  /** The symbols of a name, from here on: as the text says, or else the usual one. */
  bind(own: string, usual: () => Dim): void {
    const { s } = this;
    const scope = this.symbols.at(-1)!;
    for (const known of [...scope.keys()]) if (plain(known) === own) scope.delete(known);
    if (s.match(/where\b/) === undefined) {
      scope.set(own, usual());
      return;
    }
    const found: [string, Dim][] = [];
    do {
      const { text } = this.symbolName();
      if (s.take("<")) found.push([text, loopVar(own, this.dim())]);
      else {
        s.expect("in");
        found.push([text, anyInteger(own, ...this.range())]);
      }
    } while (s.take(","));
    for (const [text, symbol] of found) scope.set(text, symbol);
  }

  /** A sum of products in the order of the text: nothing is simplified. */
  dim(): Dim {
    const { s } = this;
    const terms = [this.product(s.take("-") ? -1 : 1)];
    for (;;) {
      if (s.take("+")) terms.push(this.product(1));
      else if (s.take("-")) terms.push(this.product(-1));
      else break;
    }
    const [only] = terms;
    if (terms.length === 1 && only!.atoms.length === 0) return only!.coeff;
    return new DimExpr(terms, areInOrder(terms));
  }

  private product(sign: number) {
    const { s } = this;
    const digits = s.match(/\d+/);
    const coeff = sign * Number(digits ?? 1);
    const atoms = digits === undefined || s.take("*") ? [this.atom()] : [];
    while (s.take("*")) atoms.push(this.atom());
    return term(coeff, atoms);
  }

  private atom() {
    const { s } = this;
    s.blank();
    const at = s.at;
    if (s.take("(")) {
      const lhs = this.side();
      const sign = s.match(/[/%]/) ?? s.fail(`expected / or %, got ${s.found()}`);
      const rhs = this.side();
      s.expect(")");
      return compound(sign === "/" ? "div" : "mod", lhs, rhs);
    }
    const own = this.name("a dim");
    if ((own === "min" || own === "max") && s.take("(")) {
      const lhs = this.dim();
      s.expect(",");
      const rhs = this.dim();
      s.expect(")");
      return compound(own, lhs, rhs);
    }
    const symbol = this.find(own) ?? s.fail(`${own} is not bound`, at);
    return (symbol as DimExpr).terms[0]!.atoms[0]!;
  }

  private side(): Dim {
    if (!this.s.take("(")) return this.dim();
    const inside = this.dim();
    this.s.expect(")");
    return inside;
  }

  private find(own: string): Dim | undefined {
    for (let i = this.symbols.length - 1; i >= 0; i--) {
      const found = this.symbols[i]!.get(own);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
