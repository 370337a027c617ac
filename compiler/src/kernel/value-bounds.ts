/**
 * What is known of an i32 value that becomes an index at run time: it was clamped, or counted.
 * Bounds only; what a value is nobody knows before it is computed.
 */
import {
  addDim,
  type Dim,
  evaluateElement,
  maxDim,
  maxOfDim,
  minDim,
  minOfDim,
  mulDim,
  negDim,
  opRecord,
  sameDim,
} from "@kiln-ml/ir";
import type { Expr } from "./kernel.ts";
import { isProved } from "./proof.ts";
import { inTermsOf, type Known, whether } from "./reach.ts";

/** What a value is surely not less or more than, each of them. */
export interface Bounds {
  readonly lower: readonly Dim[];
  readonly upper: readonly Dim[];
}

const nothing: Bounds = { lower: [], upper: [] };
const exactly = (d: Dim): Bounds => ({ lower: [d], upper: [d] });

/** Whether both bounds are one expression. */
export const isExact = ({ lower: [low], upper: [high] }: Bounds): boolean =>
  low !== undefined && high !== undefined && sameDim(low, high);

/** Of a value that has become a symbol. */
const namedBounds = (name: string, { names }: Known): Bounds =>
  names.has(name) ? exactly(names.get(name)!) : nothing;

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
  if (e.kind === "ref") return values.get(e.name) ?? namedBounds(e.name, known);
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
    case "and":
      return isWhole(e.dtype) ? masked(a, b, known) : nothing;
    case "shiftLeft":
      return isWhole(e.dtype) ? shifted(a, b, known) : nothing;
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

/** a & b has no bit that a lacks: where a ≥ 0 it is from 0 to a, and where b ≥ 0 from 0 to b. */
function masked(a: Bounds, b: Bounds, known: Known): Bounds {
  const counts = [a, b].filter((x) => isCount(x, known));
  return { lower: counts.length > 0 ? [0] : [], upper: counts.flatMap((x) => x.upper) };
}

/**
 * a·2ᵇ for a ≥ 0 and b ≥ 0. That an extent does not overflow is assumed, as it is in sums; of a
 * range that is known no bit may reach the sign.
 */
function shifted(a: Bounds, b: Bounds, known: Known): Bounds {
  if (!isCount(a, known) || !isCount(b, known)) return nothing;
  const [greatest, most] = [a, b].map(({ upper }) => Math.min(...upper.map(maxOfDim)));
  if (most! > 30 || (greatest! < Infinity && greatest! * 2 ** most! >= 2 ** 31)) return nothing;
  const least = Math.max(0, ...b.lower.map(minOfDim));
  const times = (by: number) => (d: Dim) => mulDim(d, 2 ** by);
  return { lower: [0, ...a.lower.map(times(least))], upper: a.upper.map(times(most!)) };
}

const isCount = ({ lower }: Bounds, { facts }: Known): boolean =>
  lower.some((d) => isProved(d, facts));

const negated = ({ lower, upper }: Bounds): Bounds => ({
  lower: upper.map(negDim),
  upper: lower.map(negDim),
});
