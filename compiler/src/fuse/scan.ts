/**
 * Groups of cumulative ops: all other axes are outer loops, the axis is the one inner loop, run in
 * order. A scan joins a group that runs the same way over what it reads; reductions over the axis
 * run along. Makes no loops.
 */
import { type Dim, sameShape, scanAttrs, subDim, type Tensor } from "@kiln-ml/ir";
import { addMember, isAligned } from "./compute-at.ts";
import { type Group, makeLoop } from "./group.ts";
import { hasRoom } from "./kernel-limits.ts";
import { terminals } from "./reads.ts";
import { type Fusion, openGroup } from "./state.ts";

export function joinScan(state: Fusion, node: Tensor): void {
  const group = state.on && !state.relief.barriers.has(node) ? hostOf(state, node) : undefined;
  if (group) addMember(state, group, node, { coords: group.fullSpace!.coords, level: "full" });
  else openScan(state, node);
}

/**
 * The latest group that runs along the same axis the same way, and reads or computes what the scan
 * reads.
 */
function hostOf(state: Fusion, node: Tensor): Group | undefined {
  const shared = new Set<Group>();
  for (const t of terminals(state, node))
    for (const g of [state.groupOf.get(t), ...(state.readingGroups.get(t) ?? [])])
      if (g) shared.add(g);
  const fits = (g: Group): boolean =>
    g.kind === "scan" &&
    sameShape(g.anchor!.shape, node.shape) &&
    sameRun(g.anchor!, node) &&
    hasRoom(state, g, node) &&
    isAligned(state, g, node.operands[0]!, g.fullSpace!.coords, "full");
  return [...shared].sort((a, b) => b.id - a.id).find(fits);
}

function sameRun(a: Tensor, b: Tensor): boolean {
  const [x, y] = [scanAttrs(a), scanAttrs(b)];
  return x.axis === y.axis && x.reverse === y.reverse;
}

/**
 * True if a reduction over the axis may run along: from the front, as reductions do, or its bits
 * would change.
 */
export const scanTakes = (group: Group, reduce: Tensor): boolean =>
  !scanAttrs(group.anchor!).reverse && reduce.op !== "fold";

function openScan(state: Fusion, node: Tensor): void {
  const { axis, reverse } = scanAttrs(node);
  const loops = node.shape.map((d, i) => makeLoop(`${i === axis ? "r" : "i"}${i}`, d));
  const inner = loops[axis]!;
  const at = (i: number): Dim =>
    i === axis && reverse ? subDim(subDim(inner.extent, 1), inner.at) : loops[i]!.at;
  const outer = loops.filter((_, i) => i !== axis);
  const coords = loops.map((_, i) => at(i));
  const group = openGroup(state, {
    kind: "scan",
    anchor: node,
    outer,
    outerSpace: {
      shape: node.shape.filter((_, i) => i !== axis),
      coords: outer.map((l) => l.at),
    },
    inner: [inner],
    fullSpace: { shape: node.shape, coords },
    axes: [axis],
  });
  addMember(state, group, node, { coords, level: "full" });
}
