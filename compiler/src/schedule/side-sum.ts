/**
 * Sums that run along with an operand of a contraction: which reduction they stand for, and the stores that follow when
 * one is finished. The schedules say when that is.
 */
import type { Tensor } from "@kiln-ml/ir";
import type { Group } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { isReduceOp, type Job, openBlock, storeMembers } from "../lower/job.ts";
import { ref } from "../lower/value.ts";

/** The one reduction of a group that runs beside a contraction. */
export const sumOf = (group: Group): Tensor => [...group.members.keys()].find(isReduceOp)!;

/** Stores what depends on the finished sum of one line, which the accumulator `name` holds. */
export function storeSide(job: Job, side: Group["sideSums"][number], name: string): Stmt[] {
  const part: Job = { ...job, group: side.group };
  const block = openBlock(part);
  const sum = sumOf(side.group);
  block.bind(sum, ref(name, sum.dtype));
  storeMembers(part, block, side.rename);
  return block.body;
}
