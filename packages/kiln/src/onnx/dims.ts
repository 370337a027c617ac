/**
 * The symbols of an ONNX file as dims: names that are no identifiers are made so, and a caller may say what a symbol is made of.
 */
import { type Dim, dim, parseDim } from "@kiln-ml/ir";
import type { ValueDef } from "@kiln-ml/onnx";

const identifier = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_]/g, "_");
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
};

/** The declared extents of a model's inputs as dims. Texts that differ are different symbols, whatever is left of them. */
export class DeclaredExtents {
  readonly #given: Readonly<Record<string, number | string>>;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** `given` says what a symbol stands for: a number, or an expression in other symbols. */
  constructor(inputs: readonly ValueDef[], given: Readonly<Record<string, number | string>>) {
    this.#given = given;
    // Symbols keep their names before extents that have none.
    for (const { type } of inputs)
      if (type?.kind === "tensor")
        for (const d of type.shape ?? []) if (typeof d === "string" && d) this.#name(d, d);
  }

  /** The extent of axis `axis` of input `input`, which is declared to be `d`. */
  of(d: number | string | undefined, input: string, axis: number): Dim {
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
