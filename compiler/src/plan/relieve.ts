/**
 * Bindings of kernels: how many tensors one binds, and what to take out of one that binds too many. Runs after order; what it takes
 * out starts a kernel of its own, or is materialised, when fusion runs again.
 */
import type { Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise } from "../access.ts";
import { terminals } from "../fuse/reads.ts";
import { type Fusion, isSingle } from "../fuse/state.ts";
import type { Lowered } from "../lower/lower.ts";
import type { Ordered } from "./order.ts";

/**
 * Makes a kernel that binds too many tensors bind fewer: single numbers made of several others, such as the norm of all
 * gradients, are stored by a kernel of their own; else the member that joined last is; else what runs beside it does not;
 * else any part of what is inlined is stored.
 */
export function relieve(
  k: Lowered,
  fusion: Fusion,
  barriers: Set<Tensor>,
  forced: Set<Tensor>,
): void {
  const parts = inlinedParts(k, fusion);
  const joined = lastJoined(k, barriers);
  const beside = besideOf(k).find((t) => !barriers.has(t));
  const single = parts.find((t) => isSingle(t));
  if (single) forced.add(single);
  else if (joined) barriers.add(joined);
  else if (beside) barriers.add(beside);
  else if (parts[0]) forced.add(parts[0]);
}

/** Inlined nodes that read several tensors, but no more than one kernel may, the widest first. */
function inlinedParts(k: Lowered, fusion: Fusion): Tensor[] {
  const found = new Map<Tensor, number>();
  const seen = new Set<Tensor>();
  const enter = (root: Tensor): void => {
    const left = [root];
    for (let t = left.pop(); t; t = left.pop()) {
      if (seen.has(t) || isLeaf(t) || fusion.groupOf.has(t)) continue;
      seen.add(t);
      const width = terminals(fusion, t).size;
      if ((isPointwise(t) || t.op === "concat") && width > 1 && width < fusion.limits.bindings)
        found.set(t, width);
      left.push(...[...t.operands].reverse());
    }
  };
  for (const g of [k.group, ...k.group.operandReductions.map((s) => s.group), ...k.group.guests])
    for (const m of g.members.keys()) for (const o of m.operands) enter(o);
  return [...found].sort((a, b) => b[1] - a[1]).map(([t]) => t);
}

/** What a kernel binds once updates in place share the binding of what they overwrite. */
export const bindingsOf = (k: Lowered, { inPlace }: Ordered): Set<unknown> =>
  new Set(k.tensors.map((t, i) => (t ? (inPlace.get(t) ?? t) : i)));

/** What runs beside the members of a kernel's group. */
const besideOf = ({ group }: Lowered): Tensor[] =>
  [...group.guests, ...group.operandReductions.map((s) => s.group)].flatMap((g) => [
    ...g.members.keys(),
  ]);

function lastJoined(k: Lowered, barriers: ReadonlySet<Tensor>): Tensor | undefined {
  const parts = [k.group, ...k.group.operandReductions.map((s) => s.group), ...k.group.guests];
  const joined = parts
    .flatMap((g) => [...g.members.keys()].slice(1))
    .filter((t) => !barriers.has(t));
  return joined.sort((a, b) => b.id - a.id)[0];
}
