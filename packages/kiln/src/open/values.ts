/** Values by name: what a caller gives, in the order of a model's inputs, and what it gets. */
import { GraphError, ShapeError } from "@kiln-ml/artifact";

export type TensorArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array
  | BigInt64Array
  | BigUint64Array;

/** An array with its shape; the array alone where the shape follows from its length. */
export type ModelValue =
  | TensorArray
  | { readonly data: TensorArray; readonly shape: readonly number[] };

export interface ModelResult {
  readonly data: TensorArray;
  readonly shape: readonly number[];
  readonly dtype: string;
}

/** What an input or output is. Extents that a call decides have names, or are null. */
export interface ModelTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly (number | string | null)[];
}

/** Names as users know them: `image` for the `arg0.image` of a function of one object, if that is still one of a kind. */
export function plainNames(names: readonly string[]): string[] {
  const short = names.map((name) => name.replace(/^arg\d+\./, ""));
  return new Set(short).size === short.length ? short : [...names];
}

/** The values in the order of `names`. Throws GraphError for one that is missing, or not asked for. */
export function inOrderOf<T>(names: readonly string[], given: Readonly<Record<string, T>>): T[] {
  if (
    typeof given !== "object" ||
    given === null ||
    Array.isArray(given) ||
    ArrayBuffer.isView(given)
  )
    throw new GraphError(
      `run: takes inputs by name\n  run({ ${names.map((n) => (/^\w+$/.test(n) ? n : JSON.stringify(n))).join(", ")} })`,
    );
  for (const name of Object.keys(given))
    if (!names.includes(name))
      throw new GraphError(`run: the model has no input ${name}\n  it has ${names.join(", ")}`);
  return names.map((name) => {
    if (!Object.hasOwn(given, name) || given[name] === undefined)
      throw new GraphError(`run: input ${name} is missing\n  the model takes ${names.join(", ")}`);
    return given[name];
  });
}

/** A value with its shape, where the declared one leaves open no more than one extent. */
export function shaped(value: ModelValue, { name, shape }: ModelTensor) {
  if (!ArrayBuffer.isView(value)) return value;
  const known = shape.filter((d) => typeof d === "number").reduce((a, b) => a * b, 1);
  const open = shape.filter((d) => typeof d !== "number").length;
  const rest = value.length / known;
  if (open > 1 || !Number.isInteger(rest) || (open === 0 && rest !== 1))
    throw new ShapeError(
      `run: input ${name} has ${value.length} elements, the model takes [${shape.map((d) => d ?? "?")}]\n  pass { data, shape }`,
    );
  return { data: value, shape: shape.map((d) => (typeof d === "number" ? d : rest)) };
}
