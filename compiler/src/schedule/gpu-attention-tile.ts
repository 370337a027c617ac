/**
 * The tiles of an attention kernel in workgroup memory: a block of rows and a block of lines, both along the terms of a product.
 * Rows are queries, then weights; lines are keys, then columns of the values. Within 16 KiB, which every device has.
 */
import {
  addDim,
  type Condition,
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { readContraction } from "../fuse/contraction.ts";
import { type ContractionOperand, type Loop, makeLoop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { nest, type Rename, renamed } from "../lower/loops.ts";
import { choose, constant, load } from "../lower/value.ts";

/** Invocations that share rows; each has four neighbouring lines of every 32. */
export const teams = 8;
export const keysPerTile = 64;
/** Terms of a product between barriers. */
export const depth = 16;

export interface Tile {
  readonly job: Job;
  readonly result: Tensor;
  readonly dot: Tensor;
  readonly batch: readonly Loop[];
  readonly batchAt: Loop;
  /** Loops over all queries, columns of the values, keys, and terms of a score. */
  readonly query: Loop;
  readonly column: Loop;
  readonly key: Loop;
  readonly inner: Loop;
  /** The workgroup's tile of queries; the invocation and its team. */
  readonly tile: Loop;
  readonly me: Loop;
  readonly team: Dim;
  /** The invocation's first query, and its first key of the tile at hand. */
  readonly row0: Loop;
  readonly key0: Loop;
  /** Rows and columns of an invocation, rows of a tile. */
  readonly rows: number;
  readonly columns: number;
  readonly perTile: number;
}

export interface Blocks {
  readonly arrays: readonly Stmt[];
  /** Bring a step of terms of queries or of keys, and some keys' values, to workgroup memory. */
  queries(step: Dim): Stmt[];
  keys(step: Dim): Stmt[];
  values(firstKey: Dim): Stmt[];
  /** The k-th term of this invocation's r-th row, and of the line at an offset from its first. */
  a(k: Dim, r: number): Expr;
  b(k: Dim, offset: number): Expr;
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
  const lines = Math.max(keysPerTile, t.columns * teams);
  // Rows begin four banks apart, so that writes down a column meet in few of them.
  const pitch = t.perTile + 4;
  return {
    rowSize: pitch * depth,
    lineSize: lines * depth,
    place: (k: Dim, row: Dim): Dim => addDim(mulDim(k, pitch), row),
    line: (k: Dim, at: Dim): Dim => addDim(mulDim(k, lines), at),
    ownRow: mulDim(floorDiv(t.me.at, teams), t.rows),
  };
}

function bringers(
  t: Tile,
  { place, line }: ReturnType<typeof placesOf>,
): Pick<Blocks, "queries" | "keys" | "values"> {
  const { a: query, b: key } = readContraction(t.dot).contraction;
  const { b: value } = readContraction(t.result).contraction;
  const firstQuery = mulDim(t.tile.at, t.perTile);
  const firstKey = subDim(t.key0.at, mulDim(t.team, 4));
  const term = (step: Dim, k: Dim): Dim => addDim(mulDim(step, depth), k);
  return {
    queries: brought(t, t.perTile, true, (step, k, row) => {
      const [at, inner] = [addDim(firstQuery, row), term(step, k)];
      const guard = [below(at, t.query.extent), below(inner, t.inner.extent)];
      const by = scoreLoops(t, at, undefined, inner);
      return { to: "rowTile", index: place(k, row), value: element(t, query, by, guard) };
    }),
    keys: brought(t, keysPerTile, true, (step, k, row) => {
      const [at, inner] = [addDim(firstKey, row), term(step, k)];
      const guard = [below(at, t.key.extent), below(inner, t.inner.extent)];
      const by = scoreLoops(t, undefined, at, inner);
      return { to: "lineTile", index: line(k, row), value: element(t, key, by, guard) };
    }),
    values: brought(t, t.columns * teams, false, (first, k, column) => {
      const at = addDim(first, k);
      const guard = [below(at, t.key.extent), below(column, t.column.extent)];
      const by = valueLoops(t, at, column);
      return { to: "lineTile", index: line(k, column), value: element(t, value, by, guard) };
    }),
  };
}

interface Filled {
  readonly to: string;
  readonly index: Dim;
  readonly value: { readonly expr: Expr; readonly before: readonly Stmt[] };
}

/**
 * Brings blocks of `count` lines; neighbouring invocations take neighbouring terms, or neighbouring lines. Not ahead of their use: the
 * registers that this takes cost more than the wait.
 */
function brought(
  t: Tile,
  count: number,
  alongTerms: boolean,
  make: (at: Dim, k: Dim, line: Dim) => Filled,
): (at: Dim) => Stmt[] {
  const invocations = t.me.extent as number;
  const u = makeLoop("u", Math.ceil((count * depth) / invocations));
  const flat = addDim(t.me.at, mulDim(u.at, invocations));
  const k = alongTerms ? modDim(flat, depth) : floorDiv(flat, count);
  const line = alongTerms ? floorDiv(flat, depth) : modDim(flat, count);
  return (at) => {
    const { to, index, value } = make(at, k, line);
    return nest([u], "unrolled", [
      ...value.before,
      { kind: "store", to, index, value: value.expr },
    ]);
  };
}

/** An operand's element where its loops have these values, 0 where a condition fails. */
function element(
  t: Tile,
  operand: ContractionOperand,
  by: Rename,
  guard: readonly Condition[],
): Filled["value"] {
  const values = openBlock(t.job);
  const coords = renamed(operand.coords, by);
  const value = values.at(operand.operand, coords, guard);
  return { expr: choose(guard, value, constant(value.dtype, 0)), before: values.body };
}

/** The loops by which a product is read: those of its result by place, and the one of its terms. */
function scoreLoops(t: Tile, query: Dim | undefined, key: Dim | undefined, term: Dim): Rename {
  const { k } = readContraction(t.dot).contraction;
  const by = new Map<string, Dim>([[k[0]!.name, term]]);
  const place = [...t.batch.map((l) => l.at), query, key];
  for (const [i, at] of place.entries())
    if (at !== undefined) by.set(makeLoop(`i${i}`, t.dot.shape[i]!).name, at);
  return by;
}

function valueLoops(t: Tile, key: Dim, column: Dim): Rename {
  const { k } = readContraction(t.result).contraction;
  const by = new Map<string, Dim>([[k[0]!.name, key]]);
  for (const [i, at] of [...t.batch.map((l) => l.at), undefined, column].entries())
    if (at !== undefined) by.set(makeLoop(`i${i}`, t.result.shape[i]!).name, at);
  return by;
}
