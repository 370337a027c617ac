/**
 * Writes ops in MLIR's generic form, one a line, and gives names to their results. Regions are written by builders of their own
 * that share the counter of names; functions that many ops call are written once each. Decides nothing about Kiln's ops.
 */
import { type Dtype, isFloat } from "@kiln-ml/ir";
import { ints, splatText, type Type, typeText } from "./text.ts";

/** A value by its name in the text. */
export interface Ref extends Type {
  readonly name: string;
}

export type Attributes = Readonly<Record<string, string>>;

/** What all builders of a module share. */
interface Shared {
  next: number;
  readonly functions: Map<string, string>;
}

export type Direction = "EQ" | "NE" | "LT" | "LE" | "GT" | "GE";

const refText = (list: readonly Ref[]): string => list.map((r) => r.name).join(", ");
const typesText = (list: readonly Type[]): string => list.map(typeText).join(", ");
const resultText = (list: readonly Type[]): string =>
  list.length === 1 ? typeText(list[0]!) : `(${typesText(list)})`;

export class Builder {
  readonly lines: string[] = [];
  readonly #shared: Shared;
  readonly #indent: string;
  /** Constants are written once in a region; those of an enclosing one may be read. */
  readonly #constants = new Map<string, Ref>();
  readonly #outer: Builder | undefined;

  constructor(
    shared: Shared = { next: 0, functions: new Map() },
    indent = "    ",
    outer?: Builder,
  ) {
    this.#shared = shared;
    this.#indent = indent;
    this.#outer = outer;
  }

  get functions(): readonly string[] {
    return [...this.#shared.functions.values()];
  }

  #name(): string {
    return `%${this.#shared.next++}`;
  }

