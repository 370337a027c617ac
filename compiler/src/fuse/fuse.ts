/**
 * Decides what is stored: puts every node that needs a kernel into a group. Nodes are taken in
 * order; a contraction opens a group, a reduction or scan joins one with the same loops or opens
 * one, a pointwise node joins a group that computes one of its operands at the same coordinates (an
 * epilogue), and otherwise floats, to be decided by `materialise.ts` when its readers are known.
 * Makes no loops and no text; runs after the graph passes, before lower.
 */
import { isOp, opRecord, reducedAxes, sameShape, Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise, isScan, isVirtual } from "../access.ts";
import { nodesOf, type Program } from "../program.ts";
import type { Attentions } from "./attention.ts";
import { addMember, findComputeAt, isAligned, openMap } from "./compute-at.ts";
import { readContraction } from "./contraction.ts";
import { type ComputeAt, type Group, makeLoop } from "./group.ts";
import { fuseBeside, fuseGuests, fuseOperandReductions } from "./horizontal.ts";
import { hasRoom, mayFloat } from "./kernel-limits.ts";
import { materialise } from "./materialise.ts";
import { terminals } from "./reads.ts";
import { joinScan, scanTakes } from "./scan.ts";
import { joinSibling } from "./siblings.ts";
import {
  extentGuess,
  type Fusion,
  type FusionLimits,
  noRelief,
  openGroup,
  type Refused,
  type Relief,
  withinRow,
} from "./state.ts";
import { storageOf } from "./storage.ts";
import { unpackedIn } from "./unpacked.ts";

/**
 * Groups in no particular order; each node of `required` is a member of exactly one. Where a kernel
 * has no room for more, nodes are taken again by their depth: what is computed of neighbours is
 * then beside them, and kernels are cut through all of it.
 */
export function fuse(
  program: Program,
  limits: FusionLimits,
  on: boolean,
  relief: Relief = noRelief,
  refused?: Refused,
): Fusion {
  const ask = { program, limits, on, relief, refused };
  const fusion = fuseIn(nodesOf(program), ask, false);
  return fusion.capped ? fuseIn(byDepth(nodesOf(program)), ask, true) : fusion;
}

type Ask = Pick<Fusion, "program" | "limits" | "on" | "relief" | "refused">;

function fuseIn(order: readonly Tensor[], ask: Ask, cut: boolean): Fusion {
  const { program, limits, on, relief } = ask;
  const storage = storageOf(program);
  const attention = on ? limits.attention : undefined;
  const stored = new Set([...storage.required, ...relief.forced]);
  const attentions = attention?.find(order, stored, relief.barriers) ?? nothing;
  const state: Fusion = {
    ...ask,
    groups: [],
    groupOf: new Map(),
    readers: readersIn(order),
    read: new Map(),
    inlined: new Map(),
    readingGroups: new Map(),
    cut,
    capped: false,
    required: storage.required,
    unpacked: on ? unpackedIn(nodesOf(program), storage.required) : none,
    storedIn: new Map(storage.storedIn),
    attentions,
  };
  for (const node of attention?.arrange(order, attentions) ?? order) {
    if (!(node instanceof Tensor)) attention!.open(state, node);
    else if (!isLeaf(node) && !attentions.inside.has(node)) take(state, node);
    if (state.capped && !cut) return state;
  }
  materialise(state, order);
  if (on) {
    fuseOperandReductions(state);
    fuseBeside(state);
    fuseGuests(state);
    limits.equalLoops?.(state);
  }
  return state;
}

const none: ReadonlySet<Tensor> = new Set();
const nothing: Attentions = { all: [], inside: new Set() };

/** Operands still stand before what reads them. */
function byDepth(order: readonly Tensor[]): Tensor[] {
  const depths = new Map<Tensor, number>();
  const levels: Tensor[][] = [];
  for (const t of order) {
    let depth = 0;
    for (const o of t.operands) depth = Math.max(depth, depths.get(o)! + 1);
    depths.set(t, depth);
    const level = levels[depth];
    if (level) level.push(t);
    else levels[depth] = [t];
  }
  return levels.flat();
}

