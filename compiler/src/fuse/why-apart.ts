/**
 * Why two nodes are in different kernels, as data: a word for programs and a sentence for people.
 * Asks the same predicates as fusion, at the moment of the decision (`Fusion.refused`), and decides
 * nothing. Behind an entry of its own, so that whoever only compiles does without.
 */
import { opRecord, printDim, printShape, sameShape, type Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise, isScan, walkAccesses } from "../access.ts";
import { candidates, canRead } from "./compute-at.ts";
import { dependsOn, type Group } from "./group.ts";
import { hasRoom } from "./kernel-limits.ts";
import { terminals } from "./reads.ts";
import { extentGuess, type Fusion, withinRow } from "./state.ts";

/**
 * - `off`: fusion is off; `bindings`: the kernel would bind more tensors than the target allows
 * - `begins`: the op begins a kernel whatever it reads; `regions`: one side is control flow
 * - `room`: the kernel computes or reads as much as one may; `row`: its rows are too long for that
 * - `loops`: the loops are others; `coordinates`: what it reads is computed at other coordinates
 * - `level`: what it reads is known only after those loops; `cycle`: each would wait for the other
 * - `elsewhere`: it joined another kernel that it reads; `stored`: several kernels read what is
 *   stored once; `again`: a kernel would compute it again for each element of a product
 */
export type Why =
  | "off"
  | "bindings"
  | "begins"
  | "regions"
  | "room"
  | "row"
  | "loops"
  | "coordinates"
  | "level"
  | "cycle"
  | "elsewhere"
  | "stored"
  | "again";

export interface Reason {
  readonly why: Why;
  readonly text: string;
  /** The node at which they part, where that is neither of the two. */
  readonly at?: Tensor;
}

/** Reasons by node and by the group that did not take it; filled while fusion runs. */
export class Refusals {
  readonly #reasons = new Map<Tensor, Map<Group, Reason>>();

  /** What `Fusion.refused` calls. */
  readonly note = (fusion: Fusion, group: Group, node: Tensor): void => {
    const reasons = this.#reasons.get(node) ?? new Map<Group, Reason>();
    this.#reasons.set(node, reasons.set(group, refusalOf(fusion, group, node)));
  };

  of(group: Group, node: Tensor): Reason | undefined {
    return this.#reasons.get(node)?.get(group);
  }
}

/** What both sides of an edge between two kernels are. */
export interface Edge {
  readonly stored: Tensor;
  readonly maker: Group;
  /** The member of `by` that reads it, directly or through what is inlined. */
  readonly reader: Tensor;
  readonly by: Group;
}

/** Why `reader` is not in the kernel that stores what it reads; `fusion` is absent in regions. */
export function whyApart(edge: Edge, refusals: Refusals, fusion: Fusion | undefined): Reason {
  const { stored, maker, reader, by } = edge;
  if (fusion && !fusion.on) return { why: "off", text: "fusion is off: one kernel a node" };
  if (fusion?.relief.barriers.has(reader) || fusion?.relief.cuts.has(reader))
    return overBindings(reader, fusion);
  if (maker.kind === "control" || by.kind === "control")
    return { why: "regions", text: "control flow runs kernels of its own" };
  const refused = refusals.of(maker, reader);
  if (refused) return refused;
  const { family } = opRecord(reader.op);
  if (isBeginning(by, reader)) return beginning(reader);
  if (family === "reduce" && maker.kind !== "rows" && maker.kind !== "scan")
    return {
      why: "loops",
      text: `${reader.op} joins a kernel that loops over rows, ${nameOf(maker)} is a ${maker.kind}`,
    };
  if (fusion?.relief.forced.has(stored)) return overBindings(stored, fusion);
  // What was settled after its readers was opened after them.
  if (maker.kind === "map" && maker.id > by.id) return settled(stored, by, maker);
  return {
    why: "elsewhere",
    text: `${reader.op} joined ${nameOf(by)} first, and a node is in one kernel`,
  };
}

const overBindings = (t: Tensor, { limits }: Fusion): Reason => ({
  why: "bindings",
  text: `the kernel of ${t.op} would bind more than ${limits.bindings} tensors, which the target does not allow`,
});

const isBeginning = (by: Group, t: Tensor): boolean =>
  by.kind === "attention" || by.anchor === t || opRecord(t.op).family === "contraction";

function beginning(t: Tensor): Reason {
  const { family } = opRecord(t.op);
  const reads =
    family === "contraction" || family === "reduce"
      ? "it reads each element of its operands many times"
      : "it reads and writes in an order of its own";
  return { why: "begins", text: `${t.op} begins a kernel: ${reads}` };
}

