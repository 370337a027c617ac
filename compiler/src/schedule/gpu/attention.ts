/**
 * softmax(scores)·v on a GPU, the scores a product's epilogue: a workgroup takes a tile of queries
 * through tiles of keys, keeps the greatest score and the sum of each row so far, and never stores
 * a score. Earlier sums are scaled down whenever a row finds a greater score (Dao et al. 2022,
 * Milakov and Gimelshein 2018). Sums whose weights are known otherwise are `weighted.ts`'s. Why:
 * bytes bound the three kernels that this replaces: the scores of 4 × 16 heads of 2048 are 1 GiB,
 * a third of 3.5 ms. Tiles of 64 by 64 have four rows an invocation; eight are as fast at twice
 * the text. Under a causal mask the longest tiles start first, so that none is alone at the end
 * (1.29 to 1.10 ms).
 */
import { maxOf } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { isBelow, isFirst } from "../../kernel/conditions.ts";
import { call, constant, load } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { type LoweringContext, openBlock, storeMember } from "../../lower/context.ts";
import { decode, nest } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { attention as sizes } from "../../machine/products.ts";
import { vectorisedParams } from "../vector.ts";
import { type Blocks, blocksOf, product, weigh } from "./attention-blocks.ts";
import { storeSums } from "./attention-store.ts";
import {
  acc,
  barrier,
  each,
  f32,
  firstLine,
  firstRow,
  gridOf,
  linesEach,
  lineTilesOf,
  placeOf,
  rowAt,
  rowsUpTo,
  type Tile,
  teams,
  tileOf,
  within,
} from "./attention-tile.ts";
import { weightName, weights } from "./attention-weights.ts";
import { gpuWeighted } from "./weighted.ts";

export function gpuAttention(context: LoweringContext): Scheduled {
  const { softmax, sums } = context.group.attention!;
  if (!softmax) return gpuWeighted(context);
  const t = tileOf(context, rowsUpTo(mostRows, context), sizes.deepest);
  const b = blocksOf(t);
  // Divided by the totals at the end, like the weights without factors.
  const scaled = sums[0]!.weights !== softmax.weights;
  const made = t.attention.made[0]!;
  const keyTile = makeLoop("keyTile", lineTilesOf(t).end);
  const body: Stmt[] = [
    { kind: "letInvocation", name: t.me.name },
    ...decode(t.batch, t.batchAt.at),
    { kind: "letIndex", name: t.row0.name, value: firstRow(t) },
    b.array,
    ...each(t.rows, (r): Stmt[] => [acc(`top${r}`, leastTop(t)), acc(`sum${r}`, 0)]),
    ...each(t.rows, (r) => each(t.columns, (c) => [acc(`o0_${r}_${c}`, 0)])),
    ...nest([keyTile], "serial", [
      { kind: "letIndex", name: t.line0.name, value: firstLine(t, keyTile.at) },
      ...product(t, b, made, "s", keyTile.at),
      ...each(t.rows, (r) => each(linesEach, (c) => [set(`s${r}_${c}`, scoreOf(t, r, c))])),
      ...rescale(t, b),
      ...(scaled ? weights(t, (r, c) => [[softmax.weights, `s${r}_${c}`]]) : []),
      ...weigh(t, b, 0, keyTile.at, (r, c) => f32(scaled ? weightName(0, r, c) : `s${r}_${c}`)),
    ]),
    ...finish(t, b),
  ];
  return {
    body: nest(gridOf(t), "workgroup", body),
    workgroupSize: t.me.extent as number,
    vectorised: vectorisedParams(body, t.lane.name),
  };
}

/** Twice as many were slower for heads of 32 to 128, half as many for those of 256. */
const mostRows = 4;

/** What the maxima of rows are brought up to. */
const leastTop = (t: Tile): number => t.attention.softmax!.least?.max ?? -maxOf("f32");

const set = (name: string, value: Expr): Stmt => ({ kind: "set", name, value });

/** The program's score of a query and a key, by its product; −∞ past the last key. */
function scoreOf(t: Tile, r: number, c: number): Expr {
  const { made, softmax } = t.attention;
  const at = placeOf(t, r, c);
  const values = openBlock(t.context);
  values.bind(made[0]!, f32(`s${r}_${c}`));
  return within(t, c, values.at(softmax!.scores, at), -Infinity);
}

/**
 * Scores become weights: each row's teams agree on the greatest score, and what they hold is scaled
 * to it.
 */
