/**
 * Sums whose rounding errors are kept and given back: Kahan 1965 (Higham 2002, section 4.3). The
 * error of a total is then a rounding or two, however many terms there are; schedules add up
 * blocks of terms plainly, and the sums of blocks with compensation, which four additions a block
 * pay for. Engines neither reassociate nor contract f32 arithmetic, so that the rests survive.
 */
import { type Dim, type Dtype, isFloat, maxOfDim, subDim } from "@kiln-ml/ir";
import { either } from "../kernel/conditions.ts";
import { call, constant, load, ref } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { compensated as limits } from "../sizes.ts";

/**
 * The dtype in which a sum is compensated; undefined where it need not be. Halves are f32 in
 * expressions.
 */
export const compensated = (dtype: Dtype): Dtype | undefined =>
  isFloat(dtype) && dtype !== "f64" ? "f32" : undefined;

/**
 * What adds `term` to a total: y = term − rest, t = total + y; the rest, (t − total) − y, is what t
 * has too much. Infinite totals have none.
 */
export function compensate(
  name: string,
  term: Expr,
  [total, rest]: readonly [Expr, Expr],
  assign: (total: Expr, rest: Expr) => readonly Stmt[],
): Stmt[] {
  const f32 = (op: string, ...args: Expr[]): Expr => call(op, "f32", ...args);
  const [y, t] = [ref(`${name}Term`, "f32"), ref(`${name}Total`, "f32")];
  const over = f32("sub", f32("sub", t, total), y);
  const finite = call("isFinite", "bool", t);
  return [
    { kind: "let", name: `${name}Term`, value: f32("sub", term, rest) },
    { kind: "let", name: `${name}Total`, value: f32("add", total, y) },
    {
      kind: "let",
      name: `${name}Rest`,
      value: call("select", "f32", finite, over, constant("f32", 0)),
    },
    ...assign(t, ref(`${name}Rest`, "f32")),
  ];
}

/** What is left over of a sum beside its total. */
export const declareRest = (name: string): Stmt => declareF32(`${name}Left`);

/** An accumulator that starts at 0. */
export const declareF32 = (name: string): Stmt => ({
  kind: "acc",
  name,
  dtype: "f32",
  init: constant("f32", 0),
  widened: false,
});

/** Adds a term to the accumulator `name`, of which `declareRest` has declared the rest. */
export const addToTotal = (name: string, term: Expr): Stmt[] =>
  compensate(name, term, [ref(name, "f32"), ref(`${name}Left`, "f32")], (total, rest) => [
    { kind: "set", name: `${name}Left`, value: rest },
    { kind: "set", name, value: total },
  ]);

/** Arrays that hold the sums of a block of results, and what is left over of them. */
export interface Totals {
  readonly sums: string;
  readonly rest: string;
}

/** Adds a term to an element of an array of sums; `name` is new in the block of statements. */
export function addToElement(
  name: string,
  dtype: Dtype,
  index: Dim,
  term: Expr,
  { sums, rest }: Totals,
): Stmt[] {
  const put = (to: string, value: Expr): Stmt => ({ kind: "store", to, index, value });
  const before = load(sums, dtype, index);
  if (!compensated(dtype)) return [put(sums, call("add", dtype, before, term))];
  return compensate(name, term, [before, load(rest, dtype, index)], (total, left) => [
    put(rest, left),
    put(sums, total),
  ]);
}

/** Terms of a sum, and how many of them make a block that is added to the total at once. */
export interface Blocks {
  readonly depth: Dim;
  readonly most: number;
}

/** Not negative where there are too many blocks to add them plainly. */
const manyBlocks = ({ depth, most }: Blocks): Dim => subDim(depth, limits.blocks * most + 1);

/**
 * Whether totals may have to be compensated, so that an array must hold what is left over of them.
 */
export const mayBeMany = (dtype: Dtype, blocks: Blocks): boolean =>
  compensated(dtype) !== undefined && maxOfDim(manyBlocks(blocks)) >= 0;

/**
 * Those of two ways that the number of blocks asks for, of which `compensated` adds to totals with
 * compensation.
 */
export const byBlocks = (
  dtype: Dtype,
  blocks: Blocks,
  exact: readonly Stmt[],
  plain: readonly Stmt[],
): Stmt[] => (mayBeMany(dtype, blocks) ? either(manyBlocks(blocks), exact, plain) : [...plain]);
