/**
 * Products of one left operand and of right ones of the same extents: the projections of a layer
 * to queries, keys and values, or a gate and what it gates. With few rows their right operands are
 * read once, so that memory and launches are their time; one kernel computes them in the same
 * loops, reads the left operand once, and what is made of several of them is its epilogue. Joins
 * groups that exist; a schedule that finds no loops for siblings says so, and they are apart.
 */
import { attrKey, type Dim, minOfDim, offsetOf, sameShape, sizeOf, type Tensor } from "@kiln-ml/ir";
import { isLeaf, reach } from "../access.ts";
import { strideOf } from "../kernel/stride.ts";
import { addMember } from "./compute-at.ts";
import { readContraction } from "./contraction.ts";
import {
  type Contraction,
  type ContractionOperand,
  dependsOn,
  type Group,
  type Loop,
} from "./group.ts";
import { hasRoom } from "./kernel-limits.ts";
import { terminals } from "./reads.ts";
import type { Fusion, SiblingLimits } from "./state.ts";

/** Puts a product into the group of one with the same left operand, if there is one. */
export function joinSibling(state: Fusion, node: Tensor): boolean {
  const { siblings: limits } = state.limits;
  if (!state.on || !limits || node.op !== "dotGeneral" || isApart(state, node)) return false;
  const { contraction, coords } = readContraction(node);
  const rows = totalOf(contraction.m);
  if (typeof rows !== "number" || rows === 0 || !isSuited(state, contraction, limits)) return false;
  for (const group of candidates(state, node)) {
    if (rows * (group.siblings.length + 2) > limits.sums) continue;
    if (!mayWait(state, group, node) || !hasRoom(state, group, node)) continue;
    group.siblings.push({ anchor: node, b: contraction.b });
    addMember(state, group, node, { coords, level: "outer" });
    return true;
  }
  return false;
}

const totalOf = (loops: readonly Loop[]): Dim => sizeOf(loops.map((l) => l.extent));

const isApart = ({ relief }: Fusion, t: Tensor): boolean =>
  relief.apart.has(t) || relief.barriers.has(t);

function isSuited(state: Fusion, c: Contraction, limits: SiblingLimits): boolean {
  const depth = c.k.filter((l) => l.extent !== 1).at(-1);
  if (!depth || minOfDim(totalOf(c.n)) < limits.columns) return false;
  if (minOfDim(depth.extent) < limits.depth) return false;
  return !limits.alongDepth || runsAlong(state, c.b, depth);
}

/** False where some element of the operand's steps by more than one along the loop. */
function runsAlong(
  state: Fusion,
  { operand, coords }: ContractionOperand,
  { name }: Loop,
): boolean {
  const isInlined = (t: Tensor): boolean => !isLeaf(t) && !state.groupOf.has(t);
  let along = true;
  const see = (t: Tensor, at: readonly Dim[]): void => {
    const stride = strideOf(offsetOf(t.shape, at), name);
    if (stride !== undefined && stride !== 0 && stride !== 1) along = false;
  };
  reach(operand, coords, isInlined, see);
  return along;
}

/** Groups of a product like this one of the same left operand, the latest first. */
function candidates(state: Fusion, node: Tensor): Group[] {
  const found = new Set<Group>();
  for (const t of terminals(state, node))
    for (const g of state.readingGroups.get(t) ?? [])
      if (g.kind === "contraction" && isAlike(g.anchor!, node)) found.add(g);
  return [...found].sort((a, b) => b.id - a.id);
}

function isAlike(a: Tensor, b: Tensor): boolean {
  const [v, w] = [a.operands[1]!, b.operands[1]!];
  return (
    a.op === b.op &&
    a.operands[0] === b.operands[0] &&
    a.dtype === b.dtype &&
    v.dtype === w.dtype &&
    sameShape(v.shape, w.shape) &&
    sameShape(a.shape, b.shape) &&
    attrKey(a.attrs) === attrKey(b.attrs)
  );
}

/** True if nothing that `node` reads is made in the group, or waits for it. */
function mayWait(state: Fusion, group: Group, node: Tensor): boolean {
  for (const t of terminals(state, node)) {
    const other = state.groupOf.get(t);
    if (other && (other === group || dependsOn(other, group))) return false;
  }
  return true;
}
