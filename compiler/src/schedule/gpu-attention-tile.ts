/**
 * The tiles of attention kernels in workgroup memory: a block of rows and a block of lines, both along the terms of a product. Rows
 * are what the sums leave, queries or keys, then their weights; lines are what the sums run over, then the columns of what is
 * summed. Within 16 KiB, which every device has.
 */
import { addDim, ceilDiv, type Dim, floorDiv, minDim, modDim, mulDim, subDim } from "@kiln-ml/ir";
import type { Attention } from "../fuse/attention.ts";
import { readContraction } from "../fuse/contraction.ts";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Job } from "../lower/job.ts";
import { totalOf } from "../lower/loops.ts";
import { choose, constant, ref } from "../lower/value.ts";
import { below } from "./gpu.ts";
import { roomOf } from "./gpu-room.ts";

export const tuning = {
  depth: 0,
  weightDepth: 0,
  order: 2,
  lines: 0,
  most: 0,
  rows: 0,
  groups: 16,
  hoist: true,
};

/** Invocations that share rows; each has every eighth line. */
export const teams = 8;

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
  readonly group: Dim;
  readonly lane: Loop;
  /** The invocation's first row, and its first line of the tile at hand. */
  readonly row0: Loop;
  readonly line0: Loop;
  readonly groups: number;
  /** Rows of an invocation and of a tile. */
  readonly rows: number;
  readonly perTile: number;
  /** Lines of an invocation and of a tile. */
  readonly lines: number;
  readonly perLineTile: number;
  /** Columns of an invocation, in fours. */
  readonly columns: number;
  /** Terms of a product, and lines of what is summed, between barriers. */
  readonly depth: number;
  readonly weightDepth: number;
}

export const columnsEach = (columns: number): number =>
  Math.max(4, Math.ceil(columns / (4 * teams)) * 4);

export function tileOf(job: Job, rows: number, linesEach: number): Tile {
  const attention = job.group.attention!;
  const [row, column] = job.group.outer.slice(-2) as [Loop, Loop];
  const batch = job.group.outer.slice(0, -2);
  const lines = attention.space[attention.sums[0]!.along]!;
  const { groups } = tuning;
  const perTile = groups * rows;
  const tiles = ceilDiv(row.extent, perTile);
  const tile = makeLoop("tile", tiles);
  const perLineTile = linesEach * teams;
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
    team: modDim(floorDiv(me.at, 2), teams),
    group: addDim(modDim(me.at, 2), mulDim(floorDiv(me.at, 2 * teams), 2)),
    groups,
    lane: makeLoop("lane", 4),
    row0: makeLoop("row0", mulDim(tile.extent, perTile)),
    line0: makeLoop("line0", mulDim(ceilDiv(lines, perLineTile), perLineTile)),
    rows,
    perTile,
    lines: linesEach,
    perLineTile,
    columns,
    ...roomFor(job, { perTile, perLineTile, columns }),
  };
}

interface Extents {
  readonly perTile: number;
  readonly perLineTile: number;
  readonly columns: number;
}

interface Depths {
  readonly depth: number;
  readonly weightDepth: number;
}

/** The deepest steps that the device has memory for. */
function roomFor(job: Job, t: Extents): Depths {
  const { made } = job.group.attention!;
  const { memory } = roomOf(job);
  const terms = Math.max(...made.map((m) => readContraction(m).contraction.k[0]!.extent as number));
  const depths = [64, 32, 16, 8].filter(
    (d) => d <= (tuning.depth || 32) && (d <= 8 || d < 2 * terms),
  );
  const weightDepths = [64, 32, 16, 8].filter(
    (d) => d <= t.perLineTile && d <= (tuning.weightDepth || 32),
  );
  for (const weightDepth of weightDepths)
    for (const depth of depths)
      if (4 * sizesOf({ ...t, depth, weightDepth }).all <= memory) return { depth, weightDepth };
  return { depth: 8, weightDepth: 8 };
}

