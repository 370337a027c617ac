/**
 * Arguments that are part of the program rather than fed to it: booleans and strings as they are,
 * and what `asStatic` wraps, a number above all. The function sees their values; each other value
 * is a program of its own.
 */
import { GraphError } from "@kiln-ml/ir";
import { isRecord } from "./tree.ts";

/** A value that a compiled function is given as it is, rather than as a tensor. */
export class Static<T = unknown> {
  readonly value: T;
  /** The same text for equal values. */
  readonly key: string;

  constructor(value: T) {
    this.value = value;
    this.key = keyOf(value);
  }
}

/**
 * Makes an argument of a compiled function static: `f(x, asStatic(3))` calls it with the number 3,
 * which is part of the program, where `f(x, 3)` feeds a tensor. Takes numbers, strings, booleans,
 * null, undefined, and lists and plain objects of them; throws GraphError for others.
 * `static_argnums` of `jax.jit`.
 *
 * @param value Numbers, strings, booleans, null, undefined, lists and plain objects of them.
 * @example
 *   const power = compile((x, n) => (n === 2 ? x.square() : x.pow(n)));
 *   await power([3], asStatic(2)) // [9]; a program of its own for 2
 */
export const asStatic = <T>(value: T): Static<T> => new Static(value);

function keyOf(x: unknown): string {
  if (typeof x === "string") return JSON.stringify(x);
  if (typeof x === "number") return Object.is(x, -0) ? "-0" : String(x);
  if (typeof x === "boolean" || x === null || x === undefined) return String(x);
  if (Array.isArray(x)) return `[${x.map(keyOf)}]`;
  if (isRecord(x))
    return `{${Object.keys(x)
      .sort()
      .map((k) => `${JSON.stringify(k)}:${keyOf(x[k])}`)}}`;
  const given = x instanceof Object ? `a ${x.constructor.name}` : `a ${typeof x}`;
  throw new GraphError(
    `asStatic: takes numbers, strings, booleans, and lists and objects of them, got ${given}`,
  );
}

/** True for an argument that is no tensor and needs no wrapper either. */
export const isStatic = (x: unknown): x is boolean | string | Static =>
  typeof x === "boolean" || typeof x === "string" || x instanceof Static;

export const valueOfStatic = (x: boolean | string | Static): unknown =>
  x instanceof Static ? x.value : x;

export const keyOfStatic = (x: boolean | string | Static): string =>
  x instanceof Static ? x.key : keyOf(x);
