/**
 * The symbols of an ONNX file as dims: names that are no identifiers are made so, and a caller may
 * say what a symbol is made of.
 */
import { type Dim, dim, GraphError, isStatic, parseDim, sameDim, substitute } from "@kiln-ml/ir";
import type { ValueDef } from "@kiln-ml/onnx";
import { Equations, solvable } from "./equations.ts";

const identifier = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
};

/** What a caller says that a symbol is. */
function extentOf(name: string, given: unknown): Dim {
  const extent = typeof given === "string" ? parsed(given) : given;
  const isSymbolic = typeof given === "string" && typeof extent === "object";
  if (isSymbolic || (Number.isSafeInteger(extent) && (extent as number) >= 0)) return extent as Dim;
  throw new GraphError(
    `loadOnnx: the extent ${name} must be a whole number or an expression in symbols, got ${JSON.stringify(given)}\n  such as { ${JSON.stringify(name)}: 64 }, or "32*h"`,
  );
}

/** Undefined for a text that is no dim. */
function parsed(text: string): Dim | undefined {
  const names = text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
  const symbols = new Map(names.map((name) => [name, dim(name)]));
  try {
    return parseDim(text, symbols);
  } catch (error) {
    if (error instanceof GraphError) return undefined;
    throw error;
  }
}

/**
 * The declared extents of a model's inputs as dims. Texts that differ are different symbols,
 * whatever is left of them.
 */
export class DeclaredExtents {
  readonly #given: ReadonlyMap<string, Dim>;
  readonly #names = new Map<string, string>();
  readonly #equations = new Equations();
  /** What is declared of inputs, with what was learnt: every run asks for it. */
  readonly #shapes = new Map<string, readonly Dim[]>();
  readonly #taken = new Set<string>();

  /**
   * `given` says what a symbol stands for: a number, or an expression in other symbols. Throws
   * GraphError for what is neither.
   */
  constructor(inputs: readonly ValueDef[], given: Readonly<Record<string, number | string>>) {
    this.#given = new Map(Object.entries(given).map(([name, is]) => [name, extentOf(name, is)]));
    // Symbols keep their names before extents that have none.
    for (const { type } of inputs)
      if (type?.kind === "tensor")
        for (const d of type.shape ?? []) if (typeof d === "string" && d) this.#name(d, d);
  }

  /** The declared shape of an input, with what was learnt, and 0 for the symbols of `empty`. */
  shapeOf(
    { name, type }: ValueDef,
    empty: ReadonlySet<string> = new Set(),
  ): readonly Dim[] | undefined {
    if (type?.kind !== "tensor" || !type.shape) return undefined;
    const known = this.#shapes.get(name);
    const shape =
      known ?? type.shape.map((d, axis) => this.#equations.apply(this.#of(d, name, axis)));
    if (!known) this.#shapes.set(name, shape);
    if (empty.size === 0) return shape;
    const none = new Map([...empty].map((symbol) => [symbol, 0] as const));
    return shape.map((d) => substitute(d, none));
  }

  /** Takes two extents of the graph to be equal from here on, if that is a matter of one symbol. */
  learn(a: Dim, b: Dim): boolean {
    this.#shapes.clear();
    return this.#equations.learn(a, b);
  }

  /**
   * The symbols that are 0 for inputs of these shapes; undefined where an extent of 0 belongs to no
   * symbol alone, or the shapes are not what was learnt. What was declared is checked, with a
   * message, when the program runs.
   */
  emptyIn(
    inputs: readonly ValueDef[],
    shapes: readonly (readonly number[])[],
  ): ReadonlySet<string> | undefined {
    const empty = new Set<string>();
    const pairs = inputs.flatMap((def, i) =>
      (this.shapeOf(def) ?? []).map((d, axis) => [d, shapes[i]![axis]!] as const),
    );
    for (const [d, extent] of pairs) {
      if (extent !== 0 || d === 0) continue;
      const name = isStatic(d) ? undefined : [...(d as Exclude<Dim, number>).symbols.keys()][0]!;
      if (name === undefined || !sameDim(d, dim(name))) return undefined;
      empty.add(name);
    }
    if (!this.#equations.any && empty.size === 0) return empty;
    const none = new Map([...empty].map((symbol) => [symbol, 0] as const));
    const left = pairs.map(([d, extent]) => [substitute(d, none), extent] as const);
    return solvable(left) ? empty : undefined;
  }

  /** The extent of axis `axis` of input `input`, which is declared to be `d`. */
  #of(d: number | string | undefined, input: string, axis: number): Dim {
    if (typeof d === "number") return d;
    const plain = `${input}_${axis}`;
    return (
      this.#given.get(d || plain) ??
      dim(d ? this.#name(d, d) : this.#name(`[${axis}] ${input}`, plain))
    );
  }

  /** The name of what `key` tells from others. */
  #name(key: string, wanted: string): string {
    let name = this.#names.get(key);
    if (name === undefined) {
      const plain = identifier(wanted);
      name = plain;
      for (let i = 2; this.#taken.has(name); i++) name = `${plain}_${i}`;
      this.#names.set(key, name);
      this.#taken.add(name);
    }
    return name;
  }
}
