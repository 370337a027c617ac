/**
 * Map and rows groups on a GPU. A map runs one invocation for each four elements where memory lines up, else for each one. A
 * short row, or a column, is one invocation's serial loop; a long row is a workgroup's, combined at the end
 * of each phase; a reduction over the outer loops as well runs in a single workgroup.
 */
import { type Dim, isStatic, opRecord, type Tensor } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { collapse, decode, nest, type Rename, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { accName, declareAcc, emitRoot, emitRow, rootReduces } from "../lower/rows.ts";
import { dimsIn } from "../lower/walk.ts";
import { groupSize, once, perInvocation } from "./gpu.ts";
import { strideOf } from "./stride.ts";
import { vectorise } from "./vector.ts";

/** Rows up to this long are one invocation's work. */
const shortRow = 32;
/** Inner loops of at most this many iterations are written out. */
const unrollLimit = 9;

export function gpuRows(job: Job): Scheduled {
  const { group } = job;
  const plain = plainRow(job);
  const inner = collapse(group.inner, new Map(), (r) => dimsIn(plain(r)));
  const outer = collapse(group.outer, inner.rename, (r) => dimsIn(plain(r)));
  const shape = { outer: outer.loops, inner: inner.loops, rename: outer.rename };
  if (rootReduces(job).length > 0) return single(job, shape);
  if (group.inner.length === 0) return map(job, shape);
  const rows = extentGuess(group.outer);
  const length = extentGuess(group.inner);
  const byColumn = readsByColumn(dimsIn(plain(outer.rename)), outer.loops, inner.loops);
  if (length <= shortRow || (byColumn && rows >= groupSize)) return serial(job, shape);
  return workgroups(job, shape, length);
}

interface Shape {
  readonly outer: readonly Loop[];
  readonly inner: readonly Loop[];
  readonly rename: Rename;
}

function readsByColumn(
  indices: readonly Dim[],
  outer: readonly Loop[],
  inner: readonly Loop[],
): boolean {
  const [o, i] = [outer.at(-1), inner.at(-1)];
  if (!o || !i) return false;
  const count = (name: string) => indices.filter((d) => strideOf(d, name) === 1).length;
  return count(o.name) > count(i.name);
}

/** One invocation an element, or for each four. */
function map(job: Job, shape: Shape): Scheduled {
  const body = plainRow(job);
  const last = shape.outer.at(-1);
  const wide = last ? vectorise(last, shape.rename, body) : undefined;
  if (wide && last) {
    const loops = [...shape.outer.slice(0, -1), wide.loop];
    return {
      body: perInvocation(loops, groupSize, wide.body),
      workgroupSize: groupSize,
      wide: wide.params,
    };
  }
  return {
    body: perInvocation(shape.outer, groupSize, body(shape.rename)),
    workgroupSize: groupSize,
  };
}

/** One invocation a row. */
function serial(job: Job, shape: Shape): Scheduled {
  const size = 64;
  return { body: perInvocation(shape.outer, size, rowBody(job, shape)), workgroupSize: size };
}

function rowBody(job: Job, { inner, rename }: Shape): Stmt[] {
  const block = openBlock(job);
  const small = inner.every((l) => isStatic(l.extent)) && extentGuess(inner) <= unrollLimit;
  emitRow(job, block, {
    rename,
    inner: (body) => nest(inner, small ? "unrolled" : "serial", body),
    once: (body) => [...body],
  });
  return block.body;
}

/** Rows of fewer elements than this would leave invocations idle if each took four at a time. */
const wideRow = 256;

/** One workgroup a row; each invocation takes every n-th element, or every n-th four where memory lines up. */
function workgroups(job: Job, shape: Shape, length: number): Scheduled {
  const size = length >= 1024 ? groupSize : 64;
  const last = shape.inner.at(-1)!;
  const wide = length >= wideRow ? vectorise(last, shape.rename, plainRow(job)) : undefined;
  const loops = wide ? [...shape.inner.slice(0, -1), wide.loop] : shape.inner;
  const group = makeLoop("row", totalOf(shape.outer));
  const flat = makeLoop("e", totalOf(loops));
  const block = openBlock(job);
  emitRow(job, block, {
    rename: wide?.rename ?? shape.rename,
    inner: (body) =>
      nest([flat], "local", [
        ...decode(loops, flat.at),
        ...(wide ? nest([wide.lane], "vector", body) : body),
      ]),
    combine: (reduces, names) => combineAll(reduces, names),
    once,
  });
  const body = nest([group], "workgroup", [...decode(shape.outer, group.at), ...block.body]);
  return { body, workgroupSize: size, ...(wide ? { wide: wide.params } : {}) };
}

/** The statements of a row without its loops, to see how they walk memory. */
const plainRow =
  (job: Job) =>
  (rename: Rename): Stmt[] => {
    const block = openBlock(job);
    emitRow(job, block, { rename, inner: (b) => [...b], once: (b) => [...b] });
    return block.body;
  };

const combineAll = (reduces: readonly Tensor[], names: readonly string[]): Stmt[] => [
  { kind: "combine", names, reducers: reduces.map((r) => opRecord(r.op).reducer!) },
];

/** Everything in one workgroup: each invocation takes every n-th row. */
function single(job: Job, shape: Shape): Scheduled {
  const group = makeLoop("chunk", 1);
  const flat = makeLoop("row", totalOf(shape.outer));
  const root = openBlock(job);
  const reduces = rootReduces(job);
  const names = reduces.map((r) => accName(job, r));
  root.body.push(...reduces.map((r) => declareAcc(job, r)));
  const rows = [...decode(shape.outer, flat.at), ...rowBody(job, shape)];
  root.body.push(...nest([flat], "local", rows), ...combineAll(reduces, names));
  const tail = openBlock(job);
  emitRoot(job, tail);
  if (tail.body.length) root.body.push(...once(tail.body));
  return { body: nest([group], "workgroup", root.body), workgroupSize: groupSize };
}
