/**
 * A contraction on a GPU: whether in tiles or, with few lines, otherwise; which operand's lines are the rows of a tile and which
 * its columns, and how large tiles are. Columns are the direction in which the results lie in memory.
 */
import { addDim, type Dim, offsetOf } from "@kiln-ml/ir";
import type { Loop } from "../fuse/group.ts";
import type { Job } from "../lower/job.ts";
import { totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { contractionKey } from "./gpu-key.ts";
import type { Which } from "./gpu-lines.ts";
import { gpuMatrix } from "./gpu-matrix.ts";
import { hasNativeHalf, roomOf, tileBytes } from "./gpu-room.ts";
import { gpuSkinny, otherSkinny } from "./gpu-skinny.ts";
import { gpuTile, mannersOf } from "./gpu-tile.ts";
import { cutsOf, nameOfCut, trial } from "./gpu-tiling.ts";
import { strideOf } from "./stride.ts";

/** Choices of no tiles of ours. */
const [few, units] = ["few lines", "matrix units"];

export function gpuContraction(given: Job): Scheduled {
  const { choices } = given;
  const skinny = gpuSkinny(given);
  if (skinny && !choices) return skinny;
  const job = asItLies(given);
  const c = job.group.contraction!;
  const rows = rowsOf(job);
  const matrix = gpuMatrix(job, rows);
  if (matrix && !choices) return matrix;
  const [m, n] = (rows === "a" ? [c.m, c.n] : [c.n, c.m]).map(totalOf) as [Dim, Dim];
  const element = tileBytes(job, c.a.operand.dtype);
  const { anchor, sideSums } = job.group;
  // The steps of a convolution's window depend on their depth, which is not the same in every part.
  const mixed = anchor!.op !== "convolution" && sideSums.length === 0;
  const capacity = { ...roomOf(job), element, mixed };
  const manners = mannersOf(job, trial, rows);
  const { guarded } = manners;
  const singles = { rows: manners.rows.single, columns: manners.columns.single, guarded };
  const cuts = cutsOf([m, n, totalOf(c.batch)], capacity, singles);
  if (!choices) return gpuTile(job, cuts[0]!, rows);
  const tiles = cuts.map((t) => [nameOfCut(t), () => gpuTile(job, t, rows)] as const);
  const ways = new Map<string, () => Scheduled>([
    ...(skinny ? [[few, () => skinny] as const] : []),
    ...(matrix ? [[units, () => matrix] as const] : []),
    ...(skinny ? otherSkinny(job) : []),
    ...tiles,
  ]);
  const choice = choices.among(contractionKey(job, rows, manners), [...ways.keys()]);
  return { ...ways.get(choice.chosen)!(), choice };
}

/** A product in f32 of two operands that are f16 made f32: they are brought as f16, and the sum is f32 all the same. */
function asItLies(job: Job): Job {
  const { contraction, sideSums } = job.group;
  const c = contraction!;
  const [a, b] = [c.a, c.b].map(({ operand: t }) =>
    t.op === "convert" && t.dtype === "f32" && !job.outside(t) ? t.operands[0] : undefined,
  );
  if (!a || !b || sideSums.length > 0) return job;
  if (!hasNativeHalf(job, a.dtype) || !hasNativeHalf(job, b.dtype)) return job;
  const narrow = { ...c, a: { ...c.a, operand: a }, b: { ...c.b, operand: b } };
  return { ...job, group: { ...job.group, contraction: narrow } };
}

/** The operand along whose lines fewer stores step by one element. */
function rowsOf(job: Job): Which {
  const { m, n } = job.group.contraction!;
  const along = (loops: readonly Loop[]): number => {
    const last = loops.filter((l) => l.extent !== 1).at(-1);
    if (!last) return 0;
    return [...job.group.members].filter(([node, { coords }]) => {
      if (!job.stored.has(node)) return false;
      const index = addDim(offsetOf(node.shape, coords), job.storage(node).offset);
      return strideOf(index, last.name) === 1;
    }).length;
  };
  return along(m) > along(n) ? "b" : "a";
}
