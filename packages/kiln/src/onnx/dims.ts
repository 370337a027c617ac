/**
 * The symbols of an ONNX file as dims: names that are no identifiers are made so, and a caller may say what a symbol is made of.
 */
import { type Dim, dim, isStatic, parseDim, sameDim, substitute } from "@kiln-ml/ir";
import type { ValueDef } from "@kiln-ml/onnx";
import { Equations, solvable } from "./equations.ts";

const identifier = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
};

/** The declared extents of a model's inputs as dims. Texts that differ are different symbols, whatever is left of them. */
export class DeclaredExtents {
  readonly #given: Readonly<Record<string, number | string>>;
  readonly #names = new Map<string, string>();
  readonly #equations = new Equations();
  /** What is declared of inputs, with what was learnt: every run asks for it. */
  readonly #shapes = new Map<string, readonly Dim[]>();
  readonly #taken = new Set<string>();

  /** `given` says what a symbol stands for: a number, or an expression in other symbols. */
  constructor(inputs: readonly ValueDef[], given: Readonly<Record<string, number | string>>) {
    this.#given = given;
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
   * The symbols that are 0 for inputs of these shapes; undefined where an extent of 0 belongs to no symbol alone, or the shapes are not
   * what was learnt. What was declared is checked, with a message, when the program runs.
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
    const given = Object.hasOwn(this.#given, d || plain) ? this.#given[d || plain]! : undefined;
    if (typeof given === "number") return given;
    if (given === undefined)
      return dim(d ? this.#name(d, d) : this.#name(`[${axis}] ${input}`, plain));
    const names = given.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
    return parseDim(given, new Map(names.map((name) => [name, dim(name)])));
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
