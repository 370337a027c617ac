/**
 * What is known of an i32 value that becomes an index at run time: it was clamped, or counted.
 * Bounds only; what a value is nobody knows before it is computed.
 */
import { addDim, type Dim, evaluateElement, maxDim, minDim, negDim, opRecord } from "@kiln-ml/ir";
import type { Expr } from "./kernel.ts";
import { inTermsOf, type Known, whether } from "./reach.ts";

/** What a value is surely not less or more than, each of them. */
export interface Bounds {
  readonly lower: readonly Dim[];
  readonly upper: readonly Dim[];
}

const nothing: Bounds = { lower: [], upper: [] };
const exactly = (d: Dim): Bounds => ({ lower: [d], upper: [d] });

type Values = ReadonlyMap<string, Bounds>;

export function boundsOf(e: Expr, known: Known, values: Values): Bounds {
  const own = plainBounds(e, known, values);
  return e.dtype === "u32" || e.dtype === "bool" ? { ...own, lower: [...own.lower, 0] } : own;
}

function plainBounds(e: Expr, known: Known, values: Values): Bounds {
  if (e.kind === "const") return Number.isInteger(e.value) ? exactly(e.value) : nothing;
  if (e.kind === "index") return exactly(inTermsOf(e.value, known));
  if (e.kind === "test") {
    const holds = whether(known, e.conditions);
    return holds === undefined ? { lower: [0], upper: [1] } : exactly(Number(holds));
  }
  if (e.kind === "ref") return values.get(e.name) ?? nothing;
  if (e.kind === "load") return nothing;
  const args = e.args.map((a) => boundsOf(a, known, values));
  const numbers = args.map(numberOf);
  if (isWhole(e.dtype) && numbers.every((n) => n !== undefined))
    return exactly(evaluateElement(opRecord(e.op), e.args[0]!.dtype, e.dtype, numbers));
  const [a, b] = args as [Bounds, Bounds];
  switch (e.op) {
    case "minimum":
      return { lower: pairs(a.lower, b.lower, minDim), upper: [...a.upper, ...b.upper] };
    case "maximum":
      return { lower: [...a.lower, ...b.lower], upper: pairs(a.upper, b.upper, maxDim) };
    case "select":
      if (numbers[0] !== undefined) return args[numbers[0] ? 1 : 2]!;
      return hull(args[1]!, args[2]!);
    case "convert":
      return isWhole(e.dtype) && isWhole(e.args[0]!.dtype) ? a : nothing;
    case "add":
      return isWhole(e.dtype) ? sum(a, b) : nothing;
    case "sub":
      return isWhole(e.dtype) ? sum(a, negated(b)) : nothing;
    default:
      return nothing;
  }
}

/** The number that a value is, if it can be but one. */
function numberOf({ lower, upper }: Bounds): number | undefined {
  const [low] = lower;
  return typeof low === "number" && upper.includes(low) ? low : undefined;
}

const isWhole = (dtype: string): boolean => dtype === "i32" || dtype === "u32";

const pairs = (a: readonly Dim[], b: readonly Dim[], of: (x: Dim, y: Dim) => Dim): Dim[] =>
  a.flatMap((x) => b.map((y) => of(x, y)));

const hull = (a: Bounds, b: Bounds): Bounds => ({
  lower: pairs(a.lower, b.lower, minDim),
  upper: pairs(a.upper, b.upper, maxDim),
});

const sum = (a: Bounds, b: Bounds): Bounds => ({
  lower: pairs(a.lower, b.lower, addDim),
  upper: pairs(a.upper, b.upper, addDim),
});

const negated = ({ lower, upper }: Bounds): Bounds => ({
  lower: upper.map(negDim),
  upper: lower.map(negDim),
});