  /** An op of any dialect with any number of results; `regions` are texts that `region` made. */
  ops(
    op: string,
    operands: readonly Ref[],
    results: readonly Type[],
    attributes: Attributes = {},
    regions: readonly string[] = [],
  ): Ref[] {
    const made = results.map(({ dtype, shape }): Ref => ({ name: this.#name(), dtype, shape }));
    const left = made.length ? `${refText(made)} = ` : "";
    const body = regions.length ? ` (${regions.join(", ")})` : "";
    const entries = Object.entries(attributes).map(([key, value]) => `${key} = ${value}`);
    const attrs = entries.length ? ` {${entries.join(", ")}}` : "";
    this.lines.push(
      `${this.#indent}${left}"${op}"(${refText(operands)})${body}${attrs} : (${typesText(operands)}) -> ${resultText(results)}`,
    );
    return made;
  }

  /** An op of StableHLO with one result. */
  op(
    name: string,
    operands: readonly Ref[],
    result: Type,
    attributes: Attributes = {},
    regions: readonly string[] = [],
  ): Ref {
    return this.ops(`stablehlo.${name}`, operands, [result], attributes, regions)[0]!;
  }

  /** An elementwise op whose result has the type of its first operand. */
  map(name: string, ...operands: readonly Ref[]): Ref {
    return this.op(name, operands, operands[0]!);
  }

  #known(key: string): Ref | undefined {
    const own = this.#constants.get(key);
    return own || !this.#outer ? own : this.#outer.#known(key);
  }

  constant(dtype: Dtype, value: number, shape: readonly number[] = []): Ref {
    const text = splatText({ dtype, shape }, value);
    const known = this.#known(text);
    if (known) return known;
    const made = this.op("constant", [], { dtype, shape }, { value: text });
    this.#constants.set(text, made);
    return made;
  }

  /** `value` in every element of a tensor like `like`. */
  like(like: Type, value: number, dtype: Dtype = like.dtype): Ref {
    return this.constant(dtype, value, like.shape);
  }

  compare(direction: Direction, x: Ref, y: Ref): Ref {
    const { dtype, shape } = x;
    const signed = dtype === "i32" || dtype === "i8";
    const kind = isFloat(dtype) ? "FLOAT" : signed ? "SIGNED" : "UNSIGNED";
    return this.op(
      "compare",
      [x, y],
      { dtype: "bool", shape },
      {
        comparison_direction: `#stablehlo<comparison_direction ${direction}>`,
        compare_type: `#stablehlo<comparison_type ${kind}>`,
      },
    );
  }

  select(flag: Ref, x: Ref, y: Ref): Ref {
    return this.op("select", [flag, x, y], x);
  }

  convert(x: Ref, dtype: Dtype): Ref {
    return x.dtype === dtype ? x : this.op("convert", [x], { dtype, shape: x.shape });
  }

  bitcast(x: Ref, dtype: Dtype): Ref {
    return x.dtype === dtype ? x : this.op("bitcast_convert", [x], { dtype, shape: x.shape });
  }

  reshape(x: Ref, shape: readonly number[]): Ref {
    return String(x.shape) === String(shape) ? x : this.op("reshape", [x], { ...x, shape });
  }

  broadcast(x: Ref, shape: readonly number[], dims: readonly number[]): Ref {
    return this.op("broadcast_in_dim", [x], { ...x, shape }, { broadcast_dimensions: ints(dims) });
  }

  iota(dtype: Dtype, shape: readonly number[], axis: number): Ref {
    return this.op("iota", [], { dtype, shape }, { iota_dimension: `${axis} : i64` });
  }

  slice(
    x: Ref,
    start: readonly number[],
    limit: readonly number[],
    strides: readonly number[] = start.map(() => 1),
  ): Ref {
    const shape = start.map((s, i) => Math.ceil((limit[i]! - s) / strides[i]!));
    const attributes = {
      start_indices: ints(start),
      limit_indices: ints(limit),
      strides: ints(strides),
    };
    return this.op("slice", [x], { ...x, shape }, attributes);
  }

  pad(
    x: Ref,
    value: Ref,
    low: readonly number[],
    high: readonly number[],
    interior: readonly number[] = low.map(() => 0),
  ): Ref {
    const shape = x.shape.map((n, i) => low[i]! + high[i]! + n + Math.max(n - 1, 0) * interior[i]!);
    const attributes = {
      edge_padding_low: ints(low),
      edge_padding_high: ints(high),
      interior_padding: ints(interior),
    };
    return this.op("pad", [x, value], { ...x, shape }, attributes);
  }

  concat(xs: readonly Ref[], axis: number): Ref {
    const [first] = xs as readonly [Ref];
    if (xs.length === 1) return first;
    const total = xs.reduce((n, x) => n + x.shape[axis]!, 0);
    const shape = first.shape.map((n, i) => (i === axis ? total : n));
    return this.op("concatenate", xs, { ...first, shape }, { dimension: `${axis} : i64` });
  }

  /**
   * The text of a region with these arguments; `body` writes it and gives what it returns. It may read what is outside only
   * where `inherit`, as a branch does.
   */
  region(
    types: readonly Type[],
    body: (b: Builder, args: Ref[]) => readonly Ref[],
    inherit = false,
  ): string {
    const outer = inherit ? this : undefined;
    const inner = new Builder(this.#shared, `${this.#indent}  `, outer);
    const args = types.map(({ dtype, shape }): Ref => ({ name: this.#name(), dtype, shape }));
    inner.ops("stablehlo.return", body(inner, args), []);
    const list = args.map((a) => `${a.name}: ${typeText(a)}`).join(", ");
    const head = args.length ? `${this.#indent}^bb0(${list}):\n` : "";
    return `{\n${head}${inner.lines.join("\n")}\n${this.#indent}}`;
  }

  /** A call of a private function, which is written when its name is first asked for. */
  call(
    name: string,
    operands: readonly Ref[],
    result: Type,
    body: (b: Builder, args: Ref[]) => Ref,
  ): Ref {
    if (!this.#shared.functions.has(name)) {
      const inner = new Builder(this.#shared);
      const args = operands.map(({ dtype, shape }): Ref => ({ name: this.#name(), dtype, shape }));
      inner.ops("func.return", [body(inner, args)], []);
      const list = args.map((a) => `${a.name}: ${typeText(a)}`).join(", ");
      this.#shared.functions.set(
        name,
        `  func.func private @${name}(${list}) -> ${typeText(result)} {\n${inner.lines.join("\n")}\n  }`,
      );
    }
    return this.ops("func.call", operands, [result], { callee: `@${name}` })[0]!;
  }
}

/** `f32x2x3`: a type as part of a function's name. */
export const nameOfType = ({ dtype, shape }: Type): string => [dtype, ...shape].join("_");
