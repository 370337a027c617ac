/**
 * Map and rows groups on a GPU. A map runs one invocation for each four elements where memory lines up, else for each one. A
 * short row, or a column, is one invocation's serial loop; a long row is a team's; a reduction over the outer loops as well runs in
 * a single workgroup.
 */
import { type Dim, isStatic } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { collapse, decode, nest, type Rename, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { accName, declareAcc, emitRoot, emitRow, rootReduces } from "../lower/rows.ts";
import { dimsIn } from "../lower/walk.ts";
import { groupSize, once, perInvocation } from "./gpu.ts";
import { gpuColumnTeams, wantsColumnTeams } from "./gpu-column-teams.ts";
import { combineAll, gpuRowTeams, type Shape } from "./gpu-row-teams.ts";
import { strideOf } from "./stride.ts";
import { vectorise } from "./vector.ts";

/** Rows up to this long are one invocation's work. */
const shortRow = 32;
/** Fewer columns than this leave most of a device idle, unless their rows are short. */
const leastColumns = 256;
const columnGroup = 64;
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
  if (byColumn && wantsColumnTeams(shape)) return gpuColumnTeams(job, shape);
  if (byColumn && rows >= leastColumns) return columns(job, shape);
  if (length <= shortRow) return serial(job, shape);
  return gpuRowTeams(job, shape, plainRow(job));
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

/** One invocation a column, or for each four where memory lines up. */
function columns(job: Job, shape: Shape): Scheduled {
  const last = shape.outer.at(-1)!;
  const body = (rename: Rename): Stmt[] => rowBody(job, { ...shape, rename });
  const wide = vectorise(last, shape.rename, body);
  if (!wide) return serial(job, shape);
  const loops = [...shape.outer.slice(0, -1), wide.loop];
  return {
    body: perInvocation(loops, columnGroup, wide.body),
    workgroupSize: columnGroup,
    wide: wide.params,
  };
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

/** The statements of a row without its loops, to see how they walk memory. */
const plainRow =
  (job: Job) =>
  (rename: Rename): Stmt[] => {
    const block = openBlock(job);
    emitRow(job, block, { rename, inner: (b) => [...b], once: (b) => [...b] });
    return block.body;
  };

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