function readersIn(order: readonly Tensor[]): Map<Tensor, Tensor[]> {
  const readers = new Map<Tensor, Tensor[]>();
  for (const t of order)
    for (const o of new Set(t.operands)) {
      const list = readers.get(o);
      if (list) list.push(t);
      else readers.set(o, [t]);
    }
  return readers;
}

/** Puts a node into a group, or leaves it deferred. */
function take(state: Fusion, node: Tensor): void {
  if (!isVirtual(node) && !(state.unpacked.has(node) && isPointwise(node))) join(state, node);
  if (!state.groupOf.has(node) && !mayFloat(state, node)) openMap(state, node);
}

function join(state: Fusion, node: Tensor): void {
  const { family } = opRecord(node.op);
  if (family === "contraction") {
    if (!joinSibling(state, node)) openContraction(state, node);
  } else if (family === "reduce") joinReduce(state, node);
  else if (family === "scatter" || family === "sort") openWhole(state, node, family);
  else if (family === "control") joinControl(state, node);
  else if (isScan(node)) joinScan(state, node);
  else if (isPointwise(node)) joinPointwise(state, node);
}

function openContraction(state: Fusion, node: Tensor): void {
  const { contraction, coords } = readContraction(node);
  const { m, n, batch } = contraction;
  const group = openGroup(state, {
    kind: "contraction",
    anchor: node,
    outer: [...batch, ...m, ...n],
    outerSpace: { shape: node.shape, coords },
    contraction,
  });
  addMember(state, group, node, { coords, level: "outer" });
}

function openWhole(state: Fusion, node: Tensor, kind: "scatter" | "sort"): void {
  const outer = node.shape.map((d, i) => makeLoop(`i${i}`, d));
  const coords = outer.map((l) => l.at);
  const outerSpace = { shape: node.shape, coords };
  const group = openGroup(state, { kind, anchor: node, outer, outerSpace });
  addMember(state, group, node, { coords, level: "outer" });
}

/** A node with regions is a group, its results are members. */
function joinControl(state: Fusion, node: Tensor): void {
  const own = node.op === "result" ? state.groupOf.get(node.operands[0]!) : undefined;
  const outerSpace = { shape: [], coords: [] };
  const group = own ?? openGroup(state, { kind: "control", anchor: node, outer: [], outerSpace });
  addMember(state, group, node, { coords: [], level: "outer" });
}

function joinReduce(state: Fusion, node: Tensor): void {
  if (state.on && !state.relief.barriers.has(node) && node.op !== "fold")
    for (const group of rowCandidates(state, node)) {
      const computeAt = sameRows(state, group, node) ?? total(state, group, node);
      if (!computeAt) {
        state.refused?.(state, group, node);
        continue;
      }
      addMember(state, group, node, computeAt);
      return;
    }
  openRows(state, node);
}

function openRows(state: Fusion, node: Tensor): void {
  const x = node.operands[0]!;
  if (isOp(node, "fold")) {
    const { size } = node.attrs;
    const outer = node.shape.map((d, i) => makeLoop(`i${i}`, d));
    const inner = size.map((d, i) => makeLoop(`r${i}`, d));
    const coords = outer.map((l) => l.at);
    const outerSpace = { shape: node.shape, coords };
    const group = openGroup(state, { kind: "rows", outer, outerSpace, inner });
    addMember(state, group, node, { coords, level: "outer" });
    return;
  }
  const axes = reducedAxes(node);
  const loops = x.shape.map((d, i) => makeLoop(`${axes.includes(i) ? "r" : "i"}${i}`, d));
  const outer = loops.filter((_, i) => !axes.includes(i));
  const coords = outer.map((l) => l.at);
  const group = openGroup(state, {
    kind: "rows",
    outer,
    outerSpace: { shape: node.shape, coords },
    inner: loops.filter((_, i) => axes.includes(i)),
    fullSpace: { shape: x.shape, coords: loops.map((l) => l.at) },
    axes,
  });
  addMember(state, group, node, { coords, level: "outer" });
}

const hasRows = (g: Group): boolean => g.kind === "rows" || g.kind === "scan";

/**
 * Groups a reduction may join, the latest first: those it reads, and those with its loops that read
 * what it reads, or what was summed beside it: the parts of two sums are joined in one kernel.
 */
