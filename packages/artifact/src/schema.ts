/**
 * Checks of plain data: small functions that return nothing, or throw an ArtifactError naming the field. Records
 * refuse fields they do not know, since a reader that ignores a field may misread the rest.
 */
import { ArtifactError } from "./errors.ts";

/** Refuses `value`, which stands at the path `at`. */
export type Check = (value: unknown, at: string) => void;

export const manifestName = "manifest.json";

/** Throws the ArtifactError of a field. */
export function refuse(at: string, what: string): never {
  throw new ArtifactError(`${manifestName}: ${at} ${what}`);
}

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** A value as an error message shows it: at most 40 characters, and no nested ones, which may be deep. */
export function show(value: unknown): string {
  if (Array.isArray(value))
    return value.length <= 8 && value.every(isScalar)
      ? `[${value.map(show).join(",")}]`
      : `a list of ${value.length}`;
  if (!isScalar(value)) return "an object";
  if (typeof value !== "string") return String(value);
  return value.length > 40 ? `${JSON.stringify(value.slice(0, 40))}…` : JSON.stringify(value);
}

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** An integer from 0 to 2^53 − 1. */
export const count: Check = (value, at) => {
  if (!isCount(value)) refuse(at, `is ${show(value)}, not an integer from 0 to 2^53 - 1`);
};

export const flag: Check = (value, at) => {
  if (typeof value !== "boolean") refuse(at, `is ${show(value)}, not true or false`);
};

/** Text that `pattern` accepts and that no property of every object is called by. */
export const text =
  (pattern: RegExp, what: string): Check =>
  (value, at) => {
    if (typeof value !== "string" || value.length > 256 || !pattern.test(value) || value in {})
      refuse(at, `is ${show(value)}, not ${what}`);
  };

export const identifier = text(/^[A-Za-z_]\w*$/, "an identifier");

/** Names of tensors: printable, no backslash, no `..` between slashes. They never become file names. */
export const tensorName = text(
  /^(?!(.*\/)?\.\.(\/|$))[^\p{C}\\]+$/u,
  "a name of 1 to 256 printable characters without path parts",
);

export const oneOf =
  (...values: readonly string[]): Check =>
  (value, at) => {
    if (!values.includes(value as string))
      refuse(at, `is ${show(value)}, not one of ${values.join(", ")}`);
  };

export const list =
  (of: Check, max = 1 << 20): Check =>
  (value, at) => {
    if (!Array.isArray(value)) refuse(at, `is ${show(value)}, not a list`);
    if (value.length > max) refuse(at, `has ${value.length} elements, more than ${max}`);
    for (let i = 0; i < value.length; i++) of(value[i], `${at}[${i}]`);
  };

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An object with the fields of `needed`, perhaps those of `optional`, and no others. */
export const record =
  (
    needed: Readonly<Record<string, Check>>,
    optional: Readonly<Record<string, Check>> = {},
  ): Check =>
  (value, at) => {
    if (!isObject(value)) refuse(at, `is ${show(value)}, not an object`);
    const inside = (key: string) => (at ? `${at}.${key}` : key);
    for (const key of Object.keys(value))
      if (!Object.hasOwn(needed, key) && !Object.hasOwn(optional, key))
        refuse(at || "the manifest", `has the unknown field ${show(key)}`);
    for (const [key, check] of Object.entries(needed)) {
      if (!Object.hasOwn(value, key)) refuse(inside(key), "is missing");
      check(value[key], inside(key));
    }
    for (const [key, check] of Object.entries(optional))
      if (Object.hasOwn(value, key) && value[key] !== undefined) check(value[key], inside(key));
  };

/** An object from any names to values. */
export const dictionary =
  (key: Check, of: Check): Check =>
  (value, at) => {
    if (!isObject(value)) refuse(at, `is ${show(value)}, not an object`);
    for (const [k, v] of Object.entries(value)) {
      key(k, `the key of ${at}`);
      of(v, `${at}.${k}`);
    }
  };

/** Throws if two of `names` are equal. */
export function distinct(names: readonly string[], at: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) refuse(at, `has ${show(name)} twice`);
    seen.add(name);
  }
}
