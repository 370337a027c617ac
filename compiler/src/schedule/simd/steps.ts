/**
 * What an operand in blocks is made of: value = step · scale + offset, where scale and offset are
 * the same for a whole block of depth and steps may be fields of words. Reads expressions; makes no
 * loops.
 *
 * Why it matters: Σ (q·s + o)·x over a block is s·Σ q·x + o·Σ x, so that what is the same is
 * applied once a block and not once an element, and sums of small integers stay integers.
 */
import { type Dim, type Dtype, symbolsIn } from "@kiln-ml/ir";
import { call, constant } from "../../kernel/expr.ts";
import type { Expr } from "../../kernel/kernel.ts";
import { exprVaries, type Varying } from "../../kernel/varies.ts";
import { dimsIn } from "../../kernel/walk.ts";

export interface Steps {
  readonly step: Expr;
  readonly scale: Expr | undefined;
  readonly offset: Expr | undefined;
}

/**
 * A value as steps of what does not differ within a block; all of it is a step where nothing is.
 */
export function stepsOf(e: Expr, by: Varying): Steps {
  const alone: Steps = { step: e, scale: undefined, offset: undefined };
  if (e.kind !== "call" || e.dtype !== "f32") return alone;
  const [a, b] = e.args as [Expr, Expr];
  if (e.op !== "mul" && e.op !== "add" && e.op !== "sub") return alone;
  const [differs, same] = exprVaries(a, by) ? [a, b] : [b, a];
  if (exprVaries(same, by) || (e.op === "sub" && differs === b)) return alone;
  const { step, scale, offset } = stepsOf(differs, by);
  const times = (t: Expr | undefined) => t && call("mul", "f32", t, same);
  if (e.op === "mul") return { step, scale: times(scale) ?? same, offset: times(offset) };
  const more = e.op === "sub" ? call("neg", "f32", same) : same;
  return { step, scale, offset: offset ? call("add", "f32", offset, more) : more };
}

/** Steps of nine bits with their sign: a byte of either kind, or the difference of two. */
const mostStep = 511;

/**
 * Whether a step is a small integer. Σ (q·s + o)·x = s·Σ q·x + o·Σ x holds in floats as well only
 * where q is: of floats, q·x may overflow where q·s·x does not, and an offset that takes nearly all
 * of q away (a mean) would leave the rounding errors of q.
 */
export function isSmallStep(step: Expr): boolean {
  if (step.kind !== "call" || step.op !== "convert") return false;
  const found = rangeOf(step.args[0]!);
  return found !== undefined && Math.max(-found[0], found[1]) <= mostStep;
}

type Interval = readonly [low: number, high: number];

const byteRanges: Partial<Record<Dtype, Interval>> = {
  i8: [-128, 127],
  u8: [0, 255],
  bool: [0, 1],
};

/** The least and the greatest value that an integer has by its dtype and ops, if they are known. */
function rangeOf(e: Expr): Interval | undefined {
  if (e.kind === "const") return [e.value, e.value];
  if (e.kind !== "call" || byteRanges[e.dtype]) return byteRanges[e.dtype];
  const by = e.args[1]?.kind === "const" ? e.args[1].value : undefined;
  if (e.op === "shiftRight" && by !== undefined && by > 0 && by < 32)
    return e.dtype === "i32" ? [-(2 ** (31 - by)), 2 ** (31 - by) - 1] : [0, 2 ** (32 - by) - 1];
  if (e.op === "and" && by !== undefined && by >= 0) return [0, by];
  const range = sumOf(e.op, e.args.map(rangeOf));
  // What is below 0 or beyond the bits wraps around.
  const isHeld = range && range[1] < 2 ** 31 && range[0] >= (e.dtype === "i32" ? -(2 ** 31) : 0);
  return isHeld ? range : undefined;
}

function sumOf(op: string, [a, b]: readonly (Interval | undefined)[]): Interval | undefined {
  if (op === "convert") return a;
  if (!a || !b) return undefined;
  if (op === "add") return [a[0] + b[0], a[1] + b[1]];
  return op === "sub" ? [a[0] - b[1], a[1] - b[0]] : undefined;
}

/** Calls in an expression, each as often as it is read. */
export const callsIn = (e: Expr): number =>
  e.kind === "call" ? e.args.reduce((n, a) => n + callsIn(a), 1) : 0;

/** The constants by which index expressions divide what depends on a symbol. */
export function divisorsOf(e: Expr, name: string): Set<number> {
  const found = new Set<number>();
  const inside = (d: Dim): void => {
    if (typeof d === "number" || !symbolsIn(d).has(name)) return;
    for (const { atoms } of d.terms)
      for (const a of atoms) {
        if (a.kind === "symbol") continue;
        if (typeof a.rhs === "number") found.add(a.rhs);
        inside(a.lhs);
      }
  };
  for (const d of dimsIn([{ kind: "let", name: "x", value: e }])) inside(d);
  return found;
}

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => Math.imul(a, b),
  neg: (a) => -a,
};

/** The same with index expressions that are numbers taken into account: shifts by a number. */
export function folded(e: Expr): Expr {
  if (e.kind === "index" && typeof e.value === "number") return constant("i32", e.value);
  if (e.kind !== "call") return e;
  const args = e.args.map(folded);
  const numbers = args.flatMap((a) => (a.kind === "const" && a.dtype === "i32" ? [a.value] : []));
  const f = arithmetic[e.op];
  if (f && e.dtype === "i32" && numbers.length === args.length)
    return constant("i32", f(numbers[0]!, numbers[1] ?? 0));
  return { ...e, args };
}

/** A signed integer of some bits of a word. */
export interface Field {
  readonly word: Expr;
  readonly bits: number;
  readonly first: number;
}

/** Field of a step `convert(word << a >> b)`; undefined for what is not one. */
export function fieldOf(step: Expr): Field | undefined {
  const shifted = callOf(step, "convert");
  if (shifted?.dtype !== "i32") return undefined;
  const right = shiftOf(shifted, "shiftRight");
  const left = right && shiftOf(right.of, "shiftLeft");
  const word = (left ?? right)?.of;
  const inner = word && callOf(word, "bitcast");
  if (!right || inner?.kind !== "load") return undefined;
  return { word: inner, bits: 32 - right.by, first: right.by - (left?.by ?? 0) };
}

const callOf = (e: Expr, op: string): Expr | undefined =>
  e.kind === "call" && e.op === op ? e.args[0] : undefined;

function shiftOf(e: Expr, op: string): { of: Expr; by: number } | undefined {
  const of = callOf(e, op);
  const by = of && e.kind === "call" ? e.args[1] : undefined;
  return of && by?.kind === "const" ? { of, by: by.value } : undefined;
}
