/**
 * Lowers scan groups: what is kept along the axis, and the statements of one step. A step takes an
 * element into every accumulator and stores what is known there; an exclusive scan takes its
 * element in after that.
 */
import { opRecord, scanAttrs, type Tensor } from "@kiln-ml/ir";
import { isScan } from "../access.ts";
import { ref } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import {
  isReduceOp,
  type LoweringContext,
  membersOf,
  openBlock,
  reducedValue,
  storeMember,
} from "./context.ts";
import { nest } from "./loops.ts";
import { accName, declareAcc } from "./rows.ts";
import type { Values } from "./value.ts";

/** The members with an accumulator: scans, and reductions that run along. */
export const runningOf = (context: LoweringContext): Tensor[] =>
  membersOf(context.group)
    .map(([t]) => t)
    .filter((t) => isScan(t) || isReduceOp(t));

/** Appends one step along the axis to `block`. */
function emitStep(context: LoweringContext, block: Values): void {
  const { group } = context;
  const vars = group.inner.map((l) => l.at);
  const stores: Stmt[] = [];
  const later: Stmt[] = [];
  for (const [node, p] of membersOf(group)) {
    const name = accName(context, node);
    const { reducer } = opRecord(node.op);
    if (isScan(node)) {
      const value = block.at(node.operands[0]!, p.coords);
      if (scanAttrs(node).exclusive) {
        // Read before the step's stores, which may overwrite it.
        block.body.push({ kind: "let", name: `${name}Next`, value });
        later.push(take(name, reducer!, ref(`${name}Next`, value.dtype)));
      } else block.body.push(take(name, reducer!, value));
      block.bind(node, ref(name, node.dtype));
    } else if (isReduceOp(node)) {
      const position = reducer!.startsWith("arg") ? { position: vars[0]! } : {};
      const value = reducedValue(block, node, group.outerSpace.coords, vars);
      block.body.push({ ...take(name, reducer!, value), ...position });
    }
    if (p.level === "full" && context.stored.has(node))
      stores.push(storeMember(context, block, node));
  }
  block.body.push(...stores, ...later);
}

type Accumulate = Extract<Stmt, { kind: "accumulate" }>;

const take = (name: string, reducer: Accumulate["reducer"], value: Expr): Accumulate => ({
  kind: "accumulate",
  name,
  reducer,
  value,
});

/** Appends the stores that follow the steps: reductions and what is made of them. */
function emitAfter(context: LoweringContext, block: Values): void {
  for (const node of runningOf(context))
    if (isReduceOp(node)) block.bind(node, ref(accName(context, node), node.dtype));
  const tail: Stmt[] = [];
  for (const [node, p] of membersOf(context.group))
    if (p.level === "outer" && context.stored.has(node))
      tail.push(storeMember(context, block, node));
  block.body.push(...tail);
}

/** A whole line: accumulators, the steps one after the other, and what follows. */
export function lineOf(context: LoweringContext): Stmt[] {
  const block = openBlock(context);
  block.body.push(...runningOf(context).map((r) => declareAcc(context, r)));
  const step = block.inner();
  emitStep(context, step);
  block.body.push(...nest(context.group.inner, "serial", step.body));
  emitAfter(context, block);
  return block.body;
}
