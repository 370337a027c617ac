/**
 * softmax(scores)·v on a GPU, the scores a product's epilogue: a workgroup takes a tile of queries through tiles of keys, with the
 * greatest score and the sum of each row so far, and never stores a score. What came before is scaled down whenever a row
 * finds a greater score (Dao et al. 2022, Milakov and Gimelshein 2018). Forward only.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  maxOf,
  maxOfDim,
  minDim,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import { readContraction } from "../fuse/contraction.ts";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { type Job, membersOf, openBlock, storeMember } from "../lower/job.ts";
import { decode, nest, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { call, choose, constant, load, ref } from "../lower/value.ts";
import {
  type Blocks,
  below,
  blocksOf,
  depth,
  each,
  keysPerTile,
  type Tile,
  teams,
} from "./gpu-attention-tile.ts";

export function gpuAttention(job: Job): Scheduled {
  const t = tileOf(job);
  const b = blocksOf(t);
  const keyTile = makeLoop("keyTile", keyTilesOf(t));
  const body: Stmt[] = [
    { kind: "letInvocation", name: t.me.name },
    ...decode(t.batch, t.batchAt.at),
    { kind: "letIndex", name: t.row0.name, value: firstRow(t) },
    ...b.arrays,
    ...each(t.rows, (r): Stmt[] => [acc(`top${r}`, -maxOf("f32")), acc(`sum${r}`, 0)]),
    ...each(t.rows, (r) => each(t.columns, (c) => [acc(`o${r}_${c}`, 0)])),
    ...nest([keyTile], "serial", [
      {
        kind: "letIndex",
        name: t.key0.name,
        value: addDim(mulDim(keyTile.at, keysPerTile), mulDim(t.team, 4)),
      },
      ...scores(t, b),
      ...rescale(t, b),
      ...weigh(t, b, keyTile),
    ]),
    ...finish(t, b),
  ];
  return {
    body: nest([t.batchAt, t.tile], "workgroup", body),
    workgroupSize: t.me.extent as number,
  };
}

function tileOf(job: Job): Tile {
  const { attention, outer } = job.group;
  const { result, dot } = attention!;
  const [query, column] = outer.slice(-2) as [Loop, Loop];
  const batch = outer.slice(0, -2);
  const keys = dot.shape.at(-1)!;
  const columns = Math.max(4, Math.ceil(maxOfDim(column.extent) / (4 * teams)) * 4);
  const rows = rowsOf(extentGuess(batch), extentGuess([query]), columns);
  const perTile = 16 * rows;
  const tile = makeLoop("queryTile", ceilDiv(query.extent, perTile));
  const key = makeLoop("key", keys);
  const inner = makeLoop("depth", totalOf(readContraction(dot).contraction.k));
  const me = makeLoop("me", 16 * teams);
  const team = modDim(me.at, teams);
  return {
    job,
    result,
    dot,
    batch,
    batchAt: makeLoop("batch", totalOf(batch)),
    query,
    column,
    key,
    inner,
    tile,
    me,
    team,
    row0: makeLoop("row0", mulDim(tile.extent, perTile)),
    key0: makeLoop("key0", mulDim(ceilDiv(keys, keysPerTile), keysPerTile)),
    rows,
    columns,
    perTile,
  };
}

/** Workgroups that keep a device busy. */
const busy = 192;

/** Rows of an invocation: the more, the more often what it fetches is used; but fewer tiles leave a device idle. */
function rowsOf(batch: number, queries: number, columns: number): number {
  // A row of more columns leaves registers for fewer rows.
  let rows = columns > 8 ? 4 : 8;
  while (rows > 1 && batch * Math.ceil(queries / (16 * rows)) < busy) rows /= 2;
  return rows;
}

const firstRow = (t: Tile): Dim =>
  addDim(mulDim(t.tile.at, t.perTile), mulDim(floorDiv(t.me.at, teams), t.rows));

/** Of a causal mask only keys up to the tile's last query count. */
function keyTilesOf(t: Tile): Dim {
  const all = ceilDiv(t.key.extent, keysPerTile);
  if (!t.job.group.attention!.causal) return all;
  return minDim(all, ceilDiv(mulDim(addDim(t.tile.at, 1), t.perTile), keysPerTile));
}

const acc = (name: string, value: number): Stmt => ({
  kind: "acc",
  name,
  dtype: "f32",
  init: constant("f32", value),
  wide: false,
});
const set = (name: string, value: Expr): Stmt => ({ kind: "set", name, value });
const f32 = (name: string): Expr => ref(name, "f32");
const barrier: Stmt = { kind: "barrier" };

/** Where in a tile a team's c-th key or column is, from the team's first. */
const offset = (c: number): number => Math.floor(c / 4) * 4 * teams + (c % 4);
const keysEach = keysPerTile / teams;

/** The scores of this invocation's rows and keys: products in steps of the depth, then what the program makes of them. */
function scores(t: Tile, b: Blocks): Stmt[] {
  const step = makeLoop("step", ceilDiv(t.inner.extent, depth));
  const product = nest([step], "serial", [
    barrier,
    ...b.queries(step.at),
    ...b.keys(step.at),
    barrier,
    ...multiply(b, t.rows, keysEach, "s"),
  ]);
  const made = each(t.rows, (r) => each(keysEach, (c) => [set(`s${r}_${c}`, scoreOf(t, r, c))]));
  return [
    ...each(t.rows, (r) => each(keysEach, (c) => [acc(`s${r}_${c}`, 0)])),
    ...product,
    ...made,
  ];
}

