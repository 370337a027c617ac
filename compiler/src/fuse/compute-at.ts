/**
 * Tests whether a node can be computed inside a group: at which coordinates, and whether all it
 * reads lines up with what the group computes there and is ready by then.
 */
import { type Dim, loopVar, sameDim, sizeOf, symbolOf, type Tensor } from "@kiln-ml/ir";
import { isLeaf, reach, sameCoords, walkAccesses } from "../access.ts";
import { searches } from "../sizes.ts";
import {
  addDependency,
  type ComputeAt,
  dependsOn,
  type Group,
  type Level,
  makeLoop,
  reindex,
} from "./group.ts";
import { hasRoom, takeRoom } from "./kernel-limits.ts";
import { terminals } from "./reads.ts";
import { type Fusion, openGroup, withinRow } from "./state.ts";

const notStored = (state: Fusion) => (t: Tensor) => !isLeaf(t) && !state.groupOf.has(t);

/** Where `node` can be computed in `group`, if anywhere. */
export function findComputeAt(state: Fusion, group: Group, node: Tensor): ComputeAt | undefined {
  if (group.kind === "control" || !hasRoom(state, group, node)) return undefined;
  for (const p of candidates(state, group, node)) if (fits(state, group, node, p)) return p;
  const { outerSpace } = group;
  if (!sameDim(sizeOf(node.shape), sizeOf(outerSpace.shape))) return undefined;
  const turned = permuted(state, group, node);
  const p: ComputeAt | undefined = turned && { coords: turned, level: "outer" };
  return p && fits(state, group, node, p) ? p : undefined;
}

/** True if reading stored node `t` at `at` from inside `group` at `level` is possible. */
export function canRead(
  state: Fusion,
  group: Group,
  t: Tensor,
  at: readonly Dim[],
  level: Level,
): boolean {
  const other = state.groupOf.get(t);
  if (other === undefined) return true;
  if (other !== group) return !dependsOn(other, group);
  const p = group.members.get(t)!;
  if ((p.level === "root") !== (level === "root")) return false;
  if (p.level === "full" && level !== "full") return false;
  // A scan has one run along its axis, after which its reductions are known.
  if (group.kind === "scan" && p.level !== level) return false;
  return sameCoords(p.coords, at);
}

/**
 * True if `x`, read at `coords`, meets the group's members only where they are computed, and no
 * group that waits for it.
 */
export function isAligned(
  state: Fusion,
  group: Group,
  x: Tensor,
  coords: readonly Dim[],
  level: ComputeAt["level"],
): boolean {
  if (!isLeaf(x) && !state.groupOf.has(x) && !isReady(state, group, x)) return false;
  return reach(x, coords, notStored(state), (t, at) => canRead(state, group, t, at, level));
}

/**
 * True if no group that stores what `node` is made of waits for `group`. That of which no element
 * is ever read, since an axis has none, orders kernels too.
 */
function isReady(state: Fusion, group: Group, node: Tensor): boolean {
  for (const t of terminals(state, node)) {
    const other = state.groupOf.get(t);
    if (other && other !== group && dependsOn(other, group)) return false;
  }
  return true;
}

/**
 * The coordinates and levels at which the loops of `group` have as many iterations as `node`
 * elements.
 */
export function candidates(state: Fusion, group: Group, node: Tensor): ComputeAt[] {
  const out: ComputeAt[] = [];
  const size = sizeOf(node.shape);
  const hasRoot = [...group.members.values()].some((p) => p.level === "root");
  if (hasRoot && size === 1) out.push({ coords: node.shape.map(() => 0), level: "root" });
  const { outerSpace, fullSpace } = group;
  if (sameDim(size, sizeOf(outerSpace.shape)))
    out.push({ coords: reindex(outerSpace.shape, outerSpace.coords, node.shape), level: "outer" });
  if (fullSpace && sameDim(size, sizeOf(fullSpace.shape)) && withinRow(state, group))
    out.push({ coords: reindex(fullSpace.shape, fullSpace.coords, node.shape), level: "full" });
  return out;
}

/**
 * Coordinates under which `node`, a permutation of the group's result, meets it where it is
 * computed.
 */
function permuted(state: Fusion, group: Group, node: Tensor): Dim[] | undefined {
  const symbols = node.shape.map((d, i) => loopVar(`?${i}`, d));
  let coords: Dim[] | undefined;
  walkAccesses(node, symbols, notStored(state), (t, at) => {
    const p = group.members.get(t);
    if (coords || !p || p.level !== "outer") return;
    const found = new Map<string, Dim>();
    for (const [i, d] of at.entries()) {
      const symbol = symbolOf(d);
      if (symbol) found.set(symbol.name, p.coords[i]!);
    }
    const solved = symbols.flatMap((_, i) => found.get(`?${i}`) ?? []);
    if (solved.length === node.rank) coords = solved;
  });
  return coords;
}

function fits(state: Fusion, group: Group, node: Tensor, p: ComputeAt): boolean {
  if (!isReady(state, group, node)) return false;
  return walkAccesses(node, p.coords, notStored(state), (t, at) =>
    canRead(state, group, t, at, p.level),
  );
}

/** Makes `node` a member of `group`. */
export function addMember(state: Fusion, group: Group, node: Tensor, p: ComputeAt): void {
  for (const t of terminals(state, node)) {
    const other = state.groupOf.get(t);
    if (other && other !== group) addDependency(group, other);
    noteReading(state, group, t);
  }
  takeRoom(state, group, node);
  group.members.set(node, p);
  state.groupOf.set(node, group);
}

function noteReading({ readingGroups }: Fusion, group: Group, t: Tensor): void {
  const groups = readingGroups.get(t) ?? new Set();
  readingGroups.set(t, groups.add(group));
  if (groups.size <= searches.readingGroups) return;
  const [oldest] = groups;
  groups.delete(oldest!);
}

/** A group that computes `node` and nothing else, one iteration an element. */
export function openMap(state: Fusion, node: Tensor): Group {
  const outer = node.shape.map((d, i) => makeLoop(`i${i}`, d));
  const coords = outer.map((l) => l.at);
  const group = openGroup(state, {
    kind: "map",
    outer,
    outerSpace: { shape: node.shape, coords },
  });
  addMember(state, group, node, { coords, level: "outer" });
  return group;
}
