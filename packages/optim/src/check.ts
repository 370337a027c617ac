/**
 * Checks of options, worded alike everywhere. NaN fails all of them.
 */
import { GraphError, kindOf } from "@kiln-ml/ir";

/** Throws unless low ≤ value < high. */
export function checkRange(
  op: string,
  what: string,
  value: number,
  low: number,
  high: number,
): void {
  if (typeof value !== "number" || !(value >= low && value < high))
    throw new GraphError(
      `${op}: ${what} must be in [${low}, ${high}), got ${kindOf(value)}\n  give a number of that range; what is left out has its default`,
    );
}

/** Throws unless the value is positive and finite. */
export function checkPositive(op: string, what: string, value: number): void {
  if (typeof value !== "number" || !(value > 0 && value < Infinity))
    throw new GraphError(
      `${op}: ${what} must be positive, got ${kindOf(value)}\n  give a number above 0; what is left out has its default`,
    );
}

/** The betas given, or the defaults: as many, each in [0, 1). */
export function checkBetas<B extends readonly number[]>(
  op: string,
  given: B | undefined,
  defaults: B,
): B {
  const betas = given ?? defaults;
  if (!Array.isArray(betas) || betas.length !== defaults.length)
    throw new GraphError(
      `${op}: betas must be ${defaults.length} numbers, got ${Array.isArray(betas) ? `[${betas.map(kindOf).join(", ")}]` : kindOf(betas)}\n  leave them out for ${defaults.join(", ")}`,
    );
  for (const [i, beta] of betas.entries()) checkRange(op, `betas[${i}]`, beta, 0, 1);
  return betas;
}