/** The program's score of a query and a key, by its product; −∞ past the last key. */
function scoreOf(t: Tile, r: number, c: number): Expr {
  const { dot, scores } = t.job.group.attention!;
  const at = [...t.batch.map((l) => l.at), addDim(t.row0.at, r), addDim(t.key0.at, offset(c))];
  const values = openBlock(t.job);
  values.bind(dot, f32(`s${r}_${c}`));
  const value = values.at(scores, at);
  const even = modDim(t.key.extent, keysPerTile) === 0;
  const within: Condition = below(addDim(t.key0.at, offset(c)), t.key.extent);
  return even ? value : choose([within], value, constant("f32", -Infinity));
}

/** Products of a step of blocks in workgroup memory: rows of a by lines of b, of which a team has every so many. */
function multiply(b: Blocks, rows: number, lines: number, name: string): Stmt[] {
  const kk = makeLoop("kk", depth);
  return nest([kk], "serial", [
    ...each(rows, (r): Stmt[] => [{ kind: "let", name: `a${r}`, value: b.a(kk.at, r) }]),
    ...each(lines, (c): Stmt[] => [{ kind: "let", name: `b${c}`, value: b.b(kk.at, offset(c)) }]),
    ...each(rows, (r) =>
      each(lines, (c): Stmt[] => [
        { kind: "fma", name: `${name}${r}_${c}`, a: f32(`a${r}`), b: f32(`b${c}`) },
      ]),
    ),
  ]);
}

/** Scores become weights: each row's teams agree on the greatest score, and what they hold is scaled to it. */
function rescale(t: Tile, b: Blocks): Stmt[] {
  const top = makeLoop("other", teams);
  const exp = (a: Expr, m: Expr): Expr => call("exp", "f32", call("sub", "f32", a, m));
  return [
    ...each(t.rows, (r): Stmt[] => [
      acc(`new${r}`, -maxOf("f32")),
      ...each(keysEach, (c): Stmt[] => [greatest(`new${r}`, f32(`s${r}_${c}`))]),
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
        set(`o${r}_${c}`, call("mul", "f32", f32(`o${r}_${c}`), f32(`shrink${r}`))),
      ]),
      ...each(keysEach, (c): Stmt[] => [
        set(`s${r}_${c}`, exp(f32(`s${r}_${c}`), f32(`top${r}`))),
        set(`sum${r}`, call("add", "f32", f32(`sum${r}`), f32(`s${r}_${c}`))),
      ]),
    ]),
  ];
}

/** NaN need not win: the weight that is made of it is NaN, and so is the sum of its row. */
const greatest = (name: string, value: Expr): Stmt =>
  set(name, call("select", "f32", call("less", "bool", f32(name), value), value, f32(name)));

/** Weights times values, some keys at a time, whose weights go through workgroup memory. */
function weigh(t: Tile, b: Blocks, keyTile: Loop): Stmt[] {
  // So many teams hold the keys of a step, four neighbouring ones each.
  const holders = depth / 4;
  return each(keysPerTile / depth, (q): Stmt[] => {
    const half = Math.floor((q * depth) / (4 * teams));
    const first = (q * holders) % teams;
    const own = subDim(t.team, first);
    const held = each(4, (k) =>
      each(t.rows, (r): Stmt[] => [
        b.put(addDim(mulDim(own, 4), k), r, f32(`s${r}_${half * 4 + k}`)),
      ]),
    );
    const when: Condition[] = [
      { value: subDim(floorDiv(t.team, holders), first / holders), test: "zero" },
    ];
    return [
      barrier,
      { kind: "if", when, then: held },
      ...b.values(addDim(mulDim(keyTile.at, keysPerTile), q * depth)),
      barrier,
      ...multiply(b, t.rows, t.columns, "o"),
    ];
  });
}

/** The teams' sums make one of a row; then the results and what the program makes of them are stored. */
function finish(t: Tile, b: Blocks): Stmt[] {
  const { job, rows, columns } = t;
  const other = makeLoop("other", teams);
  const [r, c] = [makeLoop("r", rows), makeLoop("c", columns)];
  const sums: Stmt[] = [
    barrier,
    ...each(rows, (i): Stmt[] => [b.share(i, t.team, f32(`sum${i}`))]),
    barrier,
    ...each(rows, (i): Stmt[] => [
      acc(`all${i}`, 0),
      ...nest([other], "unrolled", [
        { kind: "accumulate", name: `all${i}`, reducer: "sum", value: b.shared(i, other.at) },
      ]),
      {
        kind: "let",
        name: `part${i}`,
        value: call("div", "f32", constant("f32", 1), f32(`all${i}`)),
      },
      ...each(columns, (j): Stmt[] => [
        {
          kind: "store",
          to: "results",
          index: i * columns + j,
          value: call("mul", "f32", f32(`o${i}_${j}`), f32(`part${i}`)),
        },
      ]),
    ]),
  ];
  const block = openBlock(job);
  const value = load("results", "f32", addDim(mulDim(r.at, columns), c.at));
  block.bind(t.result, value);
  for (const [node] of membersOf(job.group))
    if (job.stored.has(node)) block.body.push(storeMember(job, block, node, new Map()));
  const row = addDim(t.row0.at, r.at);
  const column = addDim(
    addDim(mulDim(floorDiv(c.at, 4), 4 * teams), mulDim(t.team, 4)),
    modDim(c.at, 4),
  );
  const when = [below(row, t.query.extent), below(column, t.column.extent)];
  return [
    { kind: "array", name: "results", dtype: "f32", size: rows * columns, space: "private" },
    ...sums,
    ...nest([r, c], "unrolled", [
      {
        kind: "if",
        when,
        then: [
          { kind: "letIndex", name: t.query.name, value: row },
          { kind: "letIndex", name: t.column.name, value: column },
          ...block.body,
        ],
      },
    ]),
  ];
}
