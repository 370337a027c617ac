/**
 * Settles the nodes that float after the first walk: inlines them in their readers, or stores them,
 * in a reader's kernel where they line up or in a kernel of their own. First takes members out of
 * groups that are cheaper to recompute from another stored value than to store.
 */
import { isMovement, opRecord, sameShape, sizeOf, type Tensor } from "@kiln-ml/ir";
import { aliasRoot, isLeaf, isPointwise, walkAccesses } from "../access.ts";
import type { Card } from "../machine/machine.ts";
import { kernels } from "../sizes.ts";
import { addMember, findComputeAt, openMap } from "./compute-at.ts";
import { skinnyLines } from "./contraction.ts";
import { addDependency, dependsOn, type Group, moveDependencies } from "./group.ts";
import { mayBind } from "./kernel-limits.ts";
import { readAgain, terminals } from "./reads.ts";
import { extentGuess, type Fusion, isSingle } from "./state.ts";
import { workOf } from "./work.ts";

/** Elementwise work that may be repeated in every reader rather than stored. */
const cheapOps = 8;
/**
 * Elementwise work that costs less than memory, where it starts from a value that is read anyway.
 */
const fewOps = 4;

export function materialise(state: Fusion, order: readonly Tensor[]): void {
  if (state.on) {
    dropCheapMembers(state, order);
    storeSources(state, order);
  }
  const readers = new Map<Tensor, Set<Group>>();
  const read = (t: Tensor, by: Iterable<Group>) => {
    const set = readers.get(t) ?? new Set();
    readers.set(t, set);
    for (const g of by) set.add(g);
  };
  for (const node of [...order].reverse()) {
    const by = readers.get(node) ?? new Set<Group>();
    if (!isLeaf(node) && !state.groupOf.has(node) && mustStore(state, node, by))
      store(state, node, by);
    const group = state.groupOf.get(node);
    for (const o of node.operands) if (!isLeaf(o)) read(o, group ? [group] : by);
  }
  if (state.on && state.limits.halves) dropWidened(state, order);
  if (state.on) dropForFewRows(state);
  dropEmpty(state);
}

/**
 * What an attention of few queries reads once, and which costs little now that all below it is
 * settled, is computed there: queries turned by sines that are stored. Nothing else reads it.
 */
function dropForFewRows(state: Fusion): void {
  const mayFloat = (t: Tensor): boolean => {
    if (state.required.has(t) || state.relief.forced.has(t) || isSingle(t)) return false;
    const work = workOf(state, t, cheapOps);
    return !work.costly && work.ops <= cheapOps;
  };
  for (const group of state.groups) {
    const [reader, ...others] = group.users;
    const nodes = [...group.members.keys()];
    if (group.kind !== "map" || nodes.length === 0 || !nodes.every(mayFloat)) continue;
    if (!reader || others.length > 0 || !hasFewQueries(reader)) continue;
    for (const t of nodes) floatAgain(state, t);
    for (const t of nodes) {
      reader.reads.delete(t);
      for (const read of terminals(state, t)) reader.reads.add(read);
    }
    moveDependencies(group, reader);
  }
}

/** An attention of so few rows that each of its queries is read once. */
const hasFewQueries = ({ attention }: Group): boolean => {
  const queries = attention?.space.at(-2);
  return typeof queries === "number" && queries <= skinnyLines;
};

/** Groups all of whose members came to float. */
function dropEmpty({ groups }: Fusion): void {
  groups.splice(0, groups.length, ...groups.filter(({ members }) => members.size > 0));
}

/**
 * A member that widens a half which came to be stored by itself is read as the half: it takes twice
 * the bytes, and matrix units do not take it.
 */
function dropWidened(state: Fusion, order: readonly Tensor[]): void {
  const stored = storedNodes(state, order);
  for (const node of order) {
    const group = state.groupOf.get(node);
    if (!group || state.required.has(node) || !stored.has(node)) continue;
    const [half, ...others] = isWiderOf(node, node.operands[0]!) ? terminals(state, node) : [];
    if (!half || others.length > 0 || half.dtype !== "f16") continue;
    // What lies between the two is computed again by every reader.
    const work = workOf(state, node, fewOps);
    if (work.costly || work.ops > fewOps) continue;
    if (state.groupOf.get(half) === group || !(isLeaf(half) || stored.has(half))) continue;
    floatAgain(state, node);
    for (const { reads } of state.groups) if (reads.delete(node)) reads.add(half);
  }
}

