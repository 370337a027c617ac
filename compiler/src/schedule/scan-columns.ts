/**
 * Scans down the rows of a matrix: a block of neighbouring columns side by side, so that memory is
 * read and written in order. An array holds each column's running value. The steps of a column run
 * in the order of the axis; long sums of f32 in parts, where `rows` says so: a part's running sum
 * starts at 0, and the total of the parts before it is added where a sum is used.
 */
import {
  addDim,
  type Dim,
  type Dtype,
  maxOfDim,
  minDim,
  opRecord,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { call, load, ref } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";
import { walksByColumn } from "../kernel/stride.ts";
import { identityOf, type LoweringContext, openBlock } from "../lower/context.ts";
import { nest, renamedAt } from "../lower/loops.ts";
import { accName } from "../lower/rows.ts";
import { emitAfter, emitStep, runningOf } from "../lower/scans.ts";
import { doubled, inDtype, sumDtype } from "../lower/value.ts";
import { type Block, type ColumnBlocks, type Columns, inBlocks } from "./columns.ts";
import { addToElement, compensated } from "./compensate.ts";

/** True if lines lie across memory. The extreme beside a position has no array to be kept in. */
export function scansByColumn(
  context: LoweringContext,
  outer: readonly Loop[],
  inner: Loop,
  body: readonly Stmt[],
): boolean {
  const last = outer.at(-1);
  const args = runningOf(context).some((t) => t.op.startsWith("arg"));
  return last !== undefined && !args && walksByColumn(body, last, inner);
}

export function scanColumns(
  context: LoweringContext,
  outer: readonly Loop[],
  inner: Loop,
  rename: Rename,
  blocks: ColumnBlocks,
): Stmt[] {
  return inBlocks(outer, rename, blocks, (c) => blockOfScans(context, inner, blocks, c));
}

/**
 * What is kept of a running value of each column: in an array, or, of a long sum, in those of a
 * total and of a part.
 */
interface Running {
  readonly node: Tensor;
  readonly acc: string;
  readonly dtype: Dtype;
  readonly total: string;
  readonly part: string;
  readonly rest: string;
}

/** Accumulators started, taken down the axis together, finished. */
function blockOfScans(
  context: LoweringContext,
  inner: Loop,
  { double, width, rows }: ColumnBlocks,
  { by, column, each }: Columns,
): Block {
  const long = rows !== undefined && maxOfDim(inner.extent) > rows;
  const all = runningOf(context).map((node): Running => {
    // Sums of f32 may be kept in double, as scalar accumulators of js are.
    const dtype = !isWide(node) ? node.dtype : double ? doubled(node.dtype) : sumDtype(node.dtype);
    const acc = accName(context, node);
    const total = `${acc}s`;
    const parted = long && opRecord(node.op).reducer === "sum" && compensated(dtype);
    return { node, acc, dtype, total, part: parted ? `${total}Part` : total, rest: `${acc}Left` };
  });
  const parted = all.filter((r) => r.part !== r.total);
  const at = column.at;
  const clear = (array: string, { node, dtype }: Running): Stmt => {
    return { kind: "store", to: array, index: at, value: identityOf(node, dtype) };
  };
  const start = all.flatMap((r) => [
    clear(r.total, r),
    ...(parted.includes(r) ? [clear(r.rest, r)] : []),
  ]);
  const finish = openBlock(context);
  emitAfter(context, finish, by, (node) => {
    const r = all.find((x) => x.node === node)!;
    return narrow(r, load(r.total, r.dtype, at));
  });
  const down = (here: Rename): Stmt[] => each(stepOf(context, all, here, at));
  const steps =
    parted.length === 0
      ? nest([inner], "serial", down(by))
      : inParts(inner, rows!, (from, within) => [
          ...each(parted.map((r) => clear(r.part, r))),
          ...nest([within], "serial", down(renamedAt(by, new Map([[inner.name, from]])))),
          ...each(
            parted.flatMap((r) => {
              const term = load(r.part, r.dtype, at);
              return addToElement(r.acc, r.dtype, at, term, { sums: r.total, rest: r.rest });
            }),
          ),
        ]);
  const arrays = all.flatMap((r) =>
    (parted.includes(r) ? [r.total, r.part, r.rest] : [r.total]).map(
      (name): Stmt => ({ kind: "array", name, dtype: r.dtype, size: width, space: "private" }),
    ),
  );
  const after = finish.body.length ? each(finish.body) : [];
  return { arrays, body: [...each(start), ...steps, ...after] };
}

/**
 * One step of all columns: what parts have come to goes back to their arrays, a scan's value is the
 * total and that.
 */
function stepOf(context: LoweringContext, all: readonly Running[], by: Rename, at: Dim): Stmt[] {
  const step = openBlock(context);
  for (const { node, acc, dtype, part } of all)
    step.body.push({
      kind: "acc",
      name: acc,
      dtype,
      init: load(part, dtype, at),
      widened: isWide(node),
    });
  emitStep(context, step, by, (node) => {
    const r = all.find((x) => x.node === node)!;
    const own = ref(r.acc, r.dtype);
    const sum = r.part === r.total ? own : call("add", r.dtype, load(r.total, r.dtype, at), own);
    return narrow(r, sum);
  });
  for (const { acc, dtype, part } of all)
    step.body.push({ kind: "store", to: part, index: at, value: ref(acc, dtype) });
  return step.body;
}

/**
 * The loop in parts of `size`: each is made of where its iteration is in the whole, and the loop
 * over them.
 */
export function inParts(
  l: Loop,
  size: number,
  body: (from: Dim, within: Loop) => readonly Stmt[],
): Stmt[] {
  const start = makeLoop("part", l.extent);
  const within = makeLoop("r", size);
  const extent = minDim(size, subDim(l.extent, start.at));
  return [
    {
      kind: "loop",
      name: start.name,
      extent: l.extent,
      step: size,
      loop: "serial",
      body: body(addDim(start.at, within.at), { ...within, extent }),
    },
  ];
}

const narrow = ({ node }: Running, e: Expr): Expr => inDtype(e, node.dtype);

const isWide = (t: Tensor): boolean => ["sum", "prod"].includes(opRecord(t.op).reducer!);
