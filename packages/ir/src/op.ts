/**
 * What an op record is. One record per op holds everything a compiler needs to know of it: its type rule, the value
 * of one element, its gradient, its spelling in emitted text. The compiler reads records and has no list of ops of its
 * own; a target may override a spelling. Values of whole tensors are in `reference/`, which a page does not download.
 */

import type { NodeOf } from "./attributes.ts";
import type { Dim } from "./dim.ts";
import { convertNumber, type Dtype, isInteger, roundTo } from "./dtype.ts";
import { bug } from "./errors.ts";
import type { Attrs, ResultType, Tensor } from "./node.ts";

export type Family =
  | "source" // no operands: input, param, data, constant, iota; and randomBits
  | "elementwise" // result element depends on the operand elements at the same coordinates
  | "movement" // result element is one operand element, or a fill value, chosen by coordinates
  | "reduce" // sum, prod, max, min, argMax … over axes, and fold
  | "scan" // cumsum, cumprod, cummax, cummin: each result from the elements up to its place
  | "sort" // argSort
  | "contraction" // dotGeneral, convolution
  | "gather"
  | "scatter"
  | "control"; // call, cond, whileLoop, scan, result, customKernel

/**
 * Cotangents of `xs` from those of `results`, one or none each; undefined where no gradient flows. How the gradient of
 * an op with regions differentiates their bodies.
 */
export type Pullback = (
  results: readonly Tensor[],
  cotangents: readonly (Tensor | undefined)[],
  xs: readonly Tensor[],
) => (Tensor | undefined)[];

/** A test on an index expression: value ≥ 0, or value = 0. A list of them is a conjunction. */
export interface Condition {
  readonly value: Dim;
  readonly test: "nonnegative" | "zero";
}

/** One way a movement op's element may come about: `operand` at `coords`, if all of `when` hold. */
export interface Piece {
  readonly operand: number;
  readonly coords: readonly Dim[];
  readonly when: readonly Condition[];
}

/** The record of op K, whose functions get nodes with typed attributes; `OpRecord` alone is that of any op. */
export interface OpRecord<K extends string = string> {
  readonly name: K;
  readonly family: Family;
  /** Throws ShapeError or DtypeError unless operands and attributes fit; gives the type of the result. */
  infer(operands: readonly Tensor[], attrs: Attrs, node?: ResultType): ResultType;
  /** Cotangents of the operands from that of the result; undefined where no gradient flows. */
  vjp?(g: Tensor, y: NodeOf<K>, ...operands: Tensor[]): readonly (Tensor | undefined)[];

  /**
   * As `vjp`, for a node with several results: from a cotangent, or none, of each. `active` says of each operand
   * whether its cotangent is asked for.
   */
  vjpOfAll?(
    cotangents: readonly (Tensor | undefined)[],
    node: NodeOf<K>,
    active: readonly boolean[],
    pullback: Pullback,
  ): readonly (Tensor | undefined)[];

  // Elementwise ops.
  /** The value of one element in double precision; the caller rounds to the dtype. */
  eval?(...x: number[]): number;
  /** The value on integers where double precision does not hold it; the caller wraps it to the dtype. */
  evalInteger?(...x: number[]): number;
  /**
   * C-family text. `infix` operators are parenthesised by the printer; others are `spell(args)`, whose arguments may
   * be compound: it puts parentheses around them and around itself.
   */
  readonly infix?: string;
  spell?(...args: string[]): string;
  /** Where tests sample operands: [low, high], one for all operands. */
  readonly domain?: readonly [number, number];
  /** The gradient may be checked by differences everywhere in the domain. */
  readonly smooth?: boolean;
  /** Units in the last place a target may be off in f32; 0 means exact. */
  readonly ulp?: number;
  /** Costly enough (tens of instructions) that recomputing it is worth a store. */
  readonly costly?: boolean;

  // Movement, reduce and contraction ops.
  /**
   * Where the element at `coords` of the result comes from. Movement: the first piece whose conditions
   * hold counts; a piece does not repeat that those before it do not hold. Reduce and contraction:
   * `coords` goes on with one variable for each of `reductionExtents`; a reduction has one piece and
   * a contraction one for each factor, and a term whose conditions do not hold is left out.
   */
  pieces?(node: NodeOf<K>, coords: readonly Dim[]): readonly Piece[];

  // Reduce and scan ops.
  /** How elements are combined. */
  readonly reducer?: Reducer;
}

export type Reducer = "sum" | "prod" | "max" | "min" | "any" | "all" | "argMax" | "argMin";

const records = new Map<string, OpRecord>();

/** Registers a record under its name and returns it. */
export function defineOp<const K extends string>(record: OpRecord<K>): OpRecord {
  const any = record as OpRecord<string>;
  records.set(any.name, any);
  return any;
}

export function opRecord(name: string): OpRecord {
  const record = records.get(name);
  if (!record) throw new Error(`op: ${name} has no record`);
  return record;
}

export const allOps = (): readonly OpRecord[] => [...records.values()];
export const hasOp = (name: string): boolean => records.has(name);
export const isElementwise = (t: Tensor): boolean => opRecord(t.op).family === "elementwise";
export const isMovement = (t: Tensor): boolean => opRecord(t.op).family === "movement";

/** One element of an elementwise op from operands of dtype `from`, the first, to a result of `dtype`. For the reference, and for folding. */
export function evaluateElement(
  record: OpRecord,
  from: Dtype,
  dtype: Dtype,
  x: readonly number[],
): number {
  if (record.name === "convert") return convertNumber(from, dtype, x[0]!);
  const f = (isInteger(dtype) && record.evalInteger) || record.eval;
  if (!f) return bug("evaluate", `${record.name} has no value of one element`);
  return roundTo(dtype, f(...x));
}