function mustStore(state: Fusion, node: Tensor, by: ReadonlySet<Group>): boolean {
  if (state.required.has(node)) return true;
  if (state.attentions.inside.has(node)) return false;
  if (by.size === 0) return false;
  if (state.relief.forced.has(node)) return true;
  if (!isPointwise(node)) return false;
  if (isSingle(node) || state.unpacked.has(node)) return false;
  const { machine, matrixUnits } = state.limits;
  if (machine && matrixUnits && isCast(node) && isWorthCasting(node, by, machine)) return true;
  if (by.size > 1) {
    const work = workOf(state, node, cheapOps);
    return (work.costly || work.ops > cheapOps || work.loads > 2) && mayBind(state, by);
  }
  // A contraction reads an operand's element many times over.
  const [reader] = by;
  const often = reader!.kind === "contraction" || reader!.kind === "attention";
  return often && workOf(state, node).costly;
}

const isCast = (t: Tensor): boolean => t.op === "convert" && t.dtype === "f16";

/**
 * Whether products bring an operand so often that halving it is worth a kernel that makes it f16
 * beforehand: it reads four bytes and stores two an element, and each time that one is brought two
 * are saved.
 */
function isWorthCasting(node: Tensor, by: ReadonlySet<Group>, machine: Card): boolean {
  const size = sizeOf(node.shape);
  if (typeof size !== "number") return false;
  let times = 0;
  for (const { contraction: c } of by) {
    if (!c) continue;
    for (const [{ operand }, others] of [
      [c.a, c.n],
      [c.b, c.m],
    ] as const)
      if (operand === node || (operand.operands[0] === node && isMovement(operand)))
        times += Math.ceil(extentGuess(others) / machine.tileLines);
  }
  return size * (2 * times - 6) > machine.launchBytes;
}

/** Groups that read their operands in an order of their own. */
const whole: ReadonlySet<Group["kind"]> = new Set(["contraction", "attention", "control"]);

/**
 * Stores a floating node: as another result of a reader that computes it in place, or in its own
 * kernel.
 */
function store(state: Fusion, node: Tensor, by: ReadonlySet<Group>): void {
  // Its users were looked at when it was inlined.
  readAgain(state, node);
  if (
    state.on &&
    isPointwise(node) &&
    !state.relief.barriers.has(node) &&
    !state.relief.forced.has(node)
  )
    for (const host of [...by].sort((a, b) => a.id - b.id)) {
      const others = [...by].filter((g) => g !== host);
      if (whole.has(host.kind)) continue;
      if (others.some((g) => dependsOn(host, g))) continue;
      const p = findComputeAt(state, host, node);
      if (!p || !readOnlyAt(state, host, node, p.coords)) continue;
      addMember(state, host, node, p);
      for (const g of others) {
        addDependency(g, host);
        g.reads.add(node);
      }
      return;
    }
  const own = joinedMap(state, node, by) ?? openMap(state, node);
  for (const g of by) g.reads.add(node);
  // A reader that the new kernel waits for goes on computing the node for itself.
  for (const g of by) if (!dependsOn(own, g)) addDependency(g, own);
}

/**
 * A kernel of elements of the same shape that reads some of what `node` is made of, and now
 * computes it too: both halves of queries that turn. None of its members may wait for the node's
 * readers.
 */
function joinedMap(state: Fusion, node: Tensor, by: ReadonlySet<Group>): Group | undefined {
  const { on, relief, limits } = state;
  if (!on || relief.barriers.has(node) || relief.forced.has(node)) return undefined;
  const read = terminals(state, node);
  for (const t of read)
    for (const g of isSingle(t) ? [] : (state.readingGroups.get(t) ?? [])) {
      if (g.kind !== "map" || !sameShape(g.outerSpace.shape, node.shape)) continue;
      if ([...by].some((r) => r === g || dependsOn(g, r))) continue;
      const tensors = new Set([...g.reads, ...read, ...g.waiting.keys(), node]);
      const p = tensors.size <= limits.bindings && findComputeAt(state, g, node);
      if (!p) continue;
      addMember(state, g, node, p);
      return g;
    }
  return undefined;
}

