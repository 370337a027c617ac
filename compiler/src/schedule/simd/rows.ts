/**
 * The loops of map and rows groups for a CPU with lanes and threads: one parallel loop outside,
 * one loop in lanes inside, which runs along memory. Long sums are taken in blocks, so that f32 is
 * enough to keep them.
 *
 * Why this shape: memory bandwidth bounds nearly all of these kernels, so that the loop in lanes
 * is the one along which loads and stores are contiguous, whichever loop of the group that is.
 * Where two sides run across each other (a transposing map) a square is walked: a cache line of
 * the side that jumps by rows whose lines stay in L1. Work items are 4,096 elements, so that their
 * hand-over costs nothing beside them; short inner loops are unrolled, as long as the text stays
 * small enough to compile quickly.
 */
import { addDim, type Dim, isStatic, maxOfDim, minDim, offsetOf, subDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { plainName } from "../../kernel/names.ts";
import { strideOf } from "../../kernel/stride.ts";
import { dimsIn, walkStmts } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { collapse, decode, nest, totalOf } from "../../lower/loops.ts";
import { declareAcc, emitRoot, emitRow, rootReduces } from "../../lower/rows.ts";
import { type ColumnBlocks, readsByColumn, sumColumns } from "../columns.ts";
import { prefetchAhead } from "./prefetch.ts";
import { sumsInBlocks } from "./sums.ts";

/** Inner loops of at most this many iterations are written out. */
const unrollLimit = 16;
/** Expressions that written out loops have, all iterations together. */
const mostParts = 200;
/** Elements of a map that one unit of work has. */
const mapBlock = 4096;
/**
 * Square of a transposing map that is walked as one: a cache line of the side that jumps, and its
 * lines in L1.
 */
const [jumpBlock, runBlock] = [16, 64];

/** Fewer of few columns at once, so that threads find work; wide blocks are read faster. */
const columnBlocks = ({ extent }: Loop): ColumnBlocks => ({
  width: isStatic(extent) && extent >= 4096 ? 1024 : 512,
  loop: "simd",
  double: false,
  rows: 64,
  together: 4,
});

export const simdRows = (context: LoweringContext): Stmt[] => sumsInBlocks(rowsOf(context));

function rowsOf(context: LoweringContext): Stmt[] {
  const { group } = context;
  const row = (rename: Rename, inner: (body: readonly Stmt[]) => Stmt[], keep = {}): Stmt[] => {
    const block = openBlock(context);
    emitRow(context, block, { rename, inner, ...keep, once: (body) => [...body] });
    return block.body;
  };
  const plain = (body: readonly Stmt[]): Stmt[] => [...body];
  const inner = collapse(group.inner, new Map(), (r) => dimsIn(row(r, plain)));
  const outer = collapse(group.outer, inner.rename, (r) => dimsIn(row(r, plain)));
  const trial = row(outer.rename, plain);
  const across = inner.loops.length > 0 && runsAcross(outer.loops, inner.loops, trial);
  if (across && !isSmall(inner.loops) && readsByColumn(context, outer.loops, inner.loops, trial))
    return sumColumns(
      context,
      outer.loops,
      inner.loops,
      outer.rename,
      columnBlocks(outer.loops.at(-1)!),
    );
  if (inner.loops.length > 0 && !isSmall(inner.loops) && !across) {
    const along = (body: readonly Stmt[]): Stmt[] => inLanes(inner.loops, body);
    const body = row(outer.rename, along, { keep: keepIn(inner.loops) });
    return prefetchAhead(around(context, outer.loops, body));
  }
  const written = isSmall(inner.loops) && isShort(inner.loops, trial) ? "unrolled" : "serial";
  const body = (by: Rename): Stmt[] => row(by, (b) => nest(inner.loops, written, b));
  return map(context, outer.loops, outer.rename, body, trial);
}

const isSmall = (loops: readonly Loop[]): boolean =>
  loops.reduce((n, l) => n * maxOfDim(l.extent), 1) <= unrollLimit;

/**
 * True if the statements stay readable, and quick to compile, when they are repeated for each
 * iteration.
 */
function isShort(loops: readonly Loop[], body: readonly Stmt[]): boolean {
  let parts = 0;
  walkStmts(body, {
    expr: () => {
      parts++;
    },
  });
  return parts * maxOfDim(totalOf(loops)) <= mostParts;
}

/** One element an iteration, in the order of the loops. */
const keepIn = (inner: readonly Loop[]) => ({
  index: offsetOf(
    inner.map((l) => l.extent),
    inner.map((l) => l.at),
  ),
  size: totalOf(inner),
  double: false,
});

/**
 * Loads and stores that step by one element along a loop, and those that move with it otherwise.
 */
function stepsAlong(loop: Loop, body: readonly Stmt[]): { unit: number; other: number } {
  let [unit, other] = [0, 0];
  const see = (index: Dim): void => {
    const stride = strideOf(index, loop.name);
    if (stride === 1) unit++;
    else if (stride !== 0) other++;
  };
  walkStmts(body, {
    stmt: (s) => {
      if (s.kind === "store") see(s.index);
    },
    expr: (e) => {
      if (e.kind === "load") see(e.index);
    },
  });
  return { unit, other };
}

/** True if lanes should lie along the last outer loop although there is an inner one. */
function runsAcross(
  outer: readonly Loop[],
  inner: readonly Loop[],
  body: readonly Stmt[],
): boolean {
  const [o, i] = [outer.at(-1), inner.at(-1)!];
  if (!o || maxOfDim(o.extent) < 4) return false;
  return stepsAlong(o, body).unit > stepsAlong(i, body).unit;
}

/** Runs the inner loops with the last one in lanes. */
const inLanes = (inner: readonly Loop[], body: readonly Stmt[]): Stmt[] =>
  nest(inner.slice(0, -1), "serial", lanesOf(inner.at(-1)!, body));

const lanesOf = (l: Loop, body: readonly Stmt[]): Stmt[] => nest([l], "simd", body);

interface Part extends Loop {
  /** The variable of the whole loop. */
  readonly whole: Dim;
}

/** A loop over blocks of another. */
function blocked(
  l: Loop,
  size: number,
  kind: "serial" | "parallel",
  body: (part: Part) => readonly Stmt[],
): Stmt[] {
  const start = makeLoop(`${plainName(l.name)}Block`, l.extent);
  const within = makeLoop(l.name, size);
  const extent = minDim(size, subDim(l.extent, start.at));
  const whole = addDim(start.at, within.at);
  return [
    {
      kind: "loop",
      name: start.name,
      extent: l.extent,
      step: size,
      loop: kind,
      body: [...body({ ...within, extent, whole })],
    },
  ];
}

/** The statements with the loop's variable bound to an index expression. */
const renameIn = (l: Loop, to: Dim, body: readonly Stmt[]): Stmt[] => [
  { kind: "letIndex", name: l.name, value: to },
  ...body,
];

/** All outer loops as one parallel loop; with sums over all of them, one thread. */
function around(context: LoweringContext, outer: readonly Loop[], body: readonly Stmt[]): Stmt[] {
  const root = openBlock(context);
  const whole = rootReduces(context).length > 0;
  root.body.push(...rootReduces(context).map((r) => declareAcc(context, r)));
  root.body.push(...(whole ? nest(outer, "serial", body) : flattened(outer, body)));
  emitRoot(context, root);
  return root.body;
}

function flattened(outer: readonly Loop[], body: readonly Stmt[]): Stmt[] {
  if (outer.length < 2) return nest(outer, "parallel", body);
  const flat = makeLoop("row", totalOf(outer));
  return nest([flat], "parallel", [...decode(outer, flat.at), ...body]);
}

/** Groups whose lanes lie along the last outer loop. */
function map(
  context: LoweringContext,
  outer: readonly Loop[],
  rename: Rename,
  body: (rename: Rename) => Stmt[],
  trial: readonly Stmt[],
): Stmt[] {
  const last = outer.at(-1);
  if (!last) return around(context, outer, body(rename));
  const rest = outer.slice(0, -1);
  if (rootReduces(context).length > 0) return around(context, rest, lanesOf(last, body(rename)));
  const jump = rest.at(-1);
  if (jump && jumps(jump, last, trial)) return flattenedBlocks(rest, jump, last, body(rename));
  const few = isStatic(totalOf(rest)) && (totalOf(rest) as number) < 16;
  if (few && maxOfDim(last.extent) > mapBlock)
    return blocked(last, mapBlock, "parallel", (part) =>
      nest(rest, "serial", lanesOf(part, renameIn(last, part.whole, body(rename)))),
    );
  return around(context, rest, lanesOf(last, body(rename)));
}

/** True if some loads run along `jump` while the stores run along `last`: a transposition. */
function jumps(jump: Loop, last: Loop, body: readonly Stmt[]): boolean {
  if (maxOfDim(jump.extent) < jumpBlock || maxOfDim(last.extent) < runBlock) return false;
  return stepsAlong(jump, body).unit > 0 && stepsAlong(last, body).other > 0;
}

/** Blocks of both loops, so that cache lines are used up before they are lost. */
function flattenedBlocks(
  rest: readonly Loop[],
  jump: Loop,
  last: Loop,
  body: readonly Stmt[],
): Stmt[] {
  const outer = rest.slice(0, -1);
  const kind = outer.length > 0 ? "serial" : "parallel";
  const blocks = blocked(jump, jumpBlock, kind, (j) =>
    blocked(last, runBlock, "serial", (r) =>
      nest([j], "serial", renameIn(jump, j.whole, lanesOf(r, renameIn(last, r.whole, body)))),
    ),
  );
  return outer.length > 0 ? flattened(outer, blocks) : blocks;
}
