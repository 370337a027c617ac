/**
 * The blocks of an attention kernel in workgroup memory, and the products that are made of them: of rows and lines, and of weights and
 * what is summed.
 */
import { addDim, ceilDiv, type Dim, mulDim, type Tensor } from "@kiln-ml/ir";
import { readContraction } from "../fuse/contraction.ts";
import { makeLoop } from "../fuse/group.ts";
import type { WeightedSum } from "../fuse/weighted-sum.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { nest } from "../lower/loops.ts";
import { load } from "../lower/value.ts";
import {
  type Brought,
  bringLines,
  bringRows,
  bringSummed,
  bringWholeRows,
} from "./gpu-attention-load.ts";
import {
  acc,
  barrier,
  each,
  f32,
  groups,
  offset,
  placesOf,
  type Tile,
  teams,
  tuning,
} from "./gpu-attention-tile.ts";

export interface Blocks {
  readonly arrays: readonly Stmt[];
  /** Brings what stays for all tiles of lines. */
  readonly before: readonly Stmt[];
  /** Bring a step of terms of a product's rows or lines, and some lines of what is summed, to workgroup memory. */
  rows(product: Tensor, step: Dim): Brought;
  lines(product: Tensor, lineTile: Dim, step: Dim): Brought;
  summed(sum: WeightedSum, firstLine: Dim): Brought;
  /** The k-th term of this invocation's r-th row and c-th line at a step. */
  a(step: Dim, k: Dim, r: number): Expr;
  b(k: Dim, c: number): Expr;
  /** The k-th weight of its r-th row, and its c-th column of the k-th line. */
  weight(k: Dim, r: number): Expr;
  column(k: Dim, c: number): Expr;
  /** Puts the weight of the k-th line of a step in its r-th row. */
  put(k: Dim, r: number, value: Expr): Stmt;
  /** A number of each team for a row, in the place of the lines. */
  share(r: number, team: Dim, value: Expr): Stmt;
  shared(r: number, team: Dim): Expr;
}

export function blocksOf(t: Tile): Blocks {
  const places = placesOf(t);
  const array = (name: string, size: number, space: "shared" | "private" = "shared"): Stmt => ({
    kind: "array",
    name,
    dtype: "f32",
    size,
    space,
    width: 4,
  });
  const ownRow = (r: number): Dim => addDim(t.group, r * groups);
  const slot = (r: number, team: Dim): Dim => addDim(mulDim(ownRow(r), teams), team);
  const aheadSize = Math.max(t.perLineTile * t.depth, t.weightDepth * t.columns * teams);
  const [made] = t.attention.made;
  return {
    arrays: [
      array("tiles", places.sizes.tile),
      ...(t.resident ? [array("wholeRows", places.sizes.stays)] : []),
      ...(t.prefetch ? [array("ahead", Math.ceil(aheadSize / 128), "private")] : []),
    ],
    before: t.resident ? bringWholeRows(t, places, made!) : [],
    rows: (product, step) =>
      t.resident ? { fetch: [], put: [], all: [] } : bringRows(t, places, product, step),
    lines: (product, lineTile, step) => bringLines(t, places, product, lineTile, step),
    summed: (sum, first) => bringSummed(t, places, sum, first),
    a: (step, k, r) =>
      t.resident
        ? load("wholeRows", "f32", places.whole(addDim(mulDim(step, t.depth), k), ownRow(r)))
        : load("tiles", "f32", places.row(k, ownRow(r))),
    b: (k, c) => load("tiles", "f32", places.line(k, addDim(t.team, c * teams))),
    weight: (k, r) => load("tiles", "f32", places.weight(k, ownRow(r))),
    column: (k, c) => load("tiles", "f32", places.column(k, addDim(mulDim(t.team, 4), offset(c)))),
    put: (k, r, value) => ({
      kind: "store",
      to: "tiles",
      index: places.weight(k, ownRow(r)),
      value,
    }),
    share: (r, team, value) => ({ kind: "store", to: "tiles", index: slot(r, team), value }),
    shared: (r, team) => load("tiles", "f32", slot(r, team)),
  };
}

const quad = [0, 1, 2, 3];