/** True if every read of `node` in `host` is at the coordinates at which it would be computed. */
function readOnlyAt(state: Fusion, host: Group, node: Tensor, coords: readonly unknown[]): boolean {
  let ok = true;
  const key = coords.map(String).join();
  for (const [m, p] of host.members)
    if (opRecord(m.op).family === "reduce" && (p.level === "root" || m.op === "fold")) return false;
  for (const m of membersReading(state, host, node)) {
    const p = host.members.get(m)!;
    const starts =
      opRecord(m.op).family === "reduce" && host.fullSpace ? host.fullSpace.coords : p.coords;
    const visit = (t: Tensor, at: readonly unknown[]) => {
      if (t === node && at.map(String).join() !== key) ok = false;
    };
    const inlined = (t: Tensor) => t !== node && !isLeaf(t) && !state.groupOf.has(t);
    if (opRecord(m.op).family === "reduce") {
      const x = m.operands[0]!;
      if (x === node) visit(x, starts);
      else if (inlined(x)) walkAccesses(x, starts, inlined, visit);
    } else walkAccesses(m, starts, inlined, visit);
  }
  return ok;
}

/** The members that are made of a floating node, directly or through others that float. */
function membersReading(state: Fusion, host: Group, node: Tensor): Set<Tensor> {
  const found = new Set<Tensor>();
  const floating = new Set([node]);
  for (const t of floating)
    for (const r of state.readers.get(t) ?? []) {
      const group = state.groupOf.get(r);
      if (group === host) found.add(r);
      else if (!group) floating.add(r);
    }
  return found;
}

/**
 * A member that other groups read, but that is cheap to recompute from one value that is stored
 * anyway, such as the mask of a ReLU from its result, is not stored: it floats, and is inlined
 * where it is read.
 */
function dropCheapMembers(state: Fusion, order: readonly Tensor[]): void {
  const stored = storedNodes(state, order);
  for (const node of order) {
    const group = state.groupOf.get(node);
    if (!group || state.required.has(node) || !isPointwise(node) || !stored.has(node)) continue;
    const work = workOf(state, node, fewOps);
    if (work.costly || work.ops > fewOps) continue;
    const isLittle = littleBeside(state, node);
    const from = [...terminals(state, node)].filter((t) => !isLittle(t));
    if (from.length !== 1 || !(isLeaf(from[0]!) || stored.has(from[0]!))) continue;
    if (group.members.get(from[0]!)?.level === "root") continue;
    floatAgain(state, node);
  }
}

/**
 * What a reader of `node` reads for nothing: single numbers, and a vector for each channel or row
 * where each element of `node` is read once.
 */
function littleBeside(state: Fusion, node: Tensor): (t: Tensor) => boolean {
  const size = sizeOf(node.shape);
  const once = [...(state.readingGroups.get(node) ?? [])].every(({ kind }) => !whole.has(kind));
  // For cards alone: a symbol tells no size, and on js both kinds of extents give the same bits.
  if (!state.limits.machine || !once || typeof size !== "number") return isSingle;
  return (t) => {
    const own = sizeOf(t.shape);
    return isSingle(t) || (typeof own === "number" && own * kernels.littleShare <= size);
  };
}

/** Little that is stored, or a few nodes away from it. */
function readForNothing(
  state: Fusion,
  node: Tensor,
  stored: (t: Tensor) => boolean,
): (t: Tensor) => boolean {
  const isLittle = littleBeside(state, node);
  const isRead = (t: Tensor, steps: number): boolean => {
    const root = aliasRoot(t);
    if (isSingle(root)) return true;
    if (!isLittle(root)) return false;
    if (isLeaf(root) || stored(root)) return true;
    const floats = steps > 0 && !state.groupOf.has(root) && root.operands.length > 0;
    return floats && root.operands.every((o) => isRead(o, steps - 1));
  };
  return (t) => isRead(t, fewOps);
}

