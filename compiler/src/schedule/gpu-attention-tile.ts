/**
 * The tiles of attention kernels in workgroup memory: a block of rows and a block of lines, both along the terms of a product. Rows
 * are what the sums leave, queries or keys, then their weights; lines are what the sums run over, then the columns of what is
 * summed. Within 16 KiB, which every device has.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import type { Attention } from "../fuse/attention.ts";
import { rowAxisOf } from "../fuse/attention-group.ts";
import { readContraction } from "../fuse/contraction.ts";
import { type ContractionOperand, type Loop, makeLoop } from "../fuse/group.ts";
import type { WeightedSum } from "../fuse/weighted-sum.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { nest, type Rename, renamed, totalOf } from "../lower/loops.ts";
import { choose, constant, load, ref } from "../lower/value.ts";

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

export const firstRow = (t: Tile): Dim =>
  addDim(mulDim(t.tile.at, t.perTile), mulDim(floorDiv(t.me.at, teams), t.rows));

export const firstLine = (t: Tile, lineTile: Dim): Dim =>
  addDim(mulDim(lineTile, linesPerTile), mulDim(t.team, 4));

/** Where in a tile a team's c-th line or column is, from the team's first. */
export const offset = (c: Dim): Dim => addDim(mulDim(floorDiv(c, 4), 4 * teams), modDim(c, 4));

export interface Blocks {
  readonly arrays: readonly Stmt[];
  /** Bring a step of terms of a product's rows or lines, and some lines of what is summed, to workgroup memory. */
  rows(product: Tensor, step: Dim): Stmt[];
  lines(product: Tensor, step: Dim): Stmt[];
  summed(sum: WeightedSum, firstLine: Dim): Stmt[];
  /** The k-th term of this invocation's r-th row, and of the line at an offset from its first. */
  a(k: Dim, r: number): Expr;
  b(k: Dim, offset: Dim): Expr;
  /** Puts the k-th term of the r-th row. */
  put(k: Dim, r: number, value: Expr): Stmt;
  /** A number of each team for a row, in the place of the lines. */
  share(r: number, team: Dim, value: Expr): Stmt;
  shared(r: number, team: Dim): Expr;
}

export const below = (value: Dim, end: Dim): Condition => ({
  value: subDim(subDim(end, 1), value),
  test: "nonnegative",
});

/** That a place is below an end which blocks of so many do not always meet. */
const ends = (value: Dim, end: Dim, block: number): Condition[] =>
  modDim(end, block) === 0 ? [] : [below(value, end)];

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

export function blocksOf(t: Tile): Blocks {
  const places = placesOf(t);
  const { place, line, ownRow } = places;
  const array = (name: string, size: number): Stmt => ({
    kind: "array",
    name,
    dtype: "f32",
    size,
    space: "shared",
    width: 4,
  });
  const slot = (r: number, team: Dim): Dim => addDim(mulDim(addDim(ownRow, r), teams), team);
  return {
    arrays: [array("rowTile", places.rowSize), array("lineTile", places.lineSize)],
    ...bringers(t, places),
    a: (k, r) => load("rowTile", "f32", place(k, addDim(ownRow, r))),
    b: (k, offset) => load("lineTile", "f32", line(k, addDim(mulDim(t.team, 4), offset))),
    put: (k, r, value) => ({
      kind: "store",
      to: "rowTile",
      index: place(k, addDim(ownRow, r)),
      value,
    }),
    share: (r, team, value) => ({ kind: "store", to: "lineTile", index: slot(r, team), value }),
    shared: (r, team) => load("lineTile", "f32", slot(r, team)),
  };
}

