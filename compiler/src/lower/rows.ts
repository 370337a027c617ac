/**
 * Lowers map and rows groups: the statements of one outer iteration, in phases. A phase is one run
 * of the inner loops; it holds the reductions that need only earlier phases, and the stores of what
 * is ready by then. The schedules put the loops around it.
 */
import { type Dim, offsetOf, opRecord, type Tensor, topologicalOrder } from "@kiln-ml/ir";
import { isScan } from "../access.ts";
import type { Loop } from "../fuse/group.ts";
import { ref } from "../kernel/expr.ts";
import type { Of, Stmt } from "../kernel/kernel.ts";
import {
  identityOf,
  isReduceOp,
  type LoweringContext,
  membersOf,
  reducedValue,
  storeMember,
} from "./context.ts";
import { nest } from "./loops.ts";
import type { Values } from "./value.ts";

interface Phase {
  readonly reduces: Tensor[];
  readonly stores: Tensor[];
}

/**
 * The reductions of a group by phase, and its stored inner-level members by the phase that stores
 * them.
 */
export function phasesOf(context: LoweringContext): Phase[] {
  const depth = depthsOf(context);
  const depthOf = (t: Tensor): number => depth.get(t)!;
  const phases: Phase[] = [];
  const phase = (i: number): Phase => {
    while (phases.length <= i) phases.push({ reduces: [], stores: [] });
    return phases[i]!;
  };
  for (const [node, p] of membersOf(context.group))
    if (isReduceOp(node) && p.level === "outer") phase(depthOf(node) - 1).reduces.push(node);
    else if (p.level === "full" && context.stored.has(node)) phase(depthOf(node)).stores.push(node);
  return phases;
}

/** Of what a group computes, the reductions that have to be known before, one after the other. */
function depthsOf({ group, outside }: LoweringContext): Map<Tensor, number> {
  const depth = new Map<Tensor, number>();
  for (const t of topologicalOrder([...group.members.keys()], outside)) {
    let below = 0;
    if (!outside(t)) for (const o of t.operands) below = Math.max(below, depth.get(o)!);
    const reduces = isReduceOp(t) && group.members.get(t)?.level === "outer";
    depth.set(t, reduces ? below + 1 : below);
  }
  return depth;
}

export const accName = (context: LoweringContext, node: Tensor): string => {
  const running = membersOf(context.group)
    .map(([t]) => t)
    .filter((t) => isReduceOp(t) || isScan(t));
  return `${opRecord(node.op).reducer}${running.indexOf(node)}`;
};

const extentsOf = (loops: readonly Loop[]): Dim[] => loops.map((l) => l.extent);

/** Declares the accumulator of a reduction or scan. */
export const declareAcc = (context: LoweringContext, node: Tensor): Of<"acc"> => ({
  kind: "acc",
  name: accName(context, node),
  dtype: node.dtype,
  init: identityOf(node),
  widened: opRecord(node.op).reducer === "sum" || opRecord(node.op).reducer === "prod",
});

function accumulate(
  context: LoweringContext,
  values: Values,
  node: Tensor,
  coords: Dim[],
  vars: Dim[],
): Stmt {
  const value = reducedValue(values, node, coords, vars);
  const reducer = opRecord(node.op).reducer!;
  const extents = extentsOf(
    context.group.members.get(node)!.level === "root" ? context.group.outer : context.group.inner,
  );
  const position = reducer.startsWith("arg") ? { position: offsetOf(extents, vars) } : {};
  return { kind: "accumulate", name: accName(context, node), reducer, value, ...position };
}

/** Appends the statements of one outer iteration to `block`: phases, then what is stored once. */
export function emitRow(context: LoweringContext, block: Values): void {
  const { group } = context;
  const vars = group.inner.map((l) => l.at);
  const outer = [...group.outerSpace.coords];
  for (const { reduces, stores } of phasesOf(context)) {
    if (reduces.length + stores.length === 0) continue;
    block.body.push(...reduces.map((r) => declareAcc(context, r)));
    const inner = block.inner();
    for (const r of reduces) inner.body.push(accumulate(context, inner, r, outer, vars));
    for (const s of stores) inner.body.push(storeMember(context, inner, s));
    block.body.push(...nest(group.inner, "simd", inner.body));
    for (const r of reduces) block.bind(r, ref(accName(context, r), r.dtype));
  }
  for (const [node, p] of membersOf(group))
    if (p.level === "outer" && context.stored.has(node))
      block.body.push(storeMember(context, block, node));
  for (const r of rootReduces(context)) block.body.push(accumulate(context, block, r, [], outer));
}

/** Reductions over the outer loops. */
export const rootReduces = (context: LoweringContext): Tensor[] =>
  membersOf(context.group)
    .filter(([t, p]) => isReduceOp(t) && p.level === "root")
    .map(([t]) => t);

/** Appends the stores that follow the outer loops. */
export function emitRoot(context: LoweringContext, block: Values): void {
  for (const r of rootReduces(context)) block.bind(r, ref(accName(context, r), r.dtype));
  for (const [node, p] of membersOf(context.group))
    if (p.level === "root" && context.stored.has(node))
      block.body.push(storeMember(context, block, node));
}
