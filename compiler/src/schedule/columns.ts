/**
 * Rows and scans that run down the columns of a matrix: which do, and the recipe that keeps the
 * accumulators of a block of columns at once, so that memory is read in order.
 *
 * Why this shape: one column at a time reads a cache line for each element it uses. A block of
 * columns reads whole lines, in the order that the processor prefetches, and its accumulators stay
 * in L1. How wide a block is depends on the target: with lanes and threads wide blocks are read
 * faster, and few columns in narrow ones keep threads busy.
 */
import type { Dtype } from "@kiln-ml/ir";
import type { LoopKind, Of, Stmt } from "../kernel/kernel.ts";
import { type Named, walksByColumn } from "../kernel/stride.ts";
import { type LoweringContext, membersOf } from "../lower/context.ts";
import { phasesOf, rootReduces } from "../lower/rows.ts";
import type { Step } from "./recipe.ts";

/**
 * True if most loads step by one element along the last outer loop and not along the last inner
 * one. Only for groups of one phase that store nothing on the way.
 */
export function readsByColumn(
  context: LoweringContext,
  outer: readonly Named[],
  inner: readonly Named[],
  body: readonly Stmt[],
): boolean {
  const plain = phasesOf(context).length === 1 && phasesOf(context)[0]!.stores.length === 0;
  const [o, i] = [outer.at(-1), inner.at(-1)];
  if (!plain || !o || !i || rootReduces(context).length > 0) return false;
  return !hasPositions(context) && walksByColumn(body, o, i);
}

/** True if lines of a scan lie across memory. */
export const scansByColumn = (
  context: LoweringContext,
  last: Named,
  axis: Named,
  body: readonly Stmt[],
): boolean => !hasPositions(context) && walksByColumn(body, last, axis);

/** The extreme beside a position has no array to be kept in. */
const hasPositions = (context: LoweringContext): boolean =>
  membersOf(context.group).some(([t]) => t.op.startsWith("arg"));

/** The columns in blocks, each run down together. */
export const inColumns = ({ name }: Named, width: number, kind: LoopKind): Step[] => [
  ["split", name, width, "block", "c"],
  ["inline", name],
  ["expand", "c", width],
  ["mark", "c", kind],
];

/** Accumulators of a line that are kept in another dtype. */
export const keptIn = (line: readonly Stmt[], dtypeOf: (acc: Of<"acc">) => Dtype): Step[] =>
  line.flatMap((s): Step[] => {
    const dtype = s.kind === "acc" ? dtypeOf(s) : undefined;
    return s.kind === "acc" && dtype && dtype !== s.dtype ? [["promote", s.name, dtype]] : [];
  });
