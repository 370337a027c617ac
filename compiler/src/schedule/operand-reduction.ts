/**
 * Sums that run along with an operand of a contraction: which reduction they stand for, and the stores that follow when
 * one is finished. The schedules say when that is.
 */
import type { Tensor } from "@kiln-ml/ir";
import type { Group } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { isReduceOp, type LoweringContext, openBlock, storeMembers } from "../lower/context.ts";
import { inDtype } from "../lower/value.ts";

/** The one reduction of a group that runs beside a contraction. */
export const sumOf = (group: Group): Tensor => [...group.members.keys()].find(isReduceOp)!;

/** Stores what depends on the finished sum of one line. */
export function storeReduction(
  context: LoweringContext,
  side: Group["operandReductions"][number],
  value: Expr,
): Stmt[] {
  const part: LoweringContext = { ...context, group: side.group };
  const block = openBlock(part);
  const sum = sumOf(side.group);
  block.bind(sum, inDtype(value, sum.dtype));
  storeMembers(part, block, side.rename);
  return block.body;
}