function rowCandidates(state: Fusion, node: Tensor): Group[] {
  const read = terminals(state, node);
  const own = new Set([...read].flatMap((t) => state.groupOf.get(t) ?? []));
  const x = node.operands[0]!;
  const axes = String(node.attrs.axes);
  for (const t of new Set([...read].flatMap((t) => [t, ...summedBeside(state, t)])))
    for (const g of state.readingGroups.get(t) ?? []) {
      if (!hasRows(g) || !g.fullSpace || own.has(g)) continue;
      if (sameShape(g.fullSpace.shape, x.shape) && String(g.axes) === axes) own.add(g);
    }
  const rows = [...own].filter(hasRows).sort((a, b) => b.id - a.id);
  return rows.filter((g) => hasRoom(state, g, node));
}

/** Other sums of the kernel that a sum is made by. */
function summedBeside(state: Fusion, t: Tensor): Tensor[] {
  const maker = isReduction(t) ? state.groupOf.get(t) : undefined;
  return maker?.kind === "rows" ? [...maker.members.keys()].filter(isReduction) : [];
}

const isReduction = (t: Tensor): boolean => opRecord(t.op).family === "reduce";

/** Where a reduction is computed that runs over the same loops as the group's own. */
function sameRows(state: Fusion, group: Group, node: Tensor): ComputeAt | undefined {
  const full = group.fullSpace;
  const x = node.operands[0]!;
  if (!full || !sameShape(full.shape, x.shape)) return undefined;
  if (group.kind === "scan" && !scanTakes(group, node)) return undefined;
  if (String(group.axes) !== String(node.attrs.axes)) return undefined;
  if (!withinRow(state, group)) return undefined;
  if (!isAligned(state, group, x, full.coords, "full")) return undefined;
  return { coords: group.outerSpace.coords, level: "outer" };
}

/**
 * Where a reduction is computed that runs over all outer loops of a value computed once in each of
 * them.
 */
function total(state: Fusion, group: Group, node: Tensor): ComputeAt | undefined {
  const x = node.operands[0]!;
  const all = reducedAxes(node).length === x.shape.length;
  if (group.kind === "scan" || group.outer.length === 0) return undefined;
  if (!all || !sameShape(x.shape, group.outerSpace.shape)) return undefined;
  if (extentGuess(group.outer) * extentGuess(group.inner) > state.limits.total) return undefined;
  if (!isAligned(state, group, x, group.outerSpace.coords, "outer")) return undefined;
  return { coords: [], level: "root" };
}

function joinPointwise(state: Fusion, node: Tensor): void {
  if (!state.on) {
    openMap(state, node);
    return;
  }
  if (state.relief.cuts.has(node)) openMap(state, node);
  if (state.relief.cuts.has(node) || state.relief.barriers.has(node)) return;
  const candidates = new Set(
    [...terminals(state, node)].flatMap((t) => state.groupOf.get(t) ?? []),
  );
  const summed = isOnlySummed(state, node);
  for (const group of [...candidates].sort((a, b) => b.id - a.id)) {
    if (summed && !takesSums(state, group) && hasOtherReaders(state, group, node)) continue;
    const computeAt = findComputeAt(state, group, node);
    if (!computeAt) {
      state.refused?.(state, group, node);
      continue;
    }
    addMember(state, group, node, computeAt);
    return;
  }
}

/** Sums read what such a node is made of, rather than that a product stores it beside that. */
const isOnlySummed = (state: Fusion, node: Tensor): boolean =>
  !state.required.has(node) &&
  (state.readers.get(node) ?? []).every(
    (t) => isReduction(t) || (t.op === "reshape" && isOnlySummed(state, t)),
  );

/** Whether a sum over what a group computes may join it. */
const takesSums = (state: Fusion, { kind, outer, inner }: Group): boolean =>
  kind === "scan" ||
  (kind === "rows" && extentGuess(outer) * extentGuess(inner) <= state.limits.total);

/** Whether what a node takes from a group is asked for by others as well. */
function hasOtherReaders(state: Fusion, group: Group, node: Tensor): boolean {
  for (const t of terminals(state, node))
    if (state.groupOf.get(t) === group && state.readers.get(t)!.length < 2) return false;
  return true;
}
