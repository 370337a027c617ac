/**
 * The tiles of attention kernels in workgroup memory: a block of rows and a block of lines of a
 * product, each with its terms side by side, so that four of them are one vector on the way there
 * and back. Rows are what the sums leave, queries or keys, then their weights; lines are what the
 * sums run over, then the columns of what is summed.
 *
 * Why this layout: banks bound it. Rows are four words further apart than they are long, so that
 * eight of them lie in banks of their own; an invocation has every sixteenth row and every eighth
 * line, and neighbours belong to two groups of rows, so that of sixteen two ask for one vector.
 * The forward kernel went from 2.58 to 2.07 ms by it; 128 queries with eight rows an invocation,
 * steps of 32 terms and 256 invocations were all slower.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  floorDiv,
  maxDim,
  minDim,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import type { Attention } from "../../fuse/attention.ts";
import { readContraction } from "../../fuse/contraction.ts";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { extentGuess } from "../../fuse/state.ts";
import { isBelow } from "../../kernel/conditions.ts";
import { constant, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { totalOf } from "../../lower/loops.ts";
import { choose } from "../../lower/value.ts";
import { attention as sizes } from "../../machine/products.ts";
import { busyAttention } from "../../machine/webgpu.ts";
import { workgroupLimitsOf } from "./workgroup-limits.ts";

/** Invocations that share rows; each has every eighth line. */
export const teams = 8;
/** Invocations that share lines; each has every sixteenth row. */
export const { groups } = sizes;
/** Lines of an invocation. */
export const linesEach = 8;
export const linesPerTile = linesEach * teams;

export interface Tile {
  readonly context: LoweringContext;
  readonly attention: Attention;
  readonly batch: readonly Loop[];
  readonly batchAt: Loop;
  /** Loops over all rows, lines, and columns of what is summed. */
  readonly row: Loop;
  readonly line: Loop;
  readonly column: Loop;
  /** The workgroup's tile of rows; the invocation and its team. */
  readonly tile: Loop;
  readonly me: Loop;
  readonly team: Dim;
  readonly group: Dim;
  /** Four neighbours in memory. */
  readonly lane: Loop;
  /** The invocation's first row, and its first line of the tile at hand. */
  readonly row0: Loop;
  readonly line0: Loop;
  /** Rows of an invocation and of a tile. */
  readonly rows: number;
  readonly perTile: number;
  /** Columns of an invocation, in fours. */
  readonly columns: number;
  /** Terms of a product, and lines of what is summed, between barriers. */
  readonly depth: number;
  readonly weightDepth: number;
}

export const columnsEach = (columns: number): number =>
  Math.max(4, Math.ceil(columns / (4 * teams)) * 4);

/** `deepest` bounds the terms, and the lines of what is summed, between barriers. */
export function tileOf(context: LoweringContext, rows: number, deepest: number): Tile {
  const attention = context.group.attention!;
  const [row, column] = context.group.outer.slice(-2) as [Loop, Loop];
  const batch = context.group.outer.slice(0, -2);
  const lines = attention.space[attention.sums[0]!.along]!;
  const perTile = groups * rows;
  const tile = makeLoop("tile", ceilDiv(row.extent, perTile));
  const me = makeLoop("me", groups * teams);
  const columns = columnsEach(attention.sums[0]!.columns);
  return {
    context,
    attention,
    batch,
    batchAt: makeLoop("batch", totalOf(batch)),
    row,
    line: makeLoop("line", lines),
    column,
    tile,
    me,
    // Neighbours are of two groups and of one team: of sixteen invocations every vector is read by
    // two that stand one or two apart, whether it is of rows or of lines, and cards serve such
    // sixteen at once.
    team: modDim(floorDiv(me.at, 2), teams),
    group: addDim(modDim(me.at, 2), mulDim(floorDiv(me.at, 2 * teams), 2)),
    lane: makeLoop("lane", 4),
    row0: makeLoop("row0", mulDim(tile.extent, perTile)),
    line0: makeLoop("line0", mulDim(ceilDiv(lines, linesPerTile), linesPerTile)),
    rows,
    perTile,
    columns,
    ...depthsOf(context, { perTile, columns }, deepest),
  };
}

type Extents = Pick<Tile, "perTile" | "columns">;
type Depths = Pick<Tile, "depth" | "weightDepth">;

/** The deepest steps that the device has memory for. */
function depthsOf(context: LoweringContext, extents: Extents, deepest: number): Depths {
  const { memory } = workgroupLimitsOf(context);
  const terms = context.group.attention!.made.map(
    (m) => readContraction(m).contraction.k[0]!.extent,
  );
  const most = Math.max(...(terms as number[]));
  const least: Depths = { depth: 8, weightDepth: 8 };
  const depths = sizes.depths.filter((d) => d <= deepest);
  for (const weightDepth of depths)
    for (const depth of depths.filter((d) => d === least.depth || d < 2 * most))
      if (4 * sizesOf({ ...extents, depth, weightDepth }).all <= memory)
        return { depth, weightDepth };
  return least;
}

/**
 * Elements of what workgroup memory holds at a time: rows and lines, weights and lines of what is
 * summed, or a number of each team.
 */
