/**
 * The tiles of attention kernels in workgroup memory: a block of rows and a block of lines, both along the terms of a product. Rows
 * are what the sums leave, queries or keys, then their weights; lines are what the sums run over, then the columns of what is
 * summed. Within 16 KiB, which every device has.
 */
import { addDim, ceilDiv, type Dim, floorDiv, minDim, modDim, mulDim } from "@kiln-ml/ir";
import type { Attention } from "../fuse/attention.ts";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Job } from "../lower/job.ts";
import { totalOf } from "../lower/loops.ts";
import { choose, constant, ref } from "../lower/value.ts";
import { below } from "./gpu.ts";

/** Invocations that share rows; each has four neighbouring lines of every 32. */
export const teams = 8;
const groups = 16;
export const linesPerTile = 64;
/** Lines of an invocation. */
export const linesEach = linesPerTile / teams;

export interface Tile {
  readonly job: Job;
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
  /** The invocation's first row, and its first line of the tile at hand. */
  readonly row0: Loop;
  readonly line0: Loop;
  /** Rows of an invocation and of a tile. */
  readonly rows: number;
  readonly perTile: number;
  /** Columns of an invocation: in fours, as lines are. */
  readonly columns: number;
  /** Terms of a product between barriers. */
  readonly depth: number;
}

export const columnsEach = (columns: number): number =>
  Math.max(4, Math.ceil(columns / (4 * teams)) * 4);

export function tileOf(job: Job, rows: number): Tile {
  const attention = job.group.attention!;
  const [row, column] = job.group.outer.slice(-2) as [Loop, Loop];
  const batch = job.group.outer.slice(0, -2);
  const lines = attention.space[attention.sums[0]!.along]!;
  const perTile = groups * rows;
  const tile = makeLoop("tile", ceilDiv(row.extent, perTile));
  const me = makeLoop("me", groups * teams);
  const columns = columnsEach(attention.sums[0]!.columns);
  return {
    job,
    attention,
    batch,
    batchAt: makeLoop("batch", totalOf(batch)),
    row,
    line: makeLoop("line", lines),
    column,
    tile,
    me,
    team: modDim(me.at, teams),
    row0: makeLoop("row0", mulDim(tile.extent, perTile)),
    line0: makeLoop("line0", mulDim(ceilDiv(lines, linesPerTile), linesPerTile)),
    rows,
    perTile,
    columns,
    // Lines of so many columns leave room for fewer.
    depth: columns > 16 ? 8 : 16,
  };
}

/** Workgroups that keep a device busy. */
const busy = 192;

/** Rows of an invocation, at most so many: the more, the more often what it fetches is used; but fewer tiles leave a device idle. */
export function rowsUpTo(most: number, { group }: Job): number {
  const batch = extentGuess(group.outer.slice(0, -2));
  const all = extentGuess(group.outer.slice(-2, -1));
  let rows = most;
  while (rows > 1 && batch * Math.ceil(all / (groups * rows)) < busy) rows /= 2;
  return rows;
}

/** The tiles of lines that count: under a causal mask keys up to the last query of a tile, or queries from its first key on. */
export function lineTilesOf(t: Tile): { start: Dim; end: Dim } {
  const { causal, sums, space } = t.attention;
  const all = ceilDiv(t.line.extent, linesPerTile);
  if (!causal) return { start: 0, end: all };
  if (sums[0]!.along === space.length - 1) {
    const last = mulDim(addDim(t.tile.at, 1), t.perTile);
    return { start: 0, end: minDim(all, ceilDiv(last, linesPerTile)) };
  }
  return { start: floorDiv(mulDim(t.tile.at, t.perTile), linesPerTile), end: all };
}

export const firstRow = (t: Tile): Dim =>
  addDim(mulDim(t.tile.at, t.perTile), mulDim(floorDiv(t.me.at, teams), t.rows));

export const firstLine = (t: Tile, lineTile: Dim): Dim =>
  addDim(mulDim(lineTile, linesPerTile), mulDim(t.team, 4));

/** Where in a tile a team's c-th line or column is, from the team's first. */
export const offset = (c: Dim): Dim => addDim(mulDim(floorDiv(c, 4), 4 * teams), modDim(c, 4));

export const acc = (name: string, value: number): Stmt => ({
  kind: "acc",
  name,
  dtype: "f32",
  init: constant("f32", value),
  wide: false,
});
export const f32 = (name: string): Expr => ref(name, "f32");
export const barrier: Stmt = { kind: "barrier" };

/** What `make` gives for each number below `count`. */
export const each = (count: number, make: (i: number) => Stmt[]): Stmt[] =>
  Array.from({ length: count }, (_, i) => make(i)).flat();

export type Places = ReturnType<typeof placesOf>;

/** Where the k-th term of a row and of a line is, and the invocation's first row. */
export function placesOf(t: Tile) {
  const lines = Math.max(linesPerTile, t.columns * teams);
  // Rows begin four banks apart, so that writes down a column meet in few of them.
  const pitch = t.perTile + 4;
  return {
    rowSize: pitch * t.depth,
    lineSize: lines * t.depth,
    place: (k: Dim, row: Dim): Dim => addDim(mulDim(k, pitch), row),
    line: (k: Dim, at: Dim): Dim => addDim(mulDim(k, lines), at),
    ownRow: mulDim(floorDiv(t.me.at, teams), t.rows),
  };
}

/** A weight or score by its row and line: 0 or another number past the last line. */
export function within(t: Tile, c: Dim, value: Expr, otherwise: number): Expr {
  if (modDim(t.line.extent, linesPerTile) === 0) return value;
  const inside = below(addDim(t.line0.at, offset(c)), t.line.extent);
  return choose([inside], value, constant("f32", otherwise));
}

/** The coordinates of a weight in the space. */
export function placeOf(t: Tile, r: Dim, c: Dim): Dim[] {
  const [row, line] = [addDim(t.row0.at, r), addDim(t.line0.at, offset(c))];
  const last = t.attention.sums[0]!.along === t.attention.space.length - 1;
  return [...t.batch.map((l) => l.at), ...(last ? [row, line] : [line, row])];
}
