/**
 * What must hold of extents for a graph to be what it says. Of numbers that is checked where a node is built; of symbols it
 * is a requirement on the run: recorded here, told to the runtime by the compiler, checked before anything runs.
 */
import { type Dim, isNonNegative, isStatic, keyOfDim, maxOfDim, subDim } from "./dim.ts";
import type { KilnError } from "./errors.ts";

/** `value` ≥ 0, or the run is refused with `text`. */
export interface Requirement {
  readonly value: Dim;
  readonly text: string;
}

let current: Map<string, Requirement> | undefined;

/** Runs `define` and tells what it requires of symbols, each once. */
export function withRequirements<T>(define: () => T): {
  readonly value: T;
  readonly requirements: readonly Requirement[];
} {
  const before = current;
  const found = new Map<string, Requirement>();
  current = found;
  try {
    return { value: define(), requirements: [...found.values()] };
  } finally {
    current = before;
  }
}

/** `value` is `least` or more: throws what `refuse` makes where it never is, and requires it of the run where it may not be. */
export function requireAtLeast(value: Dim, least: number, refuse: () => KilnError): void {
  if (isStatic(value)) {
    if (value < least) throw refuse();
    return;
  }
  if (maxOfDim(value) < least) throw refuse();
  if (!current) return;
  const spare = subDim(value, least);
  if (isNonNegative(spare)) return;
  const key = keyOfDim(spare);
  if (!current.has(key)) current.set(key, { value: spare, text: refuse().message });
}
