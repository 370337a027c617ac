/**
 * The loops of map and rows groups on a CPU: outer loops around inner ones, neighbours merged where memory is contiguous.
 * A reduction over rows (column sums) runs over blocks of columns, so that memory is read in order.
 */
import { maxOfDim, offsetOf, opRecord } from "@kiln-ml/ir";
import type { Loop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import {
  identityOf,
  type Job,
  membersOf,
  openBlock,
  reducedValue,
  storeMember,
} from "../lower/job.ts";
import { collapse, nest, type Rename, renamed, totalOf } from "../lower/loops.ts";
import { accName, declareAcc, emitRoot, emitRow, phasesOf, rootReduces } from "../lower/rows.ts";
import { call, load, ref } from "../lower/value.ts";
import { dimsIn } from "../lower/walk.ts";
import { type Columns, columnBlocks } from "./columns.ts";
import { walksByColumn } from "./stride.ts";

/** Inner loops of at most this many iterations are written out. */
const unrollLimit = 9;

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
  if (readsByColumn(job, outer.loops, inner.loops, row(outer.rename, [])))
    return columnBlocks(outer.loops, outer.rename, (c) => columns(job, inner.loops, c));
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
});

const isSmall = (loops: readonly Loop[]): boolean =>
  loops.reduce((n, l) => n * maxOfDim(l.extent), 1) <= unrollLimit;

/** True if the loads of plain sums walk columns. */
function readsByColumn(
  job: Job,
  outer: readonly Loop[],
  inner: readonly Loop[],
  body: readonly Stmt[],
): boolean {
  const plain = phasesOf(job).length === 1 && phasesOf(job)[0]!.stores.length === 0;
  const [o, i] = [outer.at(-1), inner.at(-1)];
  if (!plain || !o || !i || isSmall(inner) || rootReduces(job).length > 0) return false;
  if (membersOf(job.group).some(([t]) => t.op.startsWith("arg"))) return false;
  return walksByColumn(body, o, i);
}

/**
 * For each block of columns: start the sums, run down the rows adding a piece of a row at a time, then finish each
 * column. The order of additions within a column is that of the plain loops.
 */
function columns(job: Job, inner: readonly Loop[], { by, column, each }: Columns) {
  const vars = renamed(
    job.group.inner.map((l) => l.at),
    by,
  );
  const coords = renamed(job.group.outerSpace.coords, by);
  const [start0, adds, finish] = [openBlock(job), openBlock(job), openBlock(job)];
  const arrays: Stmt[] = [];
  for (const r of phasesOf(job)[0]!.reduces) {
    // Sums of f32 are kept in double, as the scalar accumulators of this target are.
    const dtype = r.dtype === "f32" ? "f64" : r.dtype;
    const [acc, name, reducer] = [accName(job, r), `${accName(job, r)}s`, opRecord(r.op).reducer!];
    const kept = load(name, dtype, column.at);
    arrays.push({ kind: "array", name, dtype, size: column.extent, space: "private" });
    start0.body.push({ kind: "store", to: name, index: column.at, value: identityOf(r, dtype) });
    adds.body.push({ kind: "acc", name: acc, dtype, init: kept, wide: true });
    const value = reducedValue(adds, r, coords, vars);
    adds.body.push({ kind: "accumulate", name: acc, reducer, value });
    adds.body.push({ kind: "store", to: name, index: column.at, value: ref(acc, dtype) });
    finish.bind(r, coords, dtype === r.dtype ? kept : call("convert", r.dtype, kept));
  }
  for (const [node] of membersOf(job.group))
    if (job.stored.has(node)) finish.body.push(storeMember(job, finish, node, by));
  const body = [
    ...each(start0.body),
    ...nest(inner, "serial", each(adds.body)),
    ...each(finish.body),
  ];
  return { arrays, body };
}