/** The terms of all rows and lines of a tile, multiplied in steps into accumulators. */
export function product(
  t: Tile,
  b: Blocks,
  made: Tensor,
  name: string,
  lineTile: Dim,
  next?: () => Brought,
): Stmt[] {
  const { k } = readContraction(made).contraction;
  const steps = ceilDiv(k[0]!.extent, t.depth);
  const sums = each(t.rows, (r) => each(t.lines, (c) => [acc(`${name}${r}_${c}`, 0)]));
  if (t.prefetch && next) {
    const count = steps as number;
    return [
      ...sums,
      ...each(count, (step) => [
        barrier,
        ...b.rows(made, step).all,
        ...b.lines(made, lineTile, step).put,
        barrier,
        ...(step + 1 < count ? b.lines(made, lineTile, step + 1) : next()).fetch,
        ...terms(t, b, step, name),
      ]),
    ];
  }
  const step = makeLoop("step", steps);
  return [
    ...sums,
    ...nest([step], "serial", [
      barrier,
      ...b.rows(made, step.at).all,
      ...b.lines(made, lineTile, step.at).all,
      barrier,
      ...terms(t, b, step.at, name),
    ]),
  ];
}

/** Products of a step of terms in workgroup memory, four at a time. */
function terms(t: Tile, b: Blocks, step: Dim, name: string): Stmt[] {
  const kk = makeLoop("kk", t.depth / 4);
  const at = (j: number): Dim => addDim(mulDim(kk.at, 4), j);
  return nest([kk], tuning.unroll ? "unrolled" : "serial", [
    ...each(t.lines, (c) =>
      quad.map((j): Stmt => ({ kind: "let", name: `b${c}_${j}`, value: b.b(at(j), c) })),
    ),
    ...each(t.rows, (r) => [
      ...quad.map((j): Stmt => ({ kind: "let", name: `a${r}_${j}`, value: b.a(step, at(j), r) })),
      ...quad.flatMap((j) =>
        each(t.lines, (c): Stmt[] => [
          { kind: "fma", name: `${name}${r}_${c}`, a: f32(`a${r}_${j}`), b: f32(`b${c}_${j}`) },
        ]),
      ),
    ]),
  ]);
}

/** Weights times what is summed, some lines at a time, whose weights go through workgroup memory. */
export function weigh(
  t: Tile,
  b: Blocks,
  s: number,
  lineTile: Dim,
  weight: (r: number, c: number) => Expr,
  next?: () => Brought,
): Stmt[] {
  const sum = t.attention.sums[s]!;
  const depth = t.weightDepth;
  const count = t.perLineTile / depth;
  const first = (q: number): Dim => addDim(mulDim(lineTile, t.perLineTile), q * depth);
  return each(count, (q): Stmt[] => {
    const own = depth / teams;
    const held = each(own, (k) =>
      each(t.rows, (r): Stmt[] => [b.put(addDim(t.team, k * teams), r, weight(r, q * own + k))]),
    );
    const ahead = t.prefetch && next;
    return [
      barrier,
      ...held,
      ...(ahead ? b.summed(sum, first(q)).put : b.summed(sum, first(q)).all),
      barrier,
      ...(ahead ? (q + 1 < count ? b.summed(sum, first(q + 1)) : next()).fetch : []),
      ...summands(t, b, `o${s}_`),
    ];
  });
}

/** Products of a step of weights in workgroup memory, four lines at a time. */
function summands(t: Tile, b: Blocks, name: string): Stmt[] {
  const kk = makeLoop("kk", t.weightDepth / 4);
  const at = (j: number): Dim => addDim(mulDim(kk.at, 4), j);
  return nest([kk], tuning.unroll ? "unrolled" : "serial", [
    ...each(t.rows, (r) =>
      quad.map((j): Stmt => ({ kind: "let", name: `a${r}_${j}`, value: b.weight(at(j), r) })),
    ),
    ...quad.flatMap((j) => [
      ...each(t.columns, (c): Stmt[] => [
        { kind: "let", name: `b${c}_${j}`, value: b.column(at(j), c) },
      ]),
      ...each(t.rows, (r) =>
        each(t.columns, (c): Stmt[] => [
          { kind: "fma", name: `${name}${r}_${c}`, a: f32(`a${r}_${j}`), b: f32(`b${c}_${j}`) },
        ]),
      ),
    ]),
  ]);
}
