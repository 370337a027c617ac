/**
 * Counts what kernels would bind before they are lowered, so that fusion that has to run again is
 * not lowered first, and what they would bind with fewer members, so that it runs again seldom.
 * Says nothing where it cannot tell; what is lowered is counted again.
 */
import type { Tensor } from "@kiln-ml/ir";
import { isLeaf } from "../access.ts";
import { dependsOn, type Group } from "../fuse/group.ts";
import { terminals } from "../fuse/reads.ts";
import type { Fusion } from "../fuse/state.ts";
import type { Lowered } from "../lower/lower.ts";
import type { Step } from "./control.ts";
import { alignedUpdate, type Orderable, updatesInPlace } from "./order.ts";

/** Groups whose kernels need scratch memory, or that other folders make kernels of. */
const untold: ReadonlySet<Group["kind"]> = new Set(["scatter", "sort", "scan", "attention"]);
/** The most scratch memory of one. */
const mostScratch = 4;
/** Nodes of whose operands some may never be read. */
const choosers: ReadonlySet<string> = new Set(["concat", "pad", "gather", "fold"]);

/** A group, and what its kernel would read, write and bind at most. */
interface Counted extends Orderable {
  readonly group: Group;
  readonly tensors: ReadonlySet<Tensor>;
}

/** Groups that bind too many tensors and how many, and which values overwrite parameters. */
export interface Over {
  readonly groups: ReadonlyMap<Group, number>;
  readonly inPlace: ReadonlyMap<Tensor, Tensor>;
}

const none: Over = { groups: new Map(), inPlace: new Map() };

/**
 * The groups that bind more tensors than a kernel may; undefined if that is not known before all
 * are lowered. `lowered` is asked for single ones.
 */
export function groupsOver(
  fusion: Fusion,
  stored: ReadonlySet<Tensor>,
  lowered: (group: Group) => Step,
): Over | undefined {
  const most = fusion.limits.bindings;
  const counted: Counted[] = [];
  for (const group of fusion.groups) {
    const found = count(fusion, group, stored, lowered);
    if (!found) return undefined;
    counted.push(found);
  }
  const wide = counted.filter(
    ({ group, tensors }) => tensors.size + (untold.has(group.kind) ? mostScratch : 0) > most,
  );
  if (wide.length === 0) return none;
  const { inPlace } = updatesInPlace(fusion.program, counted);
  const over = new Map<Group, number>();
  for (const { group, tensors } of wide) {
    const told = isTold(fusion, group);
    // A node with regions binds nothing, and is not wide.
    const given = told ? [...tensors] : (lowered(group) as Lowered).tensors;
    const bound = bindingsIn(given, inPlace).size;
    if (bound > most) over.set(group, bound);
  }
  return { groups: over, inPlace };
}

/**
 * What a kernel binds once updates in place share the binding of what they overwrite. Scratch
 * memory is no tensor, and each piece binds by itself.
 */
export const bindingsIn = (
  tensors: readonly (Tensor | undefined)[],
  inPlace: ReadonlyMap<Tensor, Tensor>,
): Set<unknown> => new Set(tensors.map((t, i) => (t ? (inPlace.get(t) ?? t) : i)));

/** Whether what a group's members read and store is all that its kernel binds. */
const isTold = (fusion: Fusion, group: Group): boolean =>
  !untold.has(group.kind) && readsAll(fusion, group);

/**
 * How many tensors the group would bind without the members taken out, which others compute: what
 * those read of it is stored. Where its kernel binds scratch memory, or may read less than its
 * members do, this is what it binds less as many as the members' reads and stores become fewer:
 * with what it never read among those it is no more than the kernel would bind.
 */
export function boundWithout(
  fusion: Fusion,
  stored: ReadonlySet<Tensor>,
  group: Group,
  { groups, inPlace }: Over,
): (taken: ReadonlySet<Tensor>) => number {
  const members = partsOf(group).flatMap((part) => [...part.members.keys()]);
  const count = (taken: ReadonlySet<Tensor>): number => {
    const left = new Set(members.filter((t) => !taken.has(t)));
    const bound = new Set<Tensor>();
    const bind = (t: Tensor): void => {
      const place = fusion.storedIn.get(t)?.tensor ?? t;
      bound.add(inPlace.get(place) ?? place);
    };
    for (const t of members) {
      const stays = left.has(t);
      if (stays && stored.has(t)) bind(t);
      for (const read of terminals(fusion, t)) if (stays !== left.has(read)) bind(read);
    }
    return bound.size;
  };
  if (isTold(fusion, group)) return count;
  const beyond = (groups.get(group) ?? 0) - count(new Set());
  return (taken) => count(taken) + beyond;
}

function count(
  fusion: Fusion,
  group: Group,
  stored: ReadonlySet<Tensor>,
  lowered: (group: Group) => Step,
): Counted | undefined {
  if (group.anchor?.op === "customKernel") return undefined;
  if (group.kind === "control") {
    const { reads, writes } = lowered(group);
    return { group, tensors: new Set(), reads, writes, opaque: true, aligned: () => false };
  }
  const [reads, writes] = [new Set<Tensor>(), new Map<Tensor, Tensor>()];
  const place = (t: Tensor): Tensor => fusion.storedIn.get(t)?.tensor ?? t;
  for (const part of partsOf(group))
    for (const m of part.members.keys()) {
      if (stored.has(m)) writes.set(m, place(m));
      for (const t of readBy(fusion, group, m)) reads.add(t);
    }
  const tensors = new Set([...reads].map(place));
  for (const t of writes.values()) tensors.add(t);
  // Each update in place spares a binding. Where that is not enough, its loops tell nothing more.
  const tooMany = tensors.size - writes.size > fusion.limits.bindings && readsAll(fusion, group);
  const aligned = (param: Tensor, value: Tensor): boolean =>
    !tensors.has(param) || tooMany || alignedUpdate(lowered(group), param, value);
  return { group, tensors, reads, writes, opaque: false, aligned };
}

/** What computing a member reads of other groups; what those compute later is computed again. */
function readBy(fusion: Fusion, group: Group, member: Tensor): Set<Tensor> {
  const found = new Set<Tensor>();
  const computed = new Set([member]);
  for (const c of computed)
    for (const t of terminals(fusion, c)) {
      if (!isLeaf(t) && isComputed(fusion, group, t)) computed.add(t);
      else if (fusion.groupOf.get(t) !== group) found.add(t);
    }
  return found;
}

const partsOf = (g: Group): Group[] => [g, ...g.operandReductions.map((s) => s.group), ...g.guests];

/** True if nothing that is inlined in the group's members reads but some of its operands. */
function readsAll(fusion: Fusion, group: Group): boolean {
  const seen = new Set<Tensor>();
  for (const part of partsOf(group)) for (const m of part.members.keys()) seen.add(m);
  for (const t of seen) {
    if (choosers.has(t.op)) return false;
    for (const o of t.operands) if (!isLeaf(o) && isComputed(fusion, group, o)) seen.add(o);
  }
  return true;
}

/**
 * Whether a node outside of the group is computed in it: inlined, or since its own kernel is later.
 */
function isComputed(fusion: Fusion, group: Group, t: Tensor): boolean {
  const other = fusion.groupOf.get(t);
  return !other || (other !== group && dependsOn(other, group));
}