function sizesOf({ perTile, columns, depth, weightDepth }: Extents & Depths) {
  const rows = perTile * (depth + apart);
  const weights = perTile * (weightDepth + apart);
  const all = Math.max(
    rows + linesPerTile * (depth + apart),
    weights + weightDepth * columns * teams,
    perTile * teams,
  );
  return { rows, weights, all };
}

/**
 * Words between rows and between lines, so that eight of them, four words each, are in banks of
 * their own.
 */
const apart = 4;

/**
 * Rows of an invocation, at most so many: the more, the more often what it fetches is used; but
 * fewer tiles leave a device idle.
 */
export function rowsUpTo(most: number, { group }: LoweringContext): number {
  const batch = extentGuess(group.outer.slice(0, -2));
  const all = extentGuess(group.outer.slice(-2, -1));
  let rows = most;
  while (rows > 1 && batch * Math.ceil(all / (groups * rows)) < busyAttention) rows /= 2;
  return rows;
}

/**
 * The grid: under a causal mask some tiles have less to do; those of all of the batch come last.
 */
export const gridOf = ({ attention, tile, batchAt }: Tile): Loop[] =>
  attention.causal ? [tile, batchAt] : [batchAt, tile];

/** The workgroup's tile. Under a causal mask the last queries have most to do, and come first. */
export const tileAt = (t: Tile): Dim =>
  t.attention.causal && rowsAreQueries(t) ? subDim(subDim(t.tile.extent, 1), t.tile.at) : t.tile.at;

const rowsAreQueries = ({ attention: { sums, space } }: Tile): boolean =>
  sums[0]!.along === space.length - 1;

/**
 * The tiles of lines that count: under a causal mask keys up to the last query of a tile, or
 * queries from its first key on.
 */
export function lineTilesOf(t: Tile): { start: Dim; end: Dim } {
  const all = ceilDiv(t.line.extent, linesPerTile);
  const { causal } = t.attention;
  if (!causal) return { start: 0, end: all };
  // Neither difference is taken below 0: of queries before all keys there are none to see.
  const from = (at: Dim, more: Dim, less: Dim): Dim => subDim(maxDim(addDim(at, more), less), less);
  const tiles = mulDim(tileAt(t), t.perTile);
  if (rowsAreQueries(t)) {
    const last = from(addDim(tiles, t.perTile), causal.queries, causal.keys);
    return { start: 0, end: minDim(all, ceilDiv(last, linesPerTile)) };
  }
  return { start: floorDiv(from(tiles, causal.keys, causal.queries), linesPerTile), end: all };
}

export const firstRow = (t: Tile): Dim => addDim(mulDim(tileAt(t), t.perTile), t.group);

export const firstLine = (t: Tile, lineTile: Dim): Dim =>
  addDim(mulDim(lineTile, linesPerTile), t.team);

/** Where in a tile an invocation's c-th column is, from its team's first. */
export const offset = (c: Dim): Dim => addDim(mulDim(floorDiv(c, 4), 4 * teams), modDim(c, 4));

export const acc = (name: string, value: number): Stmt => ({
  kind: "acc",
  name,
  dtype: "f32",
  init: constant("f32", value),
  widened: false,
});
export const f32 = (name: string): Expr => ref(name, "f32");
export const barrier: Stmt = { kind: "barrier" };

/** What `make` gives for each number below `count`. */
export const each = (count: number, make: (i: number) => Stmt[]): Stmt[] =>
  Array.from({ length: count }, (_, i) => make(i)).flat();

export type Places = ReturnType<typeof placesOf>;

/**
 * Where the k-th term of a row and of a line is, the k-th weight of a row, and a column of the k-th
 * line.
 */
export function placesOf(t: Tile) {
  const { rows, weights, all: size } = sizesOf(t);
  const from = (first: number, pitch: number) => (k: Dim, at: Dim) =>
    addDim(addDim(mulDim(at, pitch), k), first);
  const columns = t.columns * teams;
  return {
    size,
    row: from(0, t.depth + apart),
    line: from(rows, t.depth + apart),
    weight: from(0, t.weightDepth + apart),
    column: (k: Dim, at: Dim): Dim => from(weights, columns)(at, k),
  };
}

/** A weight or score by its row and line: 0 or another number past the last line. */
export function within(t: Tile, c: Dim, value: Expr, otherwise: number): Expr {
  if (modDim(t.line.extent, linesPerTile) === 0) return value;
  const inside = isBelow(addDim(t.line0.at, mulDim(c, teams)), t.line.extent);
  return choose([inside], value, constant("f32", otherwise));
}

/** The invocation's r-th row. */
export const rowAt = (t: Tile, r: Dim): Dim => addDim(t.row0.at, mulDim(r, groups));

/** The coordinates of a weight in the space. */
export function placeOf(t: Tile, r: Dim, c: Dim): Dim[] {
  const [row, line] = [rowAt(t, r), addDim(t.line0.at, mulDim(c, teams))];
  return [...t.batch.map((l) => l.at), ...(rowsAreQueries(t) ? [row, line] : [line, row])];
}
