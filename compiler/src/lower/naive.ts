/**
 * The naive kernel of a group: its loops in the group's own order, one phase after another. Knows
 * no target. Loops say what is true of them: `parallel` iterations are independent, `simd` ones but
 * for accumulators, `serial` ones in no way; schedules choose among what that allows.
 */
import { isFloat, substitute, type Tensor } from "@kiln-ml/ir";
import { type ContractionOperand, type Loop, makeLoop } from "../fuse/group.ts";
import { call, constant, ref } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";
import { type LoweringContext, openBlock, storeMembers } from "./context.ts";
import { nest, renamed } from "./loops.ts";
import { declareAcc, emitRoot, emitRow, rootReduces } from "./rows.ts";
import { lineOf } from "./scans.ts";
import { choose, inDtype, type Values } from "./value.ts";

/** A map or rows group. */
export function naiveRows(context: LoweringContext): Stmt[] {
  const row = openBlock(context);
  emitRow(context, row);
  const root = openBlock(context);
  const sums = rootReduces(context);
  root.body.push(...sums.map((r) => declareAcc(context, r)));
  root.body.push(...nest(context.group.outer, sums.length > 0 ? "simd" : "parallel", row.body));
  emitRoot(context, root);
  return root.body;
}

/** A scan group: each line a step of the axis after the other. */
export const naiveScan = (context: LoweringContext): Stmt[] =>
  nest(context.group.outer, "parallel", lineOf(context));

/** The loops of a contraction's rows, columns or depth; one that runs once where there is none. */
export const loopsAlong = (context: LoweringContext, side: "m" | "n" | "k"): readonly Loop[] => {
  const loops = context.group.contraction![side];
  return loops.length > 0 ? loops : [makeLoop(`${side}0`, 1)];
};

/**
 * A contraction: for each element of the result the products of `a` and `b`, added up along depth
 * in `c`, and what is stored of the sum, which is rounded once.
 */
export function naiveContraction(context: LoweringContext): Stmt[] {
  const { batch, a, b } = context.group.contraction!;
  const { dtype } = a.operand;
  const term = openBlock(context);
  const lets = [a, b].map((o, i): Stmt => {
    return { kind: "let", name: "ab"[i]!, value: elementOf(term, o) };
  });
  const sum: Expr = ref("c", dtype);
  const rounded = isFloat(dtype) ? { ...call("convert", dtype, sum), stored: true as const } : sum;
  const lines = [...batch, ...loopsAlong(context, "m"), ...loopsAlong(context, "n")];
  return nest(lines, "parallel", [
    { kind: "acc", name: "c", dtype, init: constant(dtype, 0), widened: true },
    ...nest(loopsAlong(context, "k"), "serial", [
      ...term.body,
      ...lets,
      { kind: "fma", name: "c", a: ref("a", dtype), b: ref("b", dtype) },
    ]),
    ...epilogueOf(context, rounded),
  ]);
}

/** The element of an operand at the contraction's loops, which may be renamed. */
export function elementOf(
  block: Values,
  { operand, coords, when }: ContractionOperand,
  rename: Rename = new Map(),
): Expr {
  const guard = when.map((w) => ({ ...w, value: substitute(w.value, rename) }));
  const value = block.at(operand, renamed(coords, rename), guard);
  return choose(guard, value, constant(value.dtype, 0));
}

/** The products of a contraction's group: its anchor first. */
export const productsOf = ({ group }: LoweringContext): readonly Tensor[] => [
  group.anchor!,
  ...group.siblings.map((s) => s.anchor),
];

/** What a contraction stores for an element of its products, given the sum of each. */
export function epilogueOf(context: LoweringContext, ...sums: readonly Expr[]): Stmt[] {
  const block = openBlock(context);
  for (const [i, t] of productsOf(context).entries()) block.bind(t, inDtype(sums[i]!, t.dtype));
  storeMembers(context, block, new Map());
  return block.body;
}