function rescale(t: Tile, b: Blocks): Stmt[] {
  const top = makeLoop("other", teams);
  const exp = (a: Expr, m: Expr): Expr => call("exp", "f32", call("sub", "f32", a, m));
  return [
    ...each(t.rows, (r): Stmt[] => [
      acc(`new${r}`, leastTop(t)),
      ...each(linesEach, (c): Stmt[] => [greatest(`new${r}`, f32(`s${r}_${c}`))]),
    ]),
    barrier,
    ...each(t.rows, (r): Stmt[] => [b.share(r, t.team, f32(`new${r}`))]),
    barrier,
    ...each(t.rows, (r): Stmt[] => [
      set(`new${r}`, f32(`top${r}`)),
      ...nest([top], "unrolled", [greatest(`new${r}`, b.shared(r, top.at))]),
      { kind: "let", name: `shrink${r}`, value: exp(f32(`top${r}`), f32(`new${r}`)) },
      set(`top${r}`, f32(`new${r}`)),
      set(`sum${r}`, call("mul", "f32", f32(`sum${r}`), f32(`shrink${r}`))),
      ...each(t.columns, (c): Stmt[] => [
        set(`o0_${r}_${c}`, call("mul", "f32", f32(`o0_${r}_${c}`), f32(`shrink${r}`))),
      ]),
      ...each(linesEach, (c): Stmt[] => [
        set(`s${r}_${c}`, exp(f32(`s${r}_${c}`), f32(`top${r}`))),
        set(`sum${r}`, call("add", "f32", f32(`sum${r}`), f32(`s${r}_${c}`))),
      ]),
    ]),
  ];
}

/** NaN need not win: the weight that is made of it is NaN, and so is the sum of its row. */
const greatest = (name: string, value: Expr): Stmt =>
  set(name, call("select", "f32", call("less", "bool", f32(name), value), value, f32(name)));

/**
 * The teams' sums make one of a row; then the results and what the program makes of them are
 * stored.
 */
function finish(t: Tile, b: Blocks): Stmt[] {
  const { max, total } = t.attention.softmax!;
  const results = storeSums(
    t,
    (_, i, j) => call("mul", "f32", f32(`o0_${i}_${j}`), f32(`part${i}`)),
    (values, r) => {
      values.bind(max, load("rowTops", "f32", r.at));
      values.bind(total, load("rowTotals", "f32", r.at));
    },
  );
  return [...totals(t, b), ...storeRows(t), ...results];
}

function totals(t: Tile, b: Blocks): Stmt[] {
  const { rows } = t;
  const other = makeLoop("other", teams);
  const one = constant("f32", 1);
  return [
    barrier,
    ...each(rows, (i): Stmt[] => [b.share(i, t.team, f32(`sum${i}`))]),
    barrier,
    { kind: "array", name: "rowTops", dtype: "f32", size: rows, space: "private" },
    { kind: "array", name: "rowTotals", dtype: "f32", size: rows, space: "private" },
    ...each(rows, (i): Stmt[] => [
      acc(`all${i}`, 0),
      ...nest([other], "unrolled", [
        { kind: "accumulate", name: `all${i}`, reducer: "sum", value: b.shared(i, other.at) },
      ]),
      { kind: "let", name: `part${i}`, value: call("div", "f32", one, totalOf(t, f32(`all${i}`))) },
      { kind: "store", to: "rowTops", index: i, value: f32(`top${i}`) },
      { kind: "store", to: "rowTotals", index: i, value: f32(`all${i}`) },
    ]),
  ];
}

/** The total that weights are divided by. */
function totalOf(t: Tile, all: Expr): Expr {
  const { least } = t.attention.softmax!;
  return least ? call("maximum", "f32", all, constant("f32", least.total)) : all;
}

/**
 * Stores what is asked for of the maxima and totals of rows: the first of each row's teams does.
 */
function storeRows(t: Tile): Stmt[] {
  const { context, attention } = t;
  const { max, total } = attention.softmax!;
  const asked = [max, total].filter((m) => context.stored.has(m));
  if (asked.length === 0) return [];
  return each(t.rows, (i): Stmt[] => {
    const block = openBlock(context);
    for (const [m, name] of [
      [max, "top"],
      [total, "all"],
    ] as const)
      block.bind(m, f32(`${name}${i}`));
    for (const m of asked) block.body.push(storeMember(context, block, m));
    const row = rowAt(t, i);
    return [
      {
        kind: "if",
        when: [isFirst(t.team), isBelow(row, t.row.extent)],
        then: [{ kind: "letIndex", name: t.row.name, value: row }, ...block.body],
      },
    ];
  });
}
