/**
 * The key under which a contraction's choice is kept: what decides how fast each way of computing it is, and nothing of the
 * program around it. Extents with symbols are written with the symbols' names.
 */
import { attrKey, printDim } from "@kiln-ml/ir";
import type { Loop } from "../fuse/group.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { totalOf } from "../lower/loops.ts";
import { walkExpr } from "../lower/walk.ts";
import type { Which } from "./gpu-lines.ts";
import { unitOf } from "./gpu-matrix-unit.ts";
import { hasNativeHalf } from "./gpu-room.ts";
import type { Manner } from "./gpu-tile.ts";

export function contractionKey(
  job: Job,
  rows: Which,
  manners: { readonly rows: Manner; readonly columns: Manner },
): string {
  const { m, n, k, batch } = job.group.contraction!;
  const { anchor, members, sideSums } = job.group;
  const total = (loops: readonly Loop[]): string => printDim(totalOf(loops));
  const stored = [...members.keys()].filter((t) => job.stored.has(t));
  const conv = anchor!.op === "convolution";
  return [
    conv ? "conv" : "matmul",
    anchor!.dtype,
    `m=${total(m)}`,
    `n=${total(n)}`,
    `k=${conv ? k.map((l) => printDim(l.extent)).join("x") : total(k)}`,
    `batch=${total(batch)}`,
    `a=${operandKey(job, "a", rows === "a" ? manners.rows : manners.columns)}`,
    `b=${operandKey(job, "b", rows === "a" ? manners.columns : manners.rows)}`,
    `rows=${rows}`,
    ...(members.size > 1 ? [`after=${members.size - 1}`] : []),
    ...(stored.length > 1 ? [`stores=${stored.length}`] : []),
    ...(sideSums.length > 0 ? [`sums=${sideSums.map((s) => s.side).join("")}`] : []),
    ...(conv ? [attrKey(anchor!.attrs)] : []),
    ...unitKey(job),
  ].join(" ");
}

/** The matrix unit that could take the operands. */
function unitKey(job: Job): string[] {
  const unit = unitOf(job.features);
  if (!unit || !hasNativeHalf(job, job.group.contraction!.a.operand.dtype)) return [];
  return [`unit=${unit.m}x${unit.n}x${unit.k} of ${unit.size}`];
}

/** Which way its memory runs, how many elements are brought at a time, and what is computed on the way. */
function operandKey(job: Job, which: Which, { alongK, single }: Manner): string {
  const { operand, coords, when } = job.group.contraction![which];
  const { dtype } = job.group.anchor!;
  let [loads, calls] = [0, 0];
  let stored = operand.dtype;
  walkExpr(openBlock(job).at(operand, coords), {
    expr: (e) => {
      if (e.kind === "load") {
        loads++;
        stored = e.dtype;
      }
      if (e.kind === "call") calls++;
    },
  });
  const way = `${alongK ? "k" : "lines"}${single ? 1 : 4}`;
  const kept = [...new Set([operand.dtype, stored])].filter((d) => d !== dtype).map((d) => `:${d}`);
  const before = loads === 1 && calls === 0 ? "" : `:${loads}/${calls}`;
  return `${way}${kept.join("")}${before}${when.length > 0 ? ":padded" : ""}`;
}
