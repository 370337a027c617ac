/**
 * Checks of options, worded alike everywhere. NaN fails all of them.
 */
import { GraphError } from "@kiln-ml/ir";

/** Throws unless low ≤ value < high. */
export function checkRange(
  op: string,
  what: string,
  value: number,
  low: number,
  high: number,
): void {
  if (!(value >= low && value < high))
    throw new GraphError(
      `${op}: ${what} must be in [${low}, ${high}), got ${value}\n  give a number of that range; what is left out has its default`,
    );
}

/** Throws unless the value is positive and finite. */
export function checkPositive(op: string, what: string, value: number): void {
  if (!(value > 0 && value < Infinity))
    throw new GraphError(
      `${op}: ${what} must be positive, got ${value}\n  give a number above 0; what is left out has its default`,
    );
}
