/**
 * The naive kernel of a group: its loops in the group's own order, one phase after another. Knows
 * no target. Loops say what is true of them: `parallel` iterations are independent, `simd` ones but
 * for accumulators, `serial` ones in no way; schedules choose among what that allows.
 */
import { offsetOf } from "@kiln-ml/ir";
import type { Stmt } from "../kernel/kernel.ts";
import { type LoweringContext, openBlock } from "./context.ts";
import { nest, totalOf } from "./loops.ts";
import { declareAcc, emitRoot, emitRow, type Keep, rootReduces } from "./rows.ts";
import { lineOf } from "./scans.ts";

/**
 * A map or rows group. With `keep`, costly values that several phases need are kept in arrays, an
 * element an inner iteration, in double where it says so.
 */
export function naiveRows(context: LoweringContext, keep?: Pick<Keep, "double">): Stmt[] {
  const { outer, inner } = context.group;
  const index = offsetOf(
    inner.map((l) => l.extent),
    inner.map((l) => l.at),
  );
  const row = openBlock(context);
  emitRow(context, row, {
    rename: new Map(),
    inner: (body) => nest(inner, "simd", body),
    ...(keep ? { keep: { ...keep, index, size: totalOf(inner) } } : {}),
    once: (body) => [...body],
  });
  const root = openBlock(context);
  const sums = rootReduces(context);
  root.body.push(...sums.map((r) => declareAcc(context, r)));
  root.body.push(...nest(outer, sums.length > 0 ? "simd" : "parallel", row.body));
  emitRoot(context, root);
  return root.body;
}

/** A scan group: each line a step of the axis after the other. */
export function naiveScan(context: LoweringContext): Stmt[] {
  const { outer, inner } = context.group;
  const line = lineOf(context, new Map(), (step) => nest(inner, "serial", step));
  return nest(outer, "parallel", line);
}
