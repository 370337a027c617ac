/**
 * The loops of map and rows groups on a CPU: outer loops around inner ones, neighbours merged where memory is contiguous.
 * A reduction over rows (column sums) runs over blocks of columns, so that memory is read in order.
 */
import { maxOfDim, offsetOf } from "@kiln-ml/ir";
import type { Loop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { collapse, nest, type Rename, totalOf } from "../lower/loops.ts";
import { declareAcc, emitRoot, emitRow, rootReduces } from "../lower/rows.ts";
import { dimsIn } from "../lower/walk.ts";
import { type ColumnBlocks, readsByColumn, sumColumns } from "./columns.ts";

/** Inner loops of at most this many iterations are written out. */
const unrollLimit = 9;

/** Two cache lines of f32 at once, in double, as the scalar accumulators of this target are. */
const columnBlocks: ColumnBlocks = { width: 32, loop: "serial", double: true };

export function serialRows(job: Job): Stmt[] {
  const { group } = job;
  const row = (rename: Rename, inner: readonly Loop[]): Stmt[] => {
    const block = openBlock(job);
    emitRow(job, block, {
      rename,
      inner: (body) => nest(inner, isSmall(inner) ? "unrolled" : "serial", body),
      ...(isSmall(inner) ? {} : { keep: keepIn(inner) }),
      once: (body) => [...body],
    });
    return block.body;
  };
  const inner = collapse(group.inner, new Map(), (r) => dimsIn(row(r, [])));
  const outer = collapse(group.outer, inner.rename, (r) => dimsIn(row(r, [])));
  if (!isSmall(inner.loops) && readsByColumn(job, outer.loops, inner.loops, row(outer.rename, [])))
    return sumColumns(job, outer.loops, inner.loops, outer.rename, columnBlocks);
  const body = row(outer.rename, inner.loops);
  const root = openBlock(job);
  root.body.push(...rootReduces(job).map((r) => declareAcc(job, r)));
  root.body.push(...nest(outer.loops, "parallel", body));
  emitRoot(job, root);
  return root.body;
}

/** One element an iteration, in the order of the loops. */
const keepIn = (inner: readonly Loop[]) => ({
  index: offsetOf(
    inner.map((l) => l.extent),
    inner.map((l) => l.at),
  ),
  size: totalOf(inner),
  double: true,
});

const isSmall = (loops: readonly Loop[]): boolean =>
  loops.reduce((n, l) => n * maxOfDim(l.extent), 1) <= unrollLimit;
