/**
 * How an element of a node is made of elements of its operands. The one place where coordinates
 * flow from results to operands; fusion asks it what lines up with what, lowering what to load.
 * Decides nothing.
 */
import {
  type Condition,
  type Dim,
  isNonNegative,
  isOp,
  loopVar,
  negDim,
  opRecord,
  type Piece,
  sameDim,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { indexName } from "./kernel/names.ts";

/**
 * True if the node has no value of its own to store: it is resolved by index arithmetic or is a
 * literal.
 */
export const isVirtual = (t: Tensor): boolean =>
  t.op === "constant" || t.op === "iota" || opRecord(t.op).family === "movement";

/** True if the node's value comes from outside the program. */
export const isLeaf = (t: Tensor): boolean =>
  t.op === "input" || t.op === "param" || t.op === "data";

/** True if one element of the node needs no loop: elementwise, gather, random bits. */
export const isPointwise = (t: Tensor): boolean => {
  const family = opRecord(t.op).family;
  return family === "elementwise" || family === "gather" || t.op === "randomBits";
};

/** The node under reshapes: it has the same bytes in the same order. */
export function aliasRoot(t: Tensor): Tensor {
  let root = t;
  while (root.op === "reshape") root = root.operands[0]!;
  return root;
}

/** A condition that always holds is dropped; one that never holds gives undefined. */
export function simplifyConditions(when: readonly Condition[]): Condition[] | undefined {
  const kept: Condition[] = [];
  for (const c of when) {
    if (typeof c.value === "number") {
      const holds = c.test === "zero" ? c.value === 0 : c.value >= 0;
      if (!holds) return undefined;
    } else if (c.test === "nonnegative") {
      if (isNonNegative(c.value)) continue;
      if (isNonNegative(subDim(negDim(c.value), 1))) return undefined;
      kept.push(c);
    } else kept.push(c);
  }
  return kept;
}

/** The pieces of a movement op that can be reached, the last of which always applies. */
export function livePieces(node: Tensor, coords: readonly Dim[]): Piece[] {
  const out: Piece[] = [];
  for (const p of opRecord(node.op).pieces!(node, coords)) {
    const when = simplifyConditions(p.when);
    if (!when) continue;
    out.push({ ...p, when });
    if (when.length === 0) break;
  }
  return out;
}

/** A coordinate known only at run time, of axis `axis` of the operand of a gather. */
export const dynamicCoord = (node: Tensor, axis: number): Dim =>
  loopVar(indexName(`dyn${node.id}_${axis}`), node.operands[0]!.shape[axis]!);

export interface Access {
  readonly operand: Tensor;
  readonly coords: readonly Dim[];
}

/** True if each element is made of its operand's elements up to its place along an axis. */
export const isScan = (t: Tensor): boolean => opRecord(t.op).family === "scan";

/**
 * The operand elements that the element at `coords` of a pointwise or movement node is made of; of
 * a scan, the element that it takes in there.
 */
export function accesses(node: Tensor, coords: readonly Dim[]): Access[] {
  const family = opRecord(node.op).family;
  if (family === "movement")
    return livePieces(node, coords).map((p) => ({
      operand: node.operands[p.operand]!,
      coords: p.coords,
    }));
  if (family === "elementwise" || family === "scan")
    return node.operands.map((operand) => ({ operand, coords }));
  if (node.op === "randomBits")
    return [0, 1].map((i) => ({ operand: node.operands[0]!, coords: [i] }));
  if (isOp(node, "gather")) {
    const [x, ...indices] = node.operands;
    const rank = indices[0]!.shape.length;
    const { axes } = node.attrs;
    let rest = rank;
    const at = x!.shape.map((_, axis) =>
      axes.includes(axis) ? dynamicCoord(node, axis) : coords[rest++]!,
    );
    return [
      { operand: x!, coords: at },
      ...indices.map((operand) => ({ operand, coords: coords.slice(0, rank) })),
    ];
  }
  return [];
}

export const sameCoords = (a: readonly Dim[], b: readonly Dim[]): boolean =>
  a.length === b.length && a.every((d, i) => sameDim(d, b[i]!));

export const keyOfCoords = (coords: readonly Dim[]): string =>
  coords.map((d) => (typeof d === "number" ? d : d.key)).join(",");

interface Walk {
  readonly inlined: (t: Tensor) => boolean;
  readonly visit: (t: Tensor, coords: readonly Dim[]) => unknown;
  /** By the coordinates' key: where the walk has been. */
  readonly seen: Map<string, Set<Tensor>>;
}

/**
 * Visits every stored element that the element at `coords` of `node` is made of, through all nodes
 * for which `inlined` holds. `visit` gets the stored node and the coordinates it is read at; false
 * ends the walk, which then returns false.
 */
export function walkAccesses(
  node: Tensor,
  coords: readonly Dim[],
  inlined: Walk["inlined"],
  visit: Walk["visit"],
): boolean {
  return walkFrom({ inlined, visit, seen: new Map() }, node, coords, undefined);
}

/** As `walkAccesses`, but `node` itself may be the stored one. */
export function reach(
  node: Tensor,
  coords: readonly Dim[],
  inlined: Walk["inlined"],
  visit: Walk["visit"],
): boolean {
  return arrive({ inlined, visit, seen: new Map() }, node, coords, undefined);
}

/**
 * `here` are the nodes seen at these coordinates, which most operands share: their key is long to
 * make.
 */
function walkFrom(
  walk: Walk,
  node: Tensor,
  coords: readonly Dim[],
  here: Set<Tensor> | undefined,
): boolean {
  if (opRecord(node.op).family === "elementwise") {
    for (const o of node.operands) if (!arrive(walk, o, coords, here)) return false;
    return true;
  }
  for (const a of accesses(node, coords))
    if (!arrive(walk, a.operand, a.coords, a.coords === coords ? here : undefined)) return false;
  return true;
}

function arrive(
  walk: Walk,
  node: Tensor,
  coords: readonly Dim[],
  known: Set<Tensor> | undefined,
): boolean {
  const here = known ?? seenAt(walk, coords);
  if (here.has(node)) return true;
  here.add(node);
  if (node.op === "constant" || node.op === "iota") return true;
  if (walk.inlined(node)) return walkFrom(walk, node, coords, here);
  return walk.visit(node, coords) !== false;
}

function seenAt({ seen }: Walk, coords: readonly Dim[]): Set<Tensor> {
  const key = keyOfCoords(coords);
  const known = seen.get(key) ?? new Set();
  seen.set(key, known);
  return known;
}
