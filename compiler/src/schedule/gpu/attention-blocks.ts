/**
 * The blocks of an attention kernel in workgroup memory, and the products that are made of them:
 * of rows and lines, and of weights and what is summed. Why four terms are one vector: workgroup
 * memory bounds the kernel. A thread tile of 4 rows by 8 keys by 8 columns makes 4,096 products a
 * tile and reads 12 numbers for every 32 of them; with single terms 4,000 of the 11,000 clocks of
 * a tile in workgroup memory were bank conflicts (docs/decisions/attention-without-scores.md).
 */
import { addDim, ceilDiv, type Dim, mulDim, type Tensor } from "@kiln-ml/ir";
import { readContraction } from "../../fuse/contraction.ts";
import { makeLoop } from "../../fuse/group.ts";
import type { WeightedSum } from "../../fuse/weighted-sum.ts";
import { load } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { nest } from "../../lower/loops.ts";
import { stageLines, stageRows, stageSummed } from "./attention-load.ts";
import {
  acc,
  barrier,
  each,
  f32,
  groups,
  linesEach,
  linesPerTile,
  offset,
  placesOf,
  type Tile,
  teams,
} from "./attention-tile.ts";

export interface Blocks {
  readonly array: Stmt;
  /**
   * Bring a step of terms of a product's rows or lines, and some lines of what is summed, to
   * workgroup memory.
   */
  rows(product: Tensor, step: Dim): Stmt[];
  lines(product: Tensor, lineTile: Dim, step: Dim): Stmt[];
  summed(sum: WeightedSum, firstLine: Dim): Stmt[];
  /** The k-th term of this invocation's r-th row and c-th line at a step. */
  row(k: Dim, r: number): Expr;
  line(k: Dim, c: number): Expr;
  /** The k-th weight of its r-th row, and its c-th column of the k-th line. */
  weight(k: Dim, r: number): Expr;
  column(k: Dim, c: number): Expr;
  /** Puts the weight of the k-th line of a step in its r-th row. */
  put(k: Dim, r: number, value: Expr): Stmt;
  /** A number of each team for a row. */
  share(r: number, team: Dim, value: Expr): Stmt;
  shared(r: number, team: Dim): Expr;
}

export function blocksOf(t: Tile): Blocks {
  const places = placesOf(t);
  const name = "tiles";
  const ownRow = (r: number): Dim => addDim(t.group, r * groups);
  const slot = (r: number, team: Dim): Dim => addDim(mulDim(ownRow(r), teams), team);
  const at = (index: Dim): Expr => load(name, "f32", index);
  const put = (index: Dim, value: Expr): Stmt => ({ kind: "store", to: name, index, value });
  return {
    array: { kind: "array", name, dtype: "f32", size: places.size, space: "shared", width: 4 },
    rows: (product, step) => stageRows(t, places, product, step),
    lines: (product, lineTile, step) => stageLines(t, places, product, lineTile, step),
    summed: (sum, first) => stageSummed(t, places, sum, first),
    row: (k, r) => at(places.row(k, ownRow(r))),
    line: (k, c) => at(places.line(k, addDim(t.team, c * teams))),
    weight: (k, r) => at(places.weight(k, ownRow(r))),
    column: (k, c) => at(places.column(k, addDim(mulDim(t.team, 4), offset(c)))),
    put: (k, r, value) => put(places.weight(k, ownRow(r)), value),
    share: (r, team, value) => put(slot(r, team), value),
    shared: (r, team) => at(slot(r, team)),
  };
}

const quad = [0, 1, 2, 3];

/** The terms of all rows and lines of a tile, multiplied in steps into accumulators. */
export function product(t: Tile, b: Blocks, made: Tensor, name: string, lineTile: Dim): Stmt[] {
  const { k } = readContraction(made).contraction;
  const step = makeLoop("step", ceilDiv(k[0]!.extent, t.depth));
  return [
    ...each(t.rows, (r) => each(linesEach, (c) => [acc(`${name}${r}_${c}`, 0)])),
    ...nest([step], "serial", [
      barrier,
      ...b.rows(made, step.at),
      ...b.lines(made, lineTile, step.at),
      barrier,
      ...terms(t, b, name),
    ]),
  ];
}

const held = (name: string, make: (j: number) => Expr): Stmt[] =>
  quad.map((j) => ({ kind: "let", name: `${name}_${j}`, value: make(j) }));

const fma = (name: string, r: number, c: number, j: number): Stmt => ({
  kind: "fma",
  name: `${name}${r}_${c}`,
  a: f32(`a${r}_${j}`),
  b: f32(`b${c}_${j}`),
});

/** Products of a step of terms in workgroup memory, four at a time. */
function terms(t: Tile, b: Blocks, name: string): Stmt[] {
  const kk = makeLoop("kk", t.depth / 4);
  const at = (j: number): Dim => addDim(mulDim(kk.at, 4), j);
  return nest([kk], "serial", [
    ...each(t.rows, (r) => held(`a${r}`, (j) => b.row(at(j), r))),
    ...each(linesEach, (c) => [
      ...held(`b${c}`, (j) => b.line(at(j), c)),
      ...quad.flatMap((j) => each(t.rows, (r) => [fma(name, r, c, j)])),
    ]),
  ]);
}

/**
 * Weights times what is summed, some lines at a time, whose weights go through workgroup memory.
 */
export function weigh(
  t: Tile,
  b: Blocks,
  s: number,
  lineTile: Dim,
  weight: (r: number, c: number) => Expr,
): Stmt[] {
  const sum = t.attention.sums[s]!;
  const depth = t.weightDepth;
  // Of each step's lines an invocation has every eighth.
  const own = depth / teams;
  return each(linesPerTile / depth, (q): Stmt[] => [
    barrier,
    ...each(own, (k) =>
      each(t.rows, (r): Stmt[] => [b.put(addDim(t.team, k * teams), r, weight(r, q * own + k))]),
    ),
    ...b.summed(sum, addDim(mulDim(lineTile, linesPerTile), q * depth)),
    barrier,
    ...summands(t, b, `o${s}_`),
  ]);
}

/** Products of a step of weights in workgroup memory, four lines at a time. */
function summands(t: Tile, b: Blocks, name: string): Stmt[] {
  const kk = makeLoop("kk", t.weightDepth / 4);
  const at = (j: number): Dim => addDim(mulDim(kk.at, 4), j);
  return nest([kk], "serial", [
    ...each(t.rows, (r) => held(`a${r}`, (j) => b.weight(at(j), r))),
    ...quad.flatMap((j) => [
      ...each(t.columns, (c): Stmt[] => [
        { kind: "let", name: `b${c}_${j}`, value: b.column(at(j), c) },
      ]),
      ...each(t.rows, (r) => each(t.columns, (c) => [fma(name, r, c, j)])),
    ]),
  ]);
}
