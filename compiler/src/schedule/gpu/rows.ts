/**
 * Map and rows groups on a GPU. A map runs one invocation for each four elements where memory is
 * aligned, else for each one. A short row, or a column, is one invocation's serial loop; a long
 * row is a team's; a reduction over the outer loops as well runs in a single workgroup, whose
 * invocations can combine at a barrier: workgroups of one launch cannot wait for each other.
 */
import { type Dim, isStatic } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { extentGuess } from "../../fuse/state.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { collapse, decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { accName, declareAcc, emitRoot, emitRow, rootReduces } from "../../lower/rows.ts";
import { vectorise } from "../vector.ts";
import { gpuColumnTeams, wantsColumnTeams } from "./column-teams.ts";
import { groupSize, once, perInvocation } from "./gpu.ts";
import { combineAll, gpuRowTeams, type Shape } from "./row-teams.ts";

/** Rows up to this long are one invocation's work. */
const shortRow = 32;
/** Fewer columns than this leave most of a device idle, unless their rows are short. */
const leastColumns = 256;
const columnGroup = 64;
/** Inner loops of at most this many iterations are written out. */
const unrollLimit = 9;

export function gpuRows(context: LoweringContext): Scheduled {
  const { group } = context;
  const plain = plainRow(context);
  const inner = collapse(group.inner, new Map(), (r) => dimsIn(plain(r)));
  const outer = collapse(group.outer, inner.rename, (r) => dimsIn(plain(r)));
  const shape = { outer: outer.loops, inner: inner.loops, rename: outer.rename };
  if (rootReduces(context).length > 0) return single(context, shape);
  if (group.inner.length === 0) return map(context, shape);
  const rows = extentGuess(group.outer);
  const length = extentGuess(group.inner);
  const byColumn = readsByColumn(dimsIn(plain(outer.rename)), outer.loops, inner.loops);
  if (byColumn && wantsColumnTeams(shape)) return gpuColumnTeams(context, shape);
  if (byColumn && rows >= leastColumns) return columns(context, shape);
  if (length <= shortRow) return serial(context, shape);
  return gpuRowTeams(context, shape, plainRow(context));
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
function map(context: LoweringContext, shape: Shape): Scheduled {
  const body = plainRow(context);
  const last = shape.outer.at(-1);
  const wide = last ? vectorise(last, shape.rename, body) : undefined;
  if (wide && last) {
    const loops = [...shape.outer.slice(0, -1), wide.loop];
    return {
      body: perInvocation(loops, groupSize, wide.body),
      workgroupSize: groupSize,
      vectorised: wide.params,
    };
  }
  return {
    body: perInvocation(shape.outer, groupSize, body(shape.rename)),
    workgroupSize: groupSize,
  };
}

/** One invocation a row. */
function serial(context: LoweringContext, shape: Shape): Scheduled {
  const size = 64;
  return { body: perInvocation(shape.outer, size, rowBody(context, shape)), workgroupSize: size };
}

/** One invocation a column, or for each four where memory lines up. */
function columns(context: LoweringContext, shape: Shape): Scheduled {
  const last = shape.outer.at(-1)!;
  const body = (rename: Rename): Stmt[] => rowBody(context, { ...shape, rename });
  const wide = vectorise(last, shape.rename, body);
  if (!wide) return serial(context, shape);
  const loops = [...shape.outer.slice(0, -1), wide.loop];
  return {
    body: perInvocation(loops, columnGroup, wide.body),
    workgroupSize: columnGroup,
    vectorised: wide.params,
  };
}

function rowBody(context: LoweringContext, { inner, rename }: Shape): Stmt[] {
  const block = openBlock(context);
  const small = inner.every((l) => isStatic(l.extent)) && extentGuess(inner) <= unrollLimit;
  emitRow(context, block, {
    rename,
    inner: (body) => nest(inner, small ? "unrolled" : "serial", body),
    once: (body) => [...body],
  });
  return block.body;
}

/** The statements of a row without its loops, to see how they walk memory. */
const plainRow =
  (context: LoweringContext) =>
  (rename: Rename): Stmt[] => {
    const block = openBlock(context);
    emitRow(context, block, { rename, inner: (b) => [...b], once: (b) => [...b] });
    return block.body;
  };

/** Everything in one workgroup: each invocation takes every n-th row. */
function single(context: LoweringContext, shape: Shape): Scheduled {
  const group = makeLoop("chunk", 1);
  const flat = makeLoop("row", totalOf(shape.outer));
  const root = openBlock(context);
  const reduces = rootReduces(context);
  const names = reduces.map((r) => accName(context, r));
  root.body.push(...reduces.map((r) => declareAcc(context, r)));
  const rows = [...decode(shape.outer, flat.at), ...rowBody(context, shape)];
  root.body.push(...nest([flat], "local", rows), ...combineAll(reduces, names));
  const tail = openBlock(context);
  emitRoot(context, tail);
  if (tail.body.length) root.body.push(...once(tail.body));
  return { body: nest([group], "workgroup", root.body), workgroupSize: groupSize };
}
