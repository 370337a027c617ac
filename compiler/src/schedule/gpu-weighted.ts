/**
 * Sums of lines by weights that are made anew, tile by tile, of products of few terms and of what is known of rows and lines: the
 * gradients of attention. A workgroup takes a tile of rows through tiles of lines, and never stores a weight. The sums run in
 * the order of the lines.
 */
import { addDim, ceilDiv, type Dim, floorDiv, minDim, mulDim, type Tensor } from "@kiln-ml/ir";
import { accesses } from "../access.ts";
import { makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { decode, nest } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import type { Values } from "../lower/value.ts";
import { storeSums } from "./gpu-attention-store.ts";
import {
  acc,
  blocksOf,
  columnsEach,
  each,
  f32,
  firstLine,
  firstRow,
  linesEach,
  linesPerTile,
  placeOf,
  product,
  type Tile,
  tileOf,
  weigh,
  within,
} from "./gpu-attention-tile.ts";

export function gpuWeighted(job: Job): Scheduled {
  const { attention } = job.group;
  const t = tileOf(job, rowsOf(job));
  const b = blocksOf(t);
  const lineTile = makeLoop("lineTile", ceilDiv(t.line.extent, linesPerTile));
  const { start, end } = rangeOf(t, lineTile.extent);
  const sums = attention!.sums;
  const sumName = (s: number, r: number, c: number): string => `o${s}_${r}_${c}`;
  const body: Stmt[] = [
    { kind: "letInvocation", name: t.me.name },
    ...decode(t.batch, t.batchAt.at),
    { kind: "letIndex", name: t.row0.name, value: firstRow(t) },
    ...b.arrays,
    ...sums.flatMap((_, s) =>
      each(t.rows, (r) => each(t.columns, (c) => [acc(sumName(s, r, c), 0)])),
    ),
    {
      kind: "loop",
      name: lineTile.name,
      start,
      extent: end,
      loop: "serial",
      body: [
        { kind: "letIndex", name: t.line0.name, value: firstLine(t, lineTile.at) },
        ...attention!.made.flatMap((p, i) => product(t, b, p, productName(i))),
        ...weights(t),
        ...sums.flatMap((_, s) => weigh(t, b, s, lineTile.at, (r, c) => f32(weightName(s, r, c)))),
      ],
    },
    ...storeSums(t, (s, r, c) => f32(sumName(s, r, c))),
  ];
  return {
    body: nest([t.batchAt, t.tile], "workgroup", body),
    workgroupSize: t.me.extent as number,
  };
}

/** Accumulators of an invocation that leave it registers for the rest. */
const mostAccumulators = 128;
/** Workgroups that keep a device busy. */
const busy = 192;

function rowsOf({ group }: Job): number {
  const { made, sums } = group.attention!;
  const [row] = group.outer.slice(-2);
  const batch = extentGuess(group.outer.slice(0, -2));
  const each = made.length * linesEach + sums.length * columnsEach(sums[0]!.columns);
  let rows = 8;
  while (rows > 1 && rows * each > mostAccumulators) rows /= 2;
  while (rows > 1 && batch * Math.ceil(extentGuess([row!]) / (16 * rows)) < busy) rows /= 2;
  return rows;
}

/** The tiles of lines that count: under a causal mask keys up to the last query of a tile, or queries from its first key on. */
function rangeOf(t: Tile, all: Dim): { start: Dim; end: Dim } {
  const { causal, sums, space } = t.attention;
  if (!causal) return { start: 0, end: all };
  if (sums[0]!.along === space.length - 1) {
    const last = mulDim(addDim(t.tile.at, 1), t.perTile);
    return { start: 0, end: minDim(all, ceilDiv(last, linesPerTile)) };
  }
  return { start: floorDiv(mulDim(t.tile.at, t.perTile), linesPerTile), end: all };
}

const productName = (i: number): string => `p${i}_`;
const weightName = (s: number, r: number, c: number): string => `w${s}_${r}_${c}`;

/** The program's weights of this invocation's rows and lines, by their products; 0 past the last line. */
function weights(t: Tile): Stmt[] {
  const { made, sums } = t.attention;
  const common = openBlock(t.job);
  const ends = endsOf(t);
  const all = Array.from({ length: t.rows }, (_, r) =>
    Array.from({ length: linesEach }, (_, c) => placeOf(t, r, c)),
  );
  for (const at of all.flat()) for (const end of ends) known(common, end, at);
  const body = each(t.rows, (r) =>
    each(linesEach, (c): Stmt[] => {
      const at = all[r]![c]!;
      const values = common.inner();
      for (const [i, p] of made.entries()) values.bind(p, at, f32(`${productName(i)}${r}_${c}`));
      const lets = sums.map((s, i): Stmt => {
        const value = within(t, c, values.at(s.weights, at), 0);
        return { kind: "let", name: weightName(i, r, c), value };
      });
      return [...values.body, ...lets];
    }),
  );
  return [...common.body, ...body];
}

/** What the weights take from fewer axes than their own, such as totals of rows: the same for a row, or for a line. */
function endsOf(t: Tile): Tensor[] {
  const found = new Set<Tensor>();
  const seen = new Set<Tensor>(t.attention.made);
  const enter = (n: Tensor): void => {
    if (seen.has(n) || t.job.outside(n)) return;
    seen.add(n);
    if (n.op === "broadcastInDim") found.add(n);
    else n.operands.forEach(enter);
  };
  for (const s of t.attention.sums) enter(s.weights);
  return [...found];
}

function known(values: Values, end: Tensor, at: readonly Dim[]): void {
  for (const { operand, coords } of accesses(end, at)) values.at(operand, coords);
}
