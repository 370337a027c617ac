/**
 * Evaluates the integer expressions of an artifact. The only arithmetic the runtime does on dims.
 */
import type { Extent } from "./artifact.ts";
import { ArtifactError } from "./errors.ts";

/** The value of `e`; throws ArtifactError for a symbol without a value or a malformed expression. */
export function evaluateExtent(e: Extent, dims: Readonly<Record<string, number>>): number {
  if (typeof e === "number") return e;
  if (typeof e === "string") {
    const v = Object.hasOwn(dims, e) ? dims[e] : undefined;
    if (v === undefined) throw new ArtifactError(`extent: dim ${e} has no value`);
    return v;
  }
  const [op, a, b] = e;
  const x = evaluateExtent(a, dims);
  const y = evaluateExtent(b, dims);
  switch (op) {
    case "+":
      return x + y;
    case "*":
      return x * y;
    case "/":
      return Math.floor(x / y);
    case "%":
      return x - Math.floor(x / y) * y;
    case "min":
      return Math.min(x, y);
    case "max":
      return Math.max(x, y);
    default:
      throw new ArtifactError(`extent: unknown operator ${String(op satisfies never)}`);
  }
}

/** The value of `e` as a size; throws ArtifactError if it is negative, not finite or beyond 2^53 − 1. */
export function evaluateSize(e: Extent, dims: Readonly<Record<string, number>>): number {
  const size = evaluateExtent(e, dims);
  if (!Number.isSafeInteger(size) || size < 0)
    throw new ArtifactError(
      `extent: ${JSON.stringify(e)} is ${size} for ${JSON.stringify(dims)}, not an integer from 0 to 2^53 - 1`,
    );
  return size;
}

/** The dims that `e` names. */
export function dimsOf(e: Extent, into: Set<string> = new Set()): Set<string> {
  if (typeof e === "string") into.add(e);
  else if (typeof e !== "number") {
    dimsOf(e[1], into);
    dimsOf(e[2], into);
  }
  return into;
}