/** Where the k-th term of a row and of a line is, and the invocation's first row. */
function placesOf(t: Tile) {
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

function bringers(
  t: Tile,
  { place, line }: ReturnType<typeof placesOf>,
): Pick<Blocks, "rows" | "lines" | "summed"> {
  const rowAxis = rowAxisOf(t.attention);
  const { along } = t.attention.sums[0]!;
  const firstLine = subDim(t.line0.at, mulDim(t.team, 4));
  // Scores are queries by keys, so the operand of an axis is known.
  const operandOf = (product: Tensor, axis: number): ContractionOperand => {
    const { a, b } = readContraction(product).contraction;
    return axis === product.rank - 2 ? a : b;
  };
  const term = (product: Tensor, axis: number, at: Dim, inner: Dim, end: Dim): Value => {
    const { k } = readContraction(product).contraction;
    const by = new Map([
      [k[0]!.name, inner],
      [makeLoop(`i${axis}`, 2).name, at],
    ]);
    const guard = [...ends(at, end, axis === rowAxis ? t.perTile : linesPerTile)];
    guard.push(...ends(inner, k[0]!.extent, t.depth));
    return element(t, operandOf(product, axis), by, guard);
  };
  return {
    rows: (product, step) =>
      brought(t, t.perTile, true, (k, row) => {
        const at = addDim(mulDim(t.tile.at, t.perTile), row);
        const value = term(product, rowAxis, at, addDim(mulDim(step, t.depth), k), t.row.extent);
        return { to: "rowTile", index: place(k, row), value };
      }),
    lines: (product, step) =>
      brought(t, linesPerTile, true, (k, row) => {
        const at = addDim(firstLine, row);
        const value = term(product, along, at, addDim(mulDim(step, t.depth), k), t.line.extent);
        return { to: "lineTile", index: line(k, row), value };
      }),
    summed: (sum, first) =>
      brought(t, t.columns * teams, false, (k, column) => {
        const at = addDim(first, k);
        const guard = [
          ...ends(at, t.line.extent, linesPerTile),
          ...ends(column, sum.columns, t.columns * teams),
        ];
        const value = element(t, summedOf(sum), summedLoops(t, sum, at, column), guard);
        return { to: "lineTile", index: line(k, column), value };
      }),
  };
}

interface Value {
  readonly expr: Expr;
  readonly before: readonly Stmt[];
}

interface Filled {
  readonly to: string;
  readonly index: Dim;
  readonly value: Value;
}

/**
 * Brings blocks of `count` lines; neighbouring invocations take neighbouring terms, or neighbouring lines. Not ahead of their use: the
 * registers that this takes cost more than the wait.
 */
function brought(
  t: Tile,
  count: number,
  alongTerms: boolean,
  make: (k: Dim, line: Dim) => Filled,
): Stmt[] {
  const invocations = t.me.extent as number;
  const u = makeLoop("u", Math.ceil((count * t.depth) / invocations));
  const flat = addDim(t.me.at, mulDim(u.at, invocations));
  const k = alongTerms ? modDim(flat, t.depth) : floorDiv(flat, count);
  const line = alongTerms ? floorDiv(flat, t.depth) : modDim(flat, count);
  const { to, index, value } = make(k, line);
  return nest([u], "unrolled", [...value.before, { kind: "store", to, index, value: value.expr }]);
}

/** An operand's element where its loops have these values, 0 where a condition fails. */
function element(
  t: Tile,
  operand: ContractionOperand,
  by: Rename,
  guard: readonly Condition[],
): Value {
  const values = openBlock(t.job);
  const coords = renamed(operand.coords, by);
  const value = values.at(operand.operand, coords, guard);
  return { expr: choose(guard, value, constant(value.dtype, 0)), before: values.body };
}

const summedOf = ({ result, otherSide }: WeightedSum): ContractionOperand =>
  readContraction(result).contraction[otherSide];

/** The loops by which a sum's product is read: those of its result by place, and the one that the sum runs along. */
function summedLoops(t: Tile, { result, axes }: WeightedSum, line: Dim, column: Dim): Rename {
  const { k } = readContraction(result).contraction;
  const by = new Map<string, Dim>([[k[0]!.name, line]]);
  const rowAxis = rowAxisOf(t.attention);
  for (const [i, axis] of axes.entries()) {
    const { name } = makeLoop(`i${i}`, 2);
    if (axis < 0) by.set(name, column);
    else if (axis !== rowAxis) by.set(name, t.batch[axis]!.at);
  }
  return by;
}

/** The terms of all rows and lines of a tile, multiplied in steps into accumulators. */
export function product(t: Tile, b: Blocks, made: Tensor, name: string): Stmt[] {
  const { k } = readContraction(made).contraction;
  const step = makeLoop("step", ceilDiv(k[0]!.extent, t.depth));
  return [
    ...each(t.rows, (r) => each(linesEach, (c) => [acc(`${name}${r}_${c}`, 0)])),
    ...nest([step], "serial", [
      barrier,
      ...b.rows(made, step.at),
      ...b.lines(made, step.at),
      barrier,
      ...multiply(t, b, linesEach, name),
    ]),
  ];
}

/** Products of a step of blocks in workgroup memory: rows of a by lines of b, of which a team has every so many. */
function multiply(t: Tile, b: Blocks, lines: number, name: string): Stmt[] {
  const kk = makeLoop("kk", t.depth);
  return nest([kk], "serial", [
    ...each(t.rows, (r): Stmt[] => [{ kind: "let", name: `a${r}`, value: b.a(kk.at, r) }]),
    ...each(lines, (c): Stmt[] => [{ kind: "let", name: `b${c}`, value: b.b(kk.at, offset(c)) }]),
    ...each(t.rows, (r) =>
      each(lines, (c): Stmt[] => [
        { kind: "fma", name: `${name}${r}_${c}`, a: f32(`a${r}`), b: f32(`b${c}`) },
      ]),
    ),
  ]);
}

/** Weights times what is summed, some lines at a time, whose weights go through workgroup memory. */
export function weigh(
  t: Tile,
  b: Blocks,
  s: number,
  lineTile: Dim,
  weight: (r: number, c: number) => Expr,
): Stmt[] {
  // So many teams hold the lines of a step, four neighbouring ones each.
  const holders = t.depth / 4;
  const sum = t.attention.sums[s]!;
  return each(linesPerTile / t.depth, (q): Stmt[] => {
    const part = Math.floor((q * t.depth) / (4 * teams));
    const first = (q * holders) % teams;
    const own = subDim(t.team, first);
    const held = each(4, (k) =>
      each(t.rows, (r): Stmt[] => [b.put(addDim(mulDim(own, 4), k), r, weight(r, part * 4 + k))]),
    );
    const when: Condition[] = [
      { value: subDim(floorDiv(t.team, holders), first / holders), test: "zero" },
    ];
    return [
      barrier,
      { kind: "if", when, then: held },
      ...b.summed(sum, addDim(mulDim(lineTile, linesPerTile), q * t.depth)),
      barrier,
      ...multiply(t, b, t.columns, `o${s}_`),
    ];
  });
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
