/**
 * The key under which a contraction's choice is kept: what decides how fast each way of computing
 * it is, and nothing of the program around it. Extents with symbols are written with the symbols'
 * names. A key that says too much would make a tuner time the same product again in every program;
 * one that says too little would hand one product's choice to another.
 */
import { attrKey, printDim } from "@kiln-ml/ir";
import type { Loop } from "../../fuse/group.ts";
import { walkExpr } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { totalOf } from "../../lower/loops.ts";
import type { Which } from "./lines.ts";
import { matrixUnitOf } from "./matrix-unit.ts";
import type { AccessMode } from "./tile.ts";
import { hasNativeHalf } from "./workgroup-limits.ts";

export function contractionKey(
  context: LoweringContext,
  rows: Which,
  access: { readonly rows: AccessMode; readonly columns: AccessMode },
): string {
  const { m, n, k, batch } = context.group.contraction!;
  const { anchor, members, operandReductions } = context.group;
  const total = (loops: readonly Loop[]): string => printDim(totalOf(loops));
  const stored = [...members.keys()].filter((t) => context.stored.has(t));
  const conv = anchor!.op === "convolution";
  return [
    conv ? "conv" : "matmul",
    anchor!.dtype,
    `m=${total(m)}`,
    `n=${total(n)}`,
    `k=${conv ? k.map((l) => printDim(l.extent)).join("x") : total(k)}`,
    `batch=${total(batch)}`,
    `a=${operandKey(context, "a", rows === "a" ? access.rows : access.columns)}`,
    `b=${operandKey(context, "b", rows === "a" ? access.columns : access.rows)}`,
    `rows=${rows}`,
    ...(members.size > 1 ? [`after=${members.size - 1}`] : []),
    ...(stored.length > 1 ? [`stores=${stored.length}`] : []),
    ...(operandReductions.length > 0
      ? [`sums=${operandReductions.map((s) => s.operand).join("")}`]
      : []),
    ...(conv ? [attrKey(anchor!.attrs)] : []),
    ...unitKey(context),
  ].join(" ");
}

/** The matrix unit that could take the operands. */
function unitKey(context: LoweringContext): string[] {
  const unit = matrixUnitOf(context.features);
  if (!unit || !hasNativeHalf(context, context.group.contraction!.a.operand.dtype)) return [];
  return [`unit=${unit.m}x${unit.n}x${unit.k} of ${unit.size}`];
}

/**
 * Which way its memory runs, how many elements are brought at a time, and what is computed on the
 * way.
 */
function operandKey(
  context: LoweringContext,
  which: Which,
  { alongK, single }: AccessMode,
): string {
  const { operand, coords, when } = context.group.contraction![which];
  const { dtype } = context.group.anchor!;
  let [loads, calls] = [0, 0];
  let stored = operand.dtype;
  walkExpr(openBlock(context).at(operand, coords), {
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
