/**
 * The naive kernel of a group: its loops in the group's own order, one phase after another. Knows
 * no target. Loops say what is true of them: `parallel` iterations are independent, `simd` ones but
 * for accumulators, `serial` ones in no way; schedules choose among what that allows.
 */
import type { Stmt } from "../kernel/kernel.ts";
import { type LoweringContext, openBlock } from "./context.ts";
import { nest } from "./loops.ts";
import { declareAcc, emitRoot, emitRow, rootReduces } from "./rows.ts";
import { lineOf } from "./scans.ts";

/** A map or rows group. */
export function naiveRows(context: LoweringContext): Stmt[] {
  const row = openBlock(context);
  emitRow(context, row);
  const root = openBlock(context);
  const sums = rootReduces(context);
  root.body.push(...sums.map((r) => declareAcc(context, r)));
  root.body.push(...nest(context.group.outer, sums.length > 0 ? "simd" : "parallel", row.body));
  emitRoot(context, root);
  return root.body;
}

/** A scan group: each line a step of the axis after the other. */
export const naiveScan = (context: LoweringContext): Stmt[] =>
  nest(context.group.outer, "parallel", lineOf(context));
