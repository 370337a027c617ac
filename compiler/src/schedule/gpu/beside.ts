/**
 * What runs beside a kernel on a GPU, in one launch: groups of few elements in its first workgroup,
 * and whole products and scatters in workgroups of their own, after those of the kernel. Which of
 * them a workgroup runs is the same for all of its invocations, so that they may meet inside.
 */
import { addDim, type Condition, type Dim, subDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isAtLeast0, isBelow, isFirst } from "../../kernel/conditions.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import { accessesIn } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { emitRow } from "../../lower/rows.ts";
import { gpuContraction } from "./contraction.ts";
import { gpuScatter } from "./scatter.ts";

export function besideGrid(main: Scheduled, guests: readonly LoweringContext[]): Scheduled {
  const small = guests.filter(({ group }) => group.kind === "map");
  const whole = guests.filter(({ group }) => group.kind !== "map");
  const parts = whole.map((context) =>
    context.group.kind === "scatter" ? gpuScatter(context) : gpuContraction(context, true),
  );
  const all = sideBySide([main, ...parts]);
  if (!all) return { ...main, apart: whole.map(({ group }) => group.anchor!) };
  return small.length > 0 ? { ...all, body: inFirst(all.body, small) } : all;
}

/** Kernels one after the other in one grid; undefined where their workgroups differ. */
function sideBySide(parts: readonly Scheduled[]): Scheduled | undefined {
  const [main] = parts as [Scheduled];
  const refused = parts.flatMap((p) => p.apart ?? []);
  if (refused.length > 0) return { ...main, apart: refused };
  if (parts.length === 1) return main;
  if (parts.some((p) => p.workgroupSize !== main.workgroupSize)) return undefined;
  const grids = parts.map((p) => gridOf(p.body));
  const counts = grids.map(({ loops }) => totalOf(loops));
  const before = counts.map((_, i) => counts.slice(0, i).reduce<Dim>(addDim, 0));
  const side = makeLoop("side", counts.reduce<Dim>(addDim, 0));
  const body = grids.map(({ loops, body }, i): Stmt => {
    const at = subDim(side.at, before[i]!);
    const when = [...(i > 0 ? [isAtLeast0(at)] : []), isBelow(at, counts[i]!)];
    return { kind: "if", when, then: [...decode(loops, at), ...body] };
  });
  return {
    body: nest([side], "workgroup", body),
    workgroupSize: main.workgroupSize,
    vectorised: wideIn(parts),
  };
}

/** The loops over workgroups around a kernel's statements. */
function gridOf(body: readonly Stmt[]): { loops: Loop[]; body: readonly Stmt[] } {
  const [only, more] = body;
  if (only?.kind !== "loop" || only.loop !== "workgroup" || more) return { loops: [], body };
  const inner = gridOf(only.body);
  return { ...inner, loops: [makeLoop(only.name, only.extent), ...inner.loops] };
}

/** Parameters that every part that has them takes four elements of at a time. */
function wideIn(parts: readonly Scheduled[]): ReadonlySet<string> {
  const wide = new Set(parts.flatMap((p) => [...(p.vectorised ?? [])]));
  for (const { body, vectorised } of parts)
    for (const name of accessesIn(body).keys()) if (!vectorised?.has(name)) wide.delete(name);
  return wide;
}

/** Puts few elements into the first workgroup of a kernel. */
function inFirst(body: readonly Stmt[], guests: readonly LoweringContext[]): Stmt[] {
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
