/**
 * Reads the text that this package writes: functions, ops in generic form, regions, attributes. Attributes stay text, which
 * `intsIn` and `fieldIn` read. No MLIR parser: what the exporter does not write is an error with its line.
 */
import { ArtifactError, type Dtype, fromHost, isFloat, toHost } from "@kiln-ml/ir";
import { elementTypes, type Type } from "./text.ts";

export interface ParsedValue extends Type {
  readonly name: string;
}

export interface ParsedRegion {
  readonly args: readonly ParsedValue[];
  readonly ops: readonly ParsedOp[];
}

export interface ParsedOp {
  readonly op: string;
  readonly operands: readonly string[];
  readonly results: readonly ParsedValue[];
  readonly operandTypes: readonly Type[];
  readonly attributes: ReadonlyMap<string, string>;
  readonly regions: readonly ParsedRegion[];
}

export interface ParsedFunction extends ParsedRegion {
  readonly name: string;
  readonly results: readonly Type[];
  /** For each argument the result that takes its memory, if any. */
  readonly aliases: readonly (number | undefined)[];
  /** Of arguments and of results, how they lie on the mesh, as Shardy writes it. */
  readonly argumentShardings: readonly (string | undefined)[];
  readonly resultShardings: readonly (string | undefined)[];
}

export interface ParsedModule {
  readonly name: string;
  /** As Shardy writes it. */
  readonly mesh?: string;
  readonly functions: ReadonlyMap<string, ParsedFunction>;
}

