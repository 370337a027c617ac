/**
 * Sums of lines by weights that are made anew, tile by tile, of products of few terms and of what
 * is known of rows and lines: the gradients of attention. A workgroup takes a tile of rows through
 * tiles of lines, and never stores a weight. The sums run in the order of the lines.
 *
 * Why make weights twice: bytes bound their storing, four times over in a training step. Gradients
 * have more products between barriers than the forward kernel and want steps of 32 terms for heads
 * of 64 (4.30 ms; 16 take 4.56, 64 take 5.16), and at most 128 accumulators (256: 5.92).
 */
import { ceilDiv } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { decode, nest } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { attention as sizes } from "../../machine/products.ts";
import { vectorisedParams } from "../vector.ts";
import { blocksOf, product, weigh } from "./attention-blocks.ts";
import { storeSums } from "./attention-store.ts";
import {
  acc,
  columnsEach,
  each,
  f32,
  firstLine,
  firstRow,
  gridOf,
  linesEach,
  linesPerTile,
  lineTilesOf,
  rowsUpTo,
  tileOf,
} from "./attention-tile.ts";
import { weightName, weights } from "./attention-weights.ts";

export function gpuWeighted(context: LoweringContext): Scheduled {
  const { attention } = context.group;
  // Longer steps have fewer barriers, but leave memory for fewer workgroups at a time: they pay for
  // heads of 64 alone.
  const columns = columnsEach(attention!.sums[0]!.columns);
  const deepest = columns === 8 ? sizes.deepestOf64 : sizes.deepestOfGradient;
  const t = tileOf(context, rowsOf(context), deepest);
  const b = blocksOf(t);
  const lineTile = makeLoop("lineTile", ceilDiv(t.line.extent, linesPerTile));
  const { start, end } = lineTilesOf(t);
  const sums = attention!.sums;
  const body: Stmt[] = [
    { kind: "letInvocation", name: t.me.name },
    ...decode(t.batch, t.batchAt.at),
    { kind: "letIndex", name: t.row0.name, value: firstRow(t) },
    b.array,
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
        ...attention!.made.flatMap((p, i) => product(t, b, p, productName(i), lineTile.at)),
        ...weights(t, (r, c) => attention!.made.map((p, i) => [p, `${productName(i)}${r}_${c}`])),
        ...sums.flatMap((_, s) => weigh(t, b, s, lineTile.at, (r, c) => f32(weightName(s, r, c)))),
      ],
    },
    ...storeSums(t, (s, r, c) => f32(sumName(s, r, c))),
  ];
  return {
    body: nest(gridOf(t), "workgroup", body),
    workgroupSize: t.me.extent as number,
    vectorised: vectorisedParams(body, t.lane.name),
  };
}

function rowsOf(context: LoweringContext): number {
  const { made, sums } = context.group.attention!;
  const each = made.length * linesEach + sums.length * columnsEach(sums[0]!.columns);
  let most = 4;
  while (most > 1 && most * each > sizes.mostAccumulators) most /= 2;
  return rowsUpTo(most, context);
}

const sumName = (s: number, r: number, c: number): string => `o${s}_${r}_${c}`;
const productName = (i: number): string => `p${i}_`;
