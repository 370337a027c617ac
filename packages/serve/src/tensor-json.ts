/**
 * Tensors as JSON: nested lists, or `{ shape, data }` with the elements in row-major order. NaN and
 * the infinities, which JSON lacks, are the texts "NaN", "Infinity" and "-Infinity".
 */
import type { ModelResult, ModelTensor } from "kiln-ml/model";
import { wrongField } from "./errors.ts";

/** A value of an input. */
export interface Value {
  readonly data: ModelResult["data"];
  readonly shape: readonly number[];
}

const arrays = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  bool: Uint8Array,
} as const;

/** Element types that requests can have. */
export const isServed = (dtype: string): boolean => Object.hasOwn(arrays, dtype);

/** Inputs by name, checked against what the model declares. */
export function inputsOf(json: unknown, specs: readonly ModelTensor[]): Record<string, Value> {
  const given = isRecord(json) ? json.inputs : undefined;
  const names = specs.map((s) => s.name);
  if (!isRecord(given))
    throw wrongField("inputs", `must be an object with ${names.join(", ") || "nothing"}`);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  if (unknown.length)
    throw wrongField(
      "inputs",
      `has what the model does not: ${cut(unknown.join(", "))}; it has ${names.join(", ")}`,
    );
  const extents = new Map<string, readonly [extent: number, input: string]>();
  return Object.fromEntries(
    specs.map((spec) => {
      if (!Object.hasOwn(given, spec.name))
        throw wrongField(`inputs.${spec.name}`, `is absent; the model takes ${names.join(", ")}`);
      const value = inputOf(given[spec.name], spec);
      checkShape(value, spec, extents);
      return [spec.name, value];
    }),
  );
}

export const isRecord = (x: unknown): x is Record<string, unknown> =>
  typeof x === "object" && x !== null && !Array.isArray(x);

export const cut = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text);

function inputOf(json: unknown, { name, dtype }: ModelTensor): Value {
  const where = `inputs.${name}`;
  const [shape, elements] = isRecord(json) ? flat(where, json) : nested(where, json);
  const make = arrays[dtype as keyof typeof arrays];
  if (!make) throw wrongField(where, `is ${dtype}, which requests cannot have`);
  const data = new make(elements.length);
  for (const [i, x] of elements.entries()) data[i] = elementOf(where, dtype, x) as never;
  return { data, shape };
}

function flat(
  where: string,
  { shape, data, ...more }: Record<string, unknown>,
): [number[], unknown[]] {
  const extents = Array.isArray(shape) ? (shape as number[]) : [];
  const isShape = Array.isArray(shape) && extents.every((d) => Number.isSafeInteger(d) && d >= 0);
  if (!isShape || !Array.isArray(data) || Object.keys(more).length)
    throw wrongField(where, "must be nested lists, or an object with shape and data");
  const count = extents.reduce((a, b) => a * b, 1);
  if (count !== data.length)
    throw wrongField(
      where,
      `has ${data.length} elements, its shape [${extents.join(",")}] ${count}`,
    );
  return [extents, data];
}

/** Extents and elements of nested lists, which must be as long as each other. */
function nested(where: string, json: unknown): [number[], unknown[]] {
  const shape: number[] = [];
  let level: unknown[] = [json];
  while (level.length && level.every(Array.isArray)) {
    const lists = level as unknown[][];
    const length = lists[0]!.length;
    if (shape.length === 8) throw wrongField(where, "has more than 8 axes");
    const odd = lists.find((l) => l.length !== length);
    if (odd)
      throw wrongField(
        where,
        `has lists of ${length} and of ${odd.length} on axis ${shape.length}`,
      );
    shape.push(length);
    level = lists.flat();
  }
  return [shape, level];
}

const special: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Infinity,
  "-Infinity": -Infinity,
};

function elementOf(where: string, dtype: string, x: unknown): number | bigint {
  if (dtype === "bool" && typeof x === "boolean") return x ? 1 : 0;
  const isFloat = dtype.startsWith("f");
  const n = isFloat && typeof x === "string" && Object.hasOwn(special, x) ? special[x] : x;
  if (typeof n !== "number")
    throw wrongField(where, `has an element that is no number: ${cut(JSON.stringify(x) ?? "")}`);
  if (isFloat) return n;
  const [least, most] = rangeOf(dtype);
  if (!Number.isInteger(n) || n < least || n > most)
    throw wrongField(where, `has ${n}, which is no ${dtype}`);
  return dtype.endsWith("64") ? BigInt(n) : n;
}

function rangeOf(dtype: string): [number, number] {
  if (dtype === "bool") return [0, 1];
  const bits = Math.min(53, Number(dtype.slice(1)));
  return dtype.startsWith("u") ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
}

/** A symbol has one extent in all inputs. */
function checkShape(
  { shape }: Value,
  { name, shape: wanted }: ModelTensor,
  extents: Map<string, readonly [number, string]>,
): void {
  const where = `inputs.${name}`;
  const text = `[${wanted.map((d) => d ?? "?").join(",")}]`;
  if (shape.length !== wanted.length)
    throw wrongField(where, `has shape [${shape.join(",")}], the model takes ${text}`);
  for (const [i, d] of wanted.entries()) {
    const extent = shape[i]!;
    if (typeof d === "number" && d !== extent)
      throw wrongField(where, `has shape [${shape.join(",")}], the model takes ${text}`);
    if (typeof d !== "string" || !/^\w+$/.test(d)) continue;
    const [known, first] = extents.get(d) ?? [extent, name];
    if (known !== extent) throw wrongField(where, `has ${extent} for ${d}, ${first} has ${known}`);
    extents.set(d, [known, first]);
  }
}

/** Outputs by name as JSON. */
export function outputsOf(results: Readonly<Record<string, ModelResult>>): object {
  const told = Object.entries(results).map(([name, { data, shape, dtype }]) => {
    const elements = Array.from(data as Iterable<number | bigint>, (x) =>
      typeof x === "bigint" ? Number(x) : Number.isFinite(x) ? x : String(x),
    );
    return [name, { dtype, shape, data: elements }];
  });
  return { outputs: Object.fromEntries(told) };
}