const dtypeOf = new Map(Object.entries(elementTypes).map(([d, text]) => [text, d as Dtype]));
const opening = "([{<";
const closing = ")]}>";

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fail(what: string): never {
    const before = this.#text.slice(0, this.#at).split("\n");
    const line = this.#text.split("\n")[before.length - 1]!.trim().slice(0, 60);
    throw new ArtifactError(
      `stablehlo: expected ${what} at line ${before.length}: ${line}\n  only text that exportStableHlo wrote is read`,
    );
  }

  space(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  /** Whether `token` is next; then it is taken. */
  take(token: string): boolean {
    this.space();
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) this.fail(token);
  }

  match(pattern: RegExp, what: string): string {
    this.space();
    const sticky = new RegExp(pattern.source, "y");
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text)?.[0];
    if (found === undefined) return this.fail(what);
    this.#at += found.length;
    return found;
  }

  name = (): string => this.match(/%\w+/, "a name");

  /** Items up to `end`, separated by commas; `end` is taken. */
  list<T>(end: string, item: () => T): T[] {
    const out: T[] = [];
    if (this.take(end)) return out;
    do out.push(item());
    while (this.take(","));
    this.expect(end);
    return out;
  }

  type = (): Type => {
    const text = this.match(/tensor<[^>]*>/, "a type").slice(7, -1);
    const parts = text.split("x");
    const dtype = dtypeOf.get(parts.pop()!);
    if (!dtype || parts.some((p) => !/^\d+$/.test(p))) return this.fail("a type");
    return { dtype, shape: parts.map(Number) };
  };

  /** A type, or several in parentheses. */
  types(): Type[] {
    return this.take("(") ? this.list(")", this.type) : [this.type()];
  }

  /** Text up to a comma or a closing bracket that belongs to what is around it. */
  balanced(): string {
    this.space();
    const start = this.#at;
    for (let depth = 0; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at]!;
      if (c === "-" && this.#text[this.#at + 1] === ">") this.#at++;
      else if (opening.includes(c)) depth++;
      else if (depth === 0 && (c === "," || closing.includes(c))) break;
      else if (closing.includes(c)) depth--;
    }
    return this.#text.slice(start, this.#at).trim();
  }

  attributes(): Map<string, string> {
    if (!this.take("{")) return new Map();
    const entry = (): [string, string] => {
      const key = this.match(/[\w.]+/, "an attribute");
      this.expect("=");
      return [key, this.balanced()];
    };
    return new Map(this.list("}", entry));
  }

  argument = (): ParsedValue => {
    const name = this.name();
    this.expect(":");
    return { name, ...this.type() };
  };

  region = (): ParsedRegion => {
    this.expect("{");
    let args: ParsedValue[] = [];
    if (this.take("^bb0(")) {
      args = this.list(")", this.argument);
      this.expect(":");
    }
    return { args, ops: this.ops() };
  };

  /** Ops up to the closing brace, which is taken. */
  ops(): ParsedOp[] {
    const ops: ParsedOp[] = [];
    while (!this.take("}")) ops.push(this.op());
    return ops;
  }

  op(): ParsedOp {
    const names: string[] = [];
    this.space();
    if (this.#text[this.#at] === "%") {
      do names.push(this.name());
      while (this.take(","));
      this.expect("=");
    }
    const op = this.match(/"[\w.]+"/, "an op").slice(1, -1);
    this.expect("(");
    const operands = this.list(")", this.name);
    const regions = this.take("(") ? this.list(")", this.region) : [];
    const attributes = this.attributes();
    this.expect(":");
    const operandTypes = this.types();
    this.expect("->");
    const types = this.types();
    if (types.length !== names.length || operandTypes.length !== operands.length)
      this.fail("as many types as values");
    const results = types.map((type, i) => ({ name: names[i]!, ...type }));
    return { op, operands, results, operandTypes, attributes, regions };
  }

  function(): ParsedFunction {
    this.expect("func.func");
    if (!this.take("public")) this.expect("private");
    const name = this.match(/@\w+/, "a name").slice(1);
    this.expect("(");
    const aliases: (number | undefined)[] = [];
    const argumentShardings: (string | undefined)[] = [];
    const resultShardings: (string | undefined)[] = [];
    const args = this.list(")", () => {
      const arg = this.argument();
      const about = this.attributes();
      const alias = about.get("tf.aliasing_output");
      argumentShardings.push(about.get("sdy.sharding"));
      aliases.push(alias === undefined ? undefined : Number.parseInt(alias, 10));
      return arg;
    });
    this.expect("->");
    const result = (): Type => {
      const type = this.type();
      resultShardings.push(this.attributes().get("sdy.sharding"));
      return type;
    };
    const results = this.take("(") ? this.list(")", result) : [this.type()];
    this.expect("{");
    const shardings = { argumentShardings, resultShardings };
    return { name, args, aliases, ...shardings, results, ops: this.ops() };
  }

  module(): ParsedModule {
    this.expect("module");
    const name = this.match(/@\w+/, "a name").slice(1);
    this.expect("attributes");
    this.attributes();
    this.expect("{");
    const functions = new Map<string, ParsedFunction>();
    this.space();
    const grid = this.#text.startsWith('"sdy.mesh"', this.#at) ? this.op() : undefined;
    const found = grid ? { mesh: grid.attributes.get("mesh")! } : {};
    while (!this.take("}")) {
      const f = this.function();
      functions.set(f.name, f);
    }
    return { name, ...found, functions };
  }
}

/** The structure of a module. Throws ArtifactError with the line at which the text is not as `exportStableHlo` writes it. */
export const parseStableHlo = (text: string): ParsedModule => new Reader(text).module();

/** All integers of an attribute's text before its type, in order. */
export const intsIn = (text: string): number[] =>
  (
    text
      .replace(/^array<i64:?/, "")
      .replace(/ : .*$/, "")
      .match(/-?\d+/g) ?? []
  ).map(Number);

/** A field of `#stablehlo.dot<a = [0, 1], b = 2>` as a list; absent, it is empty. */
export const fieldIn = (text: string, name: string): number[] =>
  intsIn(new RegExp(`\\b${name} = (\\[[^\\]]*\\]|-?\\d+)`).exec(text)?.[1] ?? "");

/** The number of `dense<…> : tensor<…>`. */
export function numberIn(text: string, dtype: Dtype): number {
  const number = /^dense<([^>]*)>/.exec(text)?.[1] ?? "";
  if (dtype === "bool") return Number(number === "true");
  if (!number.startsWith("0x") || !isFloat(dtype)) return Number(number);
  const bytes = number
    .slice(2)
    .match(/../g)!
    .map((h) => Number.parseInt(h, 16));
  const stored = toHost(dtype, [0]);
  new Uint8Array(stored.buffer as ArrayBuffer).set(bytes.reverse());
  return fromHost(dtype, stored)[0]!;
}
