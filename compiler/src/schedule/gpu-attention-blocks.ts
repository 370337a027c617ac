/**
 * The blocks of an attention kernel in workgroup memory, and the products that are made of them: of rows and lines, and of weights and
 * what is summed.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  mulDim,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { readContraction } from "../fuse/contraction.ts";
import { makeLoop } from "../fuse/group.ts";
import type { WeightedSum } from "../fuse/weighted-sum.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { nest } from "../lower/loops.ts";
import { load } from "../lower/value.ts";
import { bringLines, bringRows, bringSummed } from "./gpu-attention-load.ts";
import {
  acc,
  barrier,
  each,
  f32,
  linesEach,
  linesPerTile,
  offset,
  placesOf,
  type Tile,
  teams,
} from "./gpu-attention-tile.ts";

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
    rows: (product, step) => bringRows(t, places, product, step),
    lines: (product, step) => bringLines(t, places, product, step),
    summed: (sum, first) => bringSummed(t, places, sum, first),
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
