/**
 * Bindings of kernels: how many tensors one binds, and what to take out of one that binds too many.
 * Runs after order; what it takes out starts a kernel of its own, or is materialised, when fusion
 * runs again.
 */
import type { Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise } from "../access.ts";
import type { Group } from "../fuse/group.ts";
import { terminals } from "../fuse/reads.ts";
import { type Fusion, isSingle, type Relief } from "../fuse/state.ts";
import type { Lowered } from "../lower/lower.ts";
import { kernels } from "../sizes.ts";
import { bindingsIn, boundWithout, type Over } from "./count-bindings.ts";
import type { Ordered } from "./order.ts";

/** What has been taken out so far. */
export class Reliefs implements Relief {
  readonly barriers = new Set<Tensor>();
  readonly apart = new Set<Tensor>();
  readonly forced = new Set<Tensor>();
  readonly cuts = new Set<Tensor>();

  private get size(): number {
    return this.barriers.size + this.apart.size + this.forced.size + this.cuts.size;
  }

  /** Parts what no schedule computes together; false if there is none. */
  part(anchors: readonly Tensor[]): boolean {
    for (const t of anchors) this.apart.add(t);
    return anchors.length > 0;
  }

  /** Relieves each of these; false if there was nothing to do. */
  addAll(over: Over, fusion: Fusion, stored: ReadonlySet<Tensor>): boolean {
    const before = this.size;
    for (const g of over.groups.keys()) this.add(g, fusion, boundWithout(fusion, stored, g, over));
    return this.size > before;
  }

  /**
   * Makes a kernel that binds too many tensors bind fewer: single numbers made of several others,
   * such as the norm of all gradients, are stored by a kernel of their own; else a long one is cut
   * in the middle; else the members that joined last are taken out; else what runs beside it; else
   * any part of what is inlined is stored. Adds nothing where nothing is left to do.
   */
  private add(group: Group, fusion: Fusion, bound: Bound): void {
    const parts = inlinedParts(group, fusion);
    const middle = middleOf(group, this.cuts);
    const joined = lastJoined(group, this.barriers);
    const beside = besides(group).filter(
      (g) => ![...g.members.keys()].some((t) => this.apart.has(t)),
    );
    const single = parts.find((t) => isSingle(t));
    const other = group.beside.find((t) => !this.apart.has(t));
    if (other) this.apart.add(other);
    else if (single) this.forced.add(single);
    else if (middle) this.cuts.add(middle);
    else if (joined.length) this.takeOut(joined, fusion.limits.bindings, bound);
    else if (beside.length) this.partFrom(beside, fusion.limits.bindings, bound);
    else if (parts[0]) this.forced.add(parts[0]);
  }

  /** As `takeOut`, of groups beside the kernel's own: each binds a tensor or more. */
  private partFrom(beside: readonly Group[], most: number, bound: Bound): void {
    const taken = new Set<Tensor>();
    const excess = Math.max(1, (bound(taken) ?? 0) - most);
    for (const { members } of beside.slice(0, excess)) {
      for (const t of members.keys()) taken.add(t);
      this.apart.add([...members.keys()][0]!);
      if ((bound(taken) ?? 0) <= most) return;
    }
  }

  /**
   * At most as many as the kernel has too many: each time that fusion runs again costs as much as
   * the first, and what a count from above takes too many is a launch each.
   */
  private takeOut(joined: readonly Tensor[], most: number, bound: Bound): void {
    const taken = new Set<Tensor>();
    let now = bound(taken);
    for (const t of joined) {
      const then = bound(new Set([...taken, t]));
      if (then >= now) continue;
      taken.add(t);
      now = then;
      if (now <= most) break;
    }
    // Where none does alone, several may.
    const several = joined.slice(0, Math.max(1, now - most));
    for (const t of taken.size > 0 ? taken : several) this.barriers.add(t);
  }
}

/** How many tensors a kernel binds without these members. */
type Bound = (taken: ReadonlySet<Tensor>) => number;

/** The pointwise member in the middle of many. */
function middleOf(group: Group, cuts: ReadonlySet<Tensor>): Tensor | undefined {
  const members = [...group.members.keys()];
  if (group.kind !== "map" || members.length < kernels.manyMembers) return undefined;
  const inside = members.slice(members.length >> 2, (3 * members.length) >> 2);
  const able = inside.filter((t) => isPointwise(t) && !cuts.has(t));
  return able[able.length >> 1];
}

/** Inlined nodes that read several tensors, but no more than one kernel may, the widest first. */
function inlinedParts(group: Group, fusion: Fusion): Tensor[] {
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
  for (const g of [group, ...besides(group)])
    for (const m of g.members.keys()) for (const o of m.operands) enter(o);
  return [...found].sort((a, b) => b[1] - a[1]).map(([t]) => t);
}

/** What a kernel binds once updates in place share the binding of what they overwrite. */
export const bindingsOf = (k: Lowered, { inPlace }: Ordered): Set<unknown> =>
  bindingsIn(k.tensors, inPlace);

const besides = (group: Group): Group[] => [
  ...group.operandReductions.map((s) => s.group),
  ...group.guests,
];

/** Members that joined a kernel's parts after their first, the last first. */
function lastJoined(group: Group, barriers: ReadonlySet<Tensor>): Tensor[] {
  const parts = [group, ...besides(group)];
  const joined = parts
    .flatMap((g) => [...g.members.keys()].slice(1))
    .filter((t) => !barriers.has(t));
  return joined.sort((a, b) => b.id - a.id);
}
