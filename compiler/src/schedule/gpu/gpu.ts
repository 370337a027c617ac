/**
 * The grid: how loops map to workgroups and invocations. Shared by the GPU schedules. Workgroups
 * have 256 invocations, which every device has room for. How a grid of more than 65,535 workgroups
 * is spread over its dimensions is the printer's (`targets/wgsl/grid.ts`).
 */
import { addDim, type Condition, ceilDiv, type Dim, modDim, mulDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isBelow, isFirst, onlyIf } from "../../kernel/conditions.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import { emitRow } from "../../lower/rows.ts";
import { guaranteed } from "../../machine/webgpu.ts";

/** WebGPU guarantees 256 invocations a workgroup (maxComputeInvocationsPerWorkgroup). */
export const groupSize = guaranteed.maxComputeInvocationsPerWorkgroup;

/** That `at` is one of `total`, where blocks of `by` may go beyond it. */
export const within = (at: Dim, total: Dim, by: number): Condition[] =>
  modDim(total, by) === 0 ? [] : [isBelow(at, total)];

/** One invocation for each iteration of `loops`; `body` is run with their variables bound. */
export function perInvocation(loops: readonly Loop[], size: number, body: readonly Stmt[]): Stmt[] {
  const total = totalOf(loops);
  const group = makeLoop("chunk", ceilDiv(total, size));
  const local = makeLoop("local", size);
  const flat = addDim(mulDim(group.at, size), local.at);
  const work = onlyIf(within(flat, total, size), [...decode(loops, flat), ...body]);
  return nest([group], "workgroup", nest([local], "local", work));
}

/** Statements that one invocation of a workgroup runs. */
export const once = (body: readonly Stmt[]): Stmt[] =>
  nest([makeLoop("first", 1)], "local", [...body]);

/** Puts few elements into the first workgroup of a kernel. */
export function besideGrid(body: readonly Stmt[], guests: readonly LoweringContext[]): Stmt[] {
  const extra = guests.flatMap((context) => {
    const { outer } = context.group;
    const block = openBlock(context);
    emitRow(context, block);
    const flat = makeLoop("first", totalOf(outer));
    return nest([flat], "local", [...decode(outer, flat.at), ...block.body]);
  });
  const when: Condition[] = [];
  const insert = (stmts: readonly Stmt[]): Stmt[] => {
    const at = stmts.findIndex((s) => s.kind === "loop" && s.loop === "workgroup");
    const loop = stmts[at];
    if (loop?.kind !== "loop") return [{ kind: "if", when, then: extra }, ...stmts];
    when.push(isFirst(makeLoop(loop.name, loop.extent).at));
    return [...stmts.slice(0, at), { ...loop, body: insert(loop.body) }, ...stmts.slice(at + 1)];
  };
  return insert(body);
}
