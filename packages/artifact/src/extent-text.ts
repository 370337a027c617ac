/** Extents and symbolic shapes as text: `[N,2*N+1]`. Evaluates nothing. */
import type { Extent } from "./artifact.ts";

const precedence = { "+": 1, "*": 2, "/": 2, "%": 2, min: 3, max: 3 } as const;

export function printExtent(e: Extent, outer = 0): string {
  if (typeof e === "number" || typeof e === "string") return String(e);
  const [op, a, b] = e;
  if (op === "min" || op === "max") return `${op}(${printExtent(a)},${printExtent(b)})`;
  const p = precedence[op];
  // Division floors, so a*(b/c) is not a*b/c: the right operand keeps its parentheses at equal precedence.
  const right = op === "+" ? p : p + 1;
  const text = `${printExtent(a, p)}${op}${printExtent(b, right)}`;
  return p < outer ? `(${text})` : text;
}

export const printShape = (shape: readonly Extent[]): string =>
  `[${shape.map((e) => printExtent(e)).join(",")}]`;
