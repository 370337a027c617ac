/**
 * Scans down the rows of a matrix: a block of neighbouring columns side by side, so that memory is read and written in
 * order. What each column has come to lies in an array. The steps of a column run in the order of the axis.
 */
import { opRecord, type Tensor } from "@kiln-ml/ir";
import type { Loop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { identityOf, type Job, openBlock } from "../lower/job.ts";
import { nest, type Rename } from "../lower/loops.ts";
import { accName } from "../lower/rows.ts";
import { emitAfter, emitStep, runningOf } from "../lower/scans.ts";
import { doubled, inDtype, load, ref, sumDtype } from "../lower/value.ts";
import { type Block, type ColumnBlocks, type Columns, inBlocks } from "./columns.ts";
import { walksByColumn } from "./stride.ts";

/** True if lines lie across memory. The extreme beside a position has no array to be kept in. */
export function scansByColumn(
  job: Job,
  outer: readonly Loop[],
  inner: Loop,
  body: readonly Stmt[],
): boolean {
  const last = outer.at(-1);
  const args = runningOf(job).some((t) => t.op.startsWith("arg"));
  return last !== undefined && !args && walksByColumn(body, last, inner);
}

export function scanColumns(
  job: Job,
  outer: readonly Loop[],
  inner: Loop,
  rename: Rename,
  blocks: ColumnBlocks,
): Stmt[] {
  return inBlocks(outer, rename, blocks, (c) => blockOfScans(job, inner, blocks, c));
}

/** Accumulators started, taken down the axis together, finished. */
function blockOfScans(
  job: Job,
  inner: Loop,
  { double, width }: ColumnBlocks,
  { by, column, each }: Columns,
): Block {
  // Sums of f32 may be kept in double, as scalar accumulators of js are.
  const kept = ({ op, dtype }: Tensor) =>
    !isWide(op) ? dtype : double ? doubled(dtype) : sumDtype(dtype);
  const narrow = (r: Tensor, e: Expr): Expr => inDtype(e, r.dtype);
  const [start, step, finish] = [openBlock(job), openBlock(job), openBlock(job)];
  const [arrays, back]: Stmt[][] = [[], []];
  for (const r of runningOf(job)) {
    const [acc, name, dtype] = [accName(job, r), `${accName(job, r)}s`, kept(r)];
    const at = { to: name, index: column.at };
    arrays!.push({ kind: "array", name, dtype, size: width, space: "private" });
    start.body.push({ kind: "store", ...at, value: identityOf(r, dtype) });
    const init = load(name, dtype, column.at);
    step.body.push({ kind: "acc", name: acc, dtype, init, wide: isWide(r.op) });
    back!.push({ kind: "store", ...at, value: ref(acc, dtype) });
  }
  emitStep(job, step, by, (r) => narrow(r, ref(accName(job, r), kept(r))));
  emitAfter(job, finish, by, (r) => narrow(r, load(`${accName(job, r)}s`, kept(r), column.at)));
  const body = [
    ...each(start.body),
    ...nest([inner], "serial", each([...step.body, ...back!])),
    ...(finish.body.length ? each(finish.body) : []),
  ];
  return { arrays: arrays!, body };
}

const isWide = (op: string): boolean => ["sum", "prod"].includes(opRecord(op).reducer!);