function settled(stored: Tensor, by: Group, maker: Group): Reason {
  const readers = maker.users.size;
  if (readers > 1)
    return {
      why: "stored",
      text: `${readers} kernels read ${stored.op}: it is stored once, not computed in each`,
    };
  return {
    why: "again",
    text: `${nameOf(by)} would compute ${stored.op} again for every element of its result`,
  };
}

/** Why fusion did not put `node` into `group`, seen from where it decided. */
function refusalOf(fusion: Fusion, group: Group, node: Tensor): Reason {
  if (group.kind === "control")
    return { why: "regions", text: "control flow runs kernels of its own" };
  if (!hasRoom(fusion, group, node))
    return {
      why: "room",
      text: `the kernel is full: it computes ${group.computed.size} nodes and reads ${group.reads.size} tensors`,
    };
  const pointwise = isPointwise(node) && !isScan(node);
  return pointwise ? pointwiseRefusal(fusion, group, node) : reduceRefusal(fusion, group, node);
}

function pointwiseRefusal(fusion: Fusion, group: Group, node: Tensor): Reason {
  const waiting = waitsFor(fusion, group, node);
  if (waiting) return cycle(waiting);
  const places = candidates(fusion, group, node);
  for (const { coords, level } of places) {
    const parted = partedAt(fusion, group, node, coords, level);
    if (parted) return parted;
  }
  if (tooLong(fusion, group)) return longRow(fusion, group);
  return otherLoops(group, `${node.op} has elements ${printShape(node.shape)}`);
}

function reduceRefusal(fusion: Fusion, group: Group, node: Tensor): Reason {
  const x = node.operands[0]!;
  const { fullSpace } = group;
  const axes = String(node.attrs.axes);
  if (!fullSpace || !sameShape(fullSpace.shape, x.shape) || String(group.axes) !== axes)
    return otherLoops(group, `${node.op} runs over axes [${axes}] of ${printShape(x.shape)}`);
  if (tooLong(fusion, group)) return longRow(fusion, group);
  const waiting = waitsFor(fusion, group, x);
  if (waiting) return cycle(waiting);
  return (
    partedAt(fusion, group, x, fullSpace.coords, "full") ??
    otherLoops(group, `${node.op} runs over axes [${axes}] of ${printShape(x.shape)}`)
  );
}

const tooLong = (fusion: Fusion, group: Group): boolean =>
  group.inner.length > 0 && !withinRow(fusion, group);

const longRow = ({ limits }: Fusion, group: Group): Reason => ({
  why: "row",
  text: `a row of the kernel has ${extentGuess(group.inner)} elements, one workgroup keeps ${limits.row}`,
});

const cycle = (at: Tensor): Reason => ({
  why: "cycle",
  text: `it also reads ${at.op}, of a kernel that waits for this one`,
  at,
});

function otherLoops(group: Group, has: string): Reason {
  const lists = [group.outer, group.inner].map((l) => l.map((x) => printDim(x.extent)).join(","));
  const over = lists[1] ? `[${lists[0]}] and rows of [${lists[1]}]` : `[${lists[0]}]`;
  return { why: "loops", text: `${has}, the kernel loops over ${over}` };
}

/** A stored node whose kernel waits for `group`. */
function waitsFor(fusion: Fusion, group: Group, node: Tensor): Tensor | undefined {
  for (const t of isLeaf(node) ? [] : terminals(fusion, node)) {
    const other = fusion.groupOf.get(t);
    if (other && other !== group && dependsOn(other, group)) return t;
  }
  return undefined;
}

/** Where reading from inside the group fails, if it does. */
function partedAt(
  fusion: Fusion,
  group: Group,
  node: Tensor,
  coords: Parameters<typeof canRead>[3],
  level: Parameters<typeof canRead>[4],
): Reason | undefined {
  let at: Tensor | undefined;
  const floats = (t: Tensor): boolean => !isLeaf(t) && !fusion.groupOf.has(t);
  const see = (t: Tensor, where: typeof coords): boolean => {
    const ok = canRead(fusion, group, t, where, level);
    if (!ok) at ??= t;
    return ok;
  };
  if (!isLeaf(node) && fusion.groupOf.has(node)) see(node, coords);
  else walkAccesses(node, coords, floats, see);
  if (!at) return undefined;
  const place = group.members.get(at);
  if (place && place.level !== level)
    return {
      why: "level",
      text: `it needs ${at.op} in the loops in which the kernel is still computing it`,
      at,
    };
  return {
    why: "coordinates",
    text: `it reads ${at.op} at other coordinates than those at which the kernel computes it`,
    at,
  };
}

/** A group as its kernel will be called, roughly: by its anchor or first member. */
const nameOf = ({ anchor, members }: Group): string =>
  `the kernel of ${(anchor ?? [...members.keys()][0])?.op}`;