function floatAgain(state: Fusion, node: Tensor): void {
  state.groupOf.get(node)!.members.delete(node);
  state.groupOf.delete(node);
  readAgain(state, node);
}

/**
 * Members that other groups read and that are cheap to recompute from one other member are not
 * stored if that one is stored anyway, or if it is costly and takes the place of several: 1 + t and
 * 1 − t² of a tanh are made of t. Nor is what only widens one of half the size.
 */
function storeSources(state: Fusion, order: readonly Tensor[]): void {
  const stored = storedNodes(state, order);
  const made = madeNear(state, stored);
  for (const source of order) {
    const group = state.groupOf.get(source);
    if (!group || isSingle(source) || group.members.get(source)!.level === "root") continue;
    const kept = stored.has(source);
    const half = state.limits.halves === true && source.dtype === "f16";
    if (!kept && !half && !(isPointwise(source) && opRecord(source.op).costly)) continue;
    const chains = (made.get(source) ?? []).flatMap((t) => {
      if (state.groupOf.get(t) !== group || !stored.has(t) || state.required.has(t)) return [];
      const known = (u: Tensor) => u !== t && stored.has(u);
      const chain = cheapChain(source, t, known, readForNothing(state, t, known));
      return chain ? [{ made: t, chain }] : [];
    });
    const widened = half && chains.length > 0 && chains.every((c) => isWiderOf(c.made, source));
    if (chains.length < (kept || widened ? 1 : 2)) continue;
    for (const { made, chain } of chains) {
      stored.delete(made);
      for (const t of chain) if (state.groupOf.get(t) === group) floatAgain(state, t);
    }
    stored.add(source);
  }
}

/** By each node, the members that a few nodes may make of it, in the order of their groups. */
function madeNear(state: Fusion, stored: ReadonlySet<Tensor>): Map<Tensor, Tensor[]> {
  const made = new Map<Tensor, Tensor[]>();
  for (const { members } of state.groups)
    for (const t of members.keys()) {
      if (!stored.has(t) && !opRecord(t.op).costly) continue;
      let level = new Set([t]);
      for (let step = 0; step < fewOps; step++) {
        const below = new Set<Tensor>();
        for (const u of level) if (isPointwise(u)) for (const o of u.operands) below.add(o);
        level = below;
        for (const u of level) {
          const list = made.get(u);
          if (!list) made.set(u, [t]);
          else if (!list.includes(t)) list.push(t);
        }
      }
    }
  return made;
}

const isWiderOf = (t: Tensor, half: Tensor): boolean =>
  t.op === "convert" && t.operands[0] === half && t.dtype === "f32";

/** The few cheap nodes that make `node` of `source` and little else, if they do. */
function cheapChain(
  source: Tensor,
  node: Tensor,
  stored: (t: Tensor) => boolean,
  isRead: (t: Tensor) => boolean,
): Set<Tensor> | undefined {
  if (node === source) return undefined;
  const chain = new Set<Tensor>();
  let found = false;
  const enter = (t: Tensor): boolean => {
    if (t === source) found = true;
    if (t === source || chain.has(t) || isSingle(t)) return true;
    // The same number everywhere, or along some axes.
    if (t.op === "broadcastInDim" && isRead(t.operands[0]!)) return true;
    if (!isPointwise(t) || isLeaf(t) || stored(t) || opRecord(t.op).costly) return false;
    chain.add(t);
    return chain.size <= fewOps && t.operands.every(enter);
  };
  return enter(node) && found ? chain : undefined;
}

/** Members that must be in memory: required, or read by another group. */
export function storedNodes(state: Fusion, order: readonly Tensor[]): Set<Tensor> {
  const stored = new Set<Tensor>([...state.required].filter((t) => state.groupOf.has(t)));
  for (const node of order) {
    const group = state.groupOf.get(node);
    if (!group) continue;
    for (const t of terminals(state, node))
      if (state.groupOf.has(t) && state.groupOf.get(t) !== group) stored.add(t);
  }
  return stored;
}
