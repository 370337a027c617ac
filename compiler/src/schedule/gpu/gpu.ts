/**
 * The grid: how loops map to workgroups and invocations. Shared by the GPU schedules. Workgroups
 * have 256 invocations, which every device has room for. How a grid of more than 65,535 workgroups
 * is spread over its dimensions is the printer's (`targets/wgsl/grid.ts`).
 */
import { addDim, type Condition, ceilDiv, type Dim, modDim, mulDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isBelow, onlyIf } from "../../kernel/conditions.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
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
