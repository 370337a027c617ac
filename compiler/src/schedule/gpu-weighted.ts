/**
 * Sums of lines by weights that are made anew, tile by tile, of products of few terms and of what is known of rows and lines: the
 * gradients of attention. A workgroup takes a tile of rows through tiles of lines, and never stores a weight. The sums run in
 * the order of the lines.
 */
import { addDim, ceilDiv, type Dim, floorDiv, minDim, mulDim } from "@kiln-ml/ir";
import { makeLoop } from "../fuse/group.ts";
import { extentGuess } from "../fuse/state.ts";
import type { Stmt } from "../kernel/kernel.ts";
import type { Job } from "../lower/job.ts";
import { decode, nest } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { blocksOf, product, weigh } from "./gpu-attention-blocks.ts";
import { storeSums } from "./gpu-attention-store.ts";
import {
  acc,
  columnsEach,
  each,
  f32,
  firstLine,
  firstRow,
  linesEach,
  linesPerTile,
  type Tile,
  tileOf,
} from "./gpu-attention-tile.ts";
import { weightName, weights } from "./gpu-attention-weights.ts";

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
        ...weights(t, (r, c) => attention!.made.map((p, i) => [p, `${productName(i)}${r}_${c}`])),
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