/** Elements of what workgroup memory holds at a time: rows and lines, or weights and lines of what is summed. */
function sizesOf(t: Extents & Depths) {
  const rows = t.perTile * (t.depth + 4);
  const weights = t.perTile * (t.weightDepth + 4);
  const all = Math.max(
    rows + t.perLineTile * (t.depth + 4),
    weights + t.weightDepth * t.columns * teams,
    t.perTile * teams,
  );
  return { rows, weights, all };
}

/** Workgroups that keep a device busy. */
const busy = 192;

/** Rows of an invocation, at most so many: the more, the more often what it fetches is used; but fewer tiles leave a device idle. */
export function rowsUpTo(most: number, { group }: Job): number {
  const batch = extentGuess(group.outer.slice(0, -2));
  const all = extentGuess(group.outer.slice(-2, -1));
  let rows = most;
  while (rows > 1 && batch * Math.ceil(all / (tuning.groups * rows)) < busy) rows /= 2;
  return rows;
}

/** Rows are queries under a causal mask: the later, the more keys count. */
const lastIsLongest = ({ attention: { causal, sums, space } }: Tile): boolean =>
  causal && sums[0]!.along === space.length - 1;

/** The grid: under a causal mask tiles that have most to do come first, of all of the batch. */
export const gridOf = (t: Tile): Loop[] =>
  tuning.order === 2 && t.attention.causal ? [t.tile, t.batchAt] : [t.batchAt, t.tile];

/** The workgroup's tile: where a causal mask gives the last tiles most to do, they come first. */
export const tileAt = (t: Tile): Dim =>
  tuning.order > 0 && lastIsLongest(t) ? subDim(subDim(t.tile.extent, 1), t.tile.at) : t.tile.at;

/** The tiles of lines that count: under a causal mask keys up to the last query of a tile, or queries from its first key on. */
export function lineTilesOf(t: Tile): { start: Dim; end: Dim } {
  const { causal, sums, space } = t.attention;
  const all = ceilDiv(t.line.extent, t.perLineTile);
  if (!causal) return { start: 0, end: all };
  if (sums[0]!.along === space.length - 1) {
    const last = mulDim(addDim(tileAt(t), 1), t.perTile);
    return { start: 0, end: minDim(all, ceilDiv(last, t.perLineTile)) };
  }
  return { start: floorDiv(mulDim(tileAt(t), t.perTile), t.perLineTile), end: all };
}

export const firstRow = (t: Tile): Dim => addDim(mulDim(tileAt(t), t.perTile), t.group);

export const firstLine = (t: Tile, lineTile: Dim): Dim =>
  addDim(mulDim(lineTile, t.perLineTile), t.team);

/** Where in a tile an invocation's c-th column is, from its team's first. */
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

/** Where the k-th term of a row and of a line is: four more words lie between them, so that reads and writes meet in few banks. */
export function placesOf(t: Tile) {
  const sizes = sizesOf(t);
  const columns = t.columns * teams;
  const from = (first: number, pitch: number) => (k: Dim, at: Dim) =>
    addDim(addDim(mulDim(at, pitch), k), first);
  return {
    sizes,
    row: from(0, t.depth + 4),
    line: from(sizes.rows, t.depth + 4),
    weight: from(0, t.weightDepth + 4),
    column: (k: Dim, at: Dim): Dim => addDim(addDim(mulDim(k, columns), at), sizes.weights),
  };
}

/** A weight or score by its row and line: 0 or another number past the last line. */
export function within(t: Tile, c: Dim, value: Expr, otherwise: number): Expr {
  if (modDim(t.line.extent, t.perLineTile) === 0) return value;
  const inside = below(addDim(t.line0.at, mulDim(c, teams)), t.line.extent);
  return choose([inside], value, constant("f32", otherwise));
}

/** The invocation's r-th row. */
export const rowAt = (t: Tile, r: Dim): Dim => addDim(t.row0.at, mulDim(r, t.groups));

/** The coordinates of a weight in the space. */
export function placeOf(t: Tile, r: Dim, c: Dim): Dim[] {
  const [row, line] = [rowAt(t, r), addDim(t.line0.at, mulDim(c, teams))];
  const last = t.attention.sums[0]!.along === t.attention.space.length - 1;
  return [...t.batch.map((l) => l.at), ...(last ? [row, line] : [line, row])];
}
