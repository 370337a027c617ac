/**
 * Counts what kernels would bind before they are lowered, so that fusion that has to run again is
 * not lowered first. Says nothing where it cannot tell; what is lowered is counted again.
 */
import type { Tensor } from "@kiln-ml/ir";
import { isLeaf } from "../access.ts";
import { dependsOn, type Group } from "../fuse/group.ts";
import { terminals } from "../fuse/reads.ts";
import type { Fusion } from "../fuse/state.ts";
import type { Lowered } from "../lower/lower.ts";
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

/**
 * The groups that bind more tensors than a kernel may; undefined if that is not known before all
 * are lowered. `lowered` is asked for single ones.
 */
export function groupsOver(
  fusion: Fusion,
  stored: ReadonlySet<Tensor>,
  lowered: (group: Group) => Lowered,
): Group[] | undefined {
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
  if (wide.length === 0) return [];
  if (wide.some(({ group }) => untold.has(group.kind))) return undefined;
  const { inPlace } = updatesInPlace(fusion.program, counted);
  const over = wide.filter(({ group, tensors }) => {
    const bound = readsAll(fusion, group) ? tensors : lowered(group).tensors;
    return new Set([...bound].map((t) => (t && inPlace.get(t)) ?? t)).size > most;
  });
  return over.map(({ group }) => group);
}

function count(
  fusion: Fusion,
  group: Group,
  stored: ReadonlySet<Tensor>,
  lowered: (group: Group) => Lowered,
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
      for (const t of terminals(fusion, m)) {
        const other = isLeaf(t) ? undefined : fusion.groupOf.get(t);
        if (other === group) continue;
        // It is computed again here, since its own kernel runs later.
        if (other && dependsOn(other, group)) return undefined;
        reads.add(t);
      }
    }
  const tensors = new Set([...reads].map(place));
  for (const t of writes.values()) tensors.add(t);
  const aligned = (param: Tensor, value: Tensor): boolean =>
    !tensors.has(param) || alignedUpdate(lowered(group), param, value);
  return { group, tensors, reads, writes, opaque: false, aligned };
}

const partsOf = (g: Group): Group[] => [g, ...g.operandReductions.map((s) => s.group), ...g.guests];

/** True if nothing that is inlined in the group's members reads but some of its operands. */
function readsAll(fusion: Fusion, group: Group): boolean {
  const seen = new Set<Tensor>();
  for (const part of partsOf(group)) for (const m of part.members.keys()) seen.add(m);
  for (const t of seen) {
    if (choosers.has(t.op)) return false;
    for (const o of t.operands) if (!isLeaf(o) && !fusion.groupOf.has(o)) seen.add(o);
  }
  return true;
}
