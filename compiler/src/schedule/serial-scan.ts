/**
 * The loops of scan groups on a CPU. Along a contiguous axis, a line at a time; across memory, a block of neighbouring lines at a
 * time, so that memory is read and written in order. The steps of one line always run in the order of the axis.
 */
import { maxOfDim, opRecord, type Tensor } from "@kiln-ml/ir";
import type { Loop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { identityOf, type Job, openBlock } from "../lower/job.ts";
import { collapse, nest, type Rename } from "../lower/loops.ts";
import { accName } from "../lower/rows.ts";
import { emitAfter, emitLine, emitStep, runningOf } from "../lower/scans.ts";
import { call, load, ref } from "../lower/value.ts";
import { dimsIn } from "../lower/walk.ts";
import { type Columns, columnBlocks } from "./columns.ts";
import { walksByColumn } from "./stride.ts";

/** Loops of at most this many iterations are written out. */
const unrollLimit = 9;

export function serialScan(job: Job): Stmt[] {
  const [inner] = job.group.inner as [Loop];
  const line = (rename: Rename, along: (step: readonly Stmt[]) => Stmt[]): Stmt[] => {
    const block = openBlock(job);
    emitLine(job, block, rename, along);
    return block.body;
  };
  const plain = (rename: Rename) => line(rename, (step) => [...step]);
  const outer = collapse(job.group.outer, new Map(), (r) => dimsIn(plain(r)));
  const last = outer.loops.at(-1);
  const small = maxOfDim(inner.extent) <= unrollLimit;
  if (last && !small && blockable(job) && walksByColumn(plain(outer.rename), last, inner))
    return columnBlocks(outer.loops, outer.rename, (c) => scanColumns(job, inner, c));
  const along = (step: readonly Stmt[]) => nest([inner], small ? "unrolled" : "serial", step);
  return nest(outer.loops, "parallel", line(outer.rename, along));
}

/** The extreme beside a position has no array to be kept in. */
const blockable = (job: Job): boolean => runningOf(job).every((t) => !t.op.startsWith("arg"));

/** A block of lines side by side: their accumulators in arrays, started, taken down the axis together, finished. */
function scanColumns(job: Job, inner: Loop, { by, column, each }: Columns) {
  const arrays: Stmt[] = [];
  const [start, step, finish] = [openBlock(job), openBlock(job), openBlock(job)];
  const back: Stmt[] = [];
  const running = runningOf(job);
  for (const r of running) {
    const [acc, name, dtype] = [accName(job, r), `${accName(job, r)}s`, keptDtype(r)];
    arrays.push({ kind: "array", name, dtype, size: column.extent, space: "private" });
    start.body.push({ kind: "store", to: name, index: column.at, value: identityOf(r, dtype) });
    const kept = load(name, dtype, column.at);
    step.body.push({ kind: "acc", name: acc, dtype, init: kept, wide: isWide(r) });
    back.push({ kind: "store", to: name, index: column.at, value: ref(acc, dtype) });
  }
  const narrow = (r: Tensor, e: Expr): Expr =>
    e.dtype === r.dtype ? e : call("convert", r.dtype, e);
  emitStep(job, step, by, (r) => narrow(r, ref(accName(job, r), keptDtype(r))));
  emitAfter(job, finish, by, (r) =>
    narrow(r, load(`${accName(job, r)}s`, keptDtype(r), column.at)),
  );
  const body = [
    ...each(start.body),
    ...nest([inner], "serial", each([...step.body, ...back])),
    ...(finish.body.length ? each(finish.body) : []),
  ];
  return { arrays, body };
}

const isWide = (t: Tensor): boolean => ["sum", "prod"].includes(opRecord(t.op).reducer!);

/** Sums of f32 are kept in double, as the scalar accumulators of js are. */
const keptDtype = (t: Tensor) => (t.dtype === "f32" && isWide(t) ? "f64" : t.dtype);
