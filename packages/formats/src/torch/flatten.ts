/**
 * What a pickle held → tensors by name, and the rest as plain data. Nested dicts and lists become names with dots. The
 * depth and the number of values visited are bounded, since a pickle may hold itself, or one list a million times.
 */
import type { Constant } from "@kiln-ml/artifact";
import { Attributes, describe, Global, Opaque, type PickleValue } from "../pickle/values.ts";
import { checkName, type Reading } from "../reading.ts";
import { NumpyArray, readArray } from "./numpy.ts";
import { readTensor, TorchTensor } from "./tensor.ts";

/** Something that is kept only by name, where unknown names are skipped. */
export interface OpaqueMarker {
  readonly opaque: string;
  readonly state?: Plain;
}

/** Values that are not tensors. Where a list holds a tensor, there is null. */
export type Plain =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Plain[]
  | OpaqueMarker
  | { readonly [key: string]: Plain };

export interface Flat {
  readonly tensors: Record<string, Constant>;
  readonly other: Plain;
}

const deepest = 100;
/** The values of a pickle are no more than its bytes, but for those it holds several times. */
const freeVisits = 100_000;

/** The tensors of `value` and what else it holds. `bytes` is the size of the file. */
export function flatten(value: PickleValue, bytes: number, reading: Reading): Flat {
  const walk = new Walk(reading, freeVisits + 4 * bytes);
  const rest = walk.visit(value, "", 0);
  const tensors = Object.fromEntries(walk.tensors);
  return { tensors, other: rest === undefined ? {} : rest };
}

class Walk {
  readonly tensors = new Map<string, Constant>();
  readonly reading: Reading;
  left: number;

  constructor(reading: Reading, visits: number) {
    this.reading = reading;
    this.left = visits;
  }

  /** The plain part of a value; undefined if it holds nothing but tensors. */
  visit(value: PickleValue, path: string, depth: number): Plain | undefined {
    const { fail } = this.reading;
    if (depth > deepest) fail(`${where(path)} is nested deeper than ${deepest}`);
    if (--this.left < 0) fail(`${where(path)}: the pickle repeats its values too often`);
    if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
    if (value instanceof TorchTensor || value instanceof NumpyArray)
      return this.tensor(value, path);
    if (Array.isArray(value) || value instanceof Set) return this.list([...value], path, depth);
    if (value instanceof Map) return this.record(value, path, depth);
    if (value instanceof Attributes) return this.record(value.fields, path, depth);
    if (value instanceof Opaque) return this.opaque(value, path, depth);
    return value instanceof Global ? value.name : describe(value);
  }

  tensor(value: TorchTensor | NumpyArray, path: string): undefined {
    const name = path || "tensor";
    if (!this.reading.select(name)) return undefined;
    if (this.tensors.has(name))
      this.reading.fail(`two tensors are named ${where(name)}`, value.offset);
    const constant =
      value instanceof TorchTensor
        ? readTensor(value, name, this.reading)
        : readArray(value, name, this.reading);
    this.tensors.set(name, constant);
    return undefined;
  }

  list(items: readonly PickleValue[], path: string, depth: number): Plain | undefined {
    const rest = items.map((item, i) => this.visit(item, join(path, `${i}`), depth + 1));
    const empty = rest.length > 0 && rest.every((r) => r === undefined);
    return empty ? undefined : rest.map((r) => r ?? null);
  }

  record(
    entries: ReadonlyMap<PickleValue, PickleValue>,
    path: string,
    depth: number,
  ): Plain | undefined {
    const { fail } = this.reading;
    const rest: Record<string, Plain> = {};
    for (const [k, v] of entries) {
      const key = keyText(k);
      if (key === undefined) return fail(`${where(path)} has the key ${describe(k)}`);
      checkName(key, fail);
      const plain = this.visit(v, join(path, key), depth + 1);
      if (plain === undefined) continue;
      if (Object.hasOwn(rest, key)) fail(`${where(join(path, key))} stands twice`);
      rest[key] = plain;
    }
    return entries.size > 0 && Object.keys(rest).length === 0 ? undefined : rest;
  }

  /** The state of an unknown object is looked into: of a module its parameters are worth having. */
  opaque(value: Opaque, path: string, depth: number): OpaqueMarker {
    const state = this.visit(value.state, path, depth + 1);
    for (const [i, item] of value.items.entries()) this.visit(item, join(path, `${i}`), depth + 1);
    if (value.entries.size) this.record(value.entries, path, depth + 1);
    return { opaque: value.name, ...(state === undefined || state === null ? {} : { state }) };
  }
}

/** The dicts in which a module keeps its parts are no part of its parts' names. */
const inner = new Set(["_modules", "_parameters", "_buffers"]);

const join = (path: string, key: string): string => {
  if (inner.has(key)) return path;
  return path ? `${path}.${key}` : key;
};

const where = (path: string): string => JSON.stringify(path.slice(0, 80));

/** Numbers and short tuples of plain values may be keys. */
function keyText(key: PickleValue): string | undefined {
  if (key instanceof Global) return key.name;
  if (key === null || typeof key !== "object") return String(key);
  if (!Array.isArray(key) || key.length > 16) return undefined;
  const parts = key.map((part) => (Array.isArray(part) ? undefined : keyText(part)));
  const fit = parts.every((part) => part !== undefined && part.length <= 64);
  return fit ? `(${parts.join(",")})` : undefined;
}

/** The value under `keys`, one below the other. */
export function valueAt(
  value: PickleValue,
  keys: readonly string[],
  reading: Reading,
): PickleValue {
  let at = value;
  for (const key of keys) {
    const entries = at instanceof Map ? at : at instanceof Attributes ? at.fields : undefined;
    const found = entries && [...entries].find(([k]) => keyText(k) === key);
    if (!found) {
      const has = entries ? [...entries.keys()].slice(0, 8).map(keyText).join(", ") : describe(at);
      return reading.fail(
        `there is no key ${where(key)}, there is ${has.slice(0, 200) || "nothing"}`,
      );
    }
    at = found[1];
  }
  return at;
}
