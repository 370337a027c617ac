/**
 * Merges small kernels into others that run anyway: a column sum of an operand of a contraction
 * (the gradient of a bias) runs along with the packing of that operand, products of few rows and
 * scatters of few updates run beside their like, and updates of single numbers (step counters,
 * seeds) beside another kernel. Runs last in fusion.
 */
import {
  type Dim,
  minOfDim,
  sameDim,
  sizeOf,
  substitute,
  symbolsIn,
  type Tensor,
} from "@kiln-ml/ir";
import { aliasRoot, isLeaf, reach, walkAccesses } from "../access.ts";
import { kernels } from "../sizes.ts";
import {
  type ContractionOperand,
  dependsOn,
  type Group,
  type Loop,
  moveDependencies,
} from "./group.ts";
import { terminals } from "./reads.ts";
import type { Fusion, SiblingLimits } from "./state.ts";

/** Two groups neither of which waits for the other. */
export const independent = (a: Group, b: Group): boolean => !dependsOn(a, b) && !dependsOn(b, a);

/** A kernel over no elements is not run at all, so it can carry nothing. */
const surelyRuns = (g: Group): boolean =>
  [...g.outer, ...(g.kind === "scan" ? g.inner : [])].every((l) => minOfDim(l.extent) >= 1);

/** True if this group was found to be too much for the kernel that it ran beside. */
export const isApart = (state: Fusion, g: Group): boolean =>
  [...g.members.keys()].some((m) => state.relief.apart.has(m));

export function fuseOperandReductions(state: Fusion): void {
  const hosts = state.groups.filter(
    (g) => g.kind === "contraction" && g.siblings.length === 0 && surelyRuns(g),
  );
  if (hosts.length === 0) return;
  const reads = readsOf(state);
  const reading = new Map<Tensor, Group[]>();
  for (const host of hosts) {
    if (host.contraction!.batch.length > 0) continue;
    for (const t of reads.of.get(host.anchor!)!) {
      const list = reading.get(t);
      if (list) list.push(host);
      else reading.set(t, [host]);
    }
  }
  for (const sums of [...state.groups]) {
    if (!isPlainSum(sums) || isApart(state, sums)) continue;
    const source = sourceOf(state, sums);
    if (!source) continue;
    // Networks have many contractions, and few read what is summed.
    for (const host of reading.get(source.tensor) ?? []) {
      if (!independent(sums, host)) continue;
      const found = matchSide(state, source, sums, host);
      if (!found) continue;
      if (!bindable(state, reads, host, sums)) continue;
      host.operandReductions.push({ ...found, group: sums });
      absorb(state, host, sums);
      break;
    }
  }
}

/** A group, and all that runs beside its members in its kernel. */
const partsOf = (g: Group): Group[] => [g, ...g.guests, ...g.operandReductions.map((s) => s.group)];

/** Everything that waited for `part`, or that `part` waited for, is now about `host`. */
export function absorb(state: Fusion, host: Group, part: Group): void {
  moveDependencies(part, host);
  for (const g of partsOf(part)) for (const m of g.members.keys()) state.groupOf.set(m, host);
  state.groups.splice(state.groups.indexOf(part), 1);
}

/**
 * A group of plain sums over one operand, with pointwise nodes of the result's shape after them.
 */
function isPlainSum(g: Group): boolean {
  if (g.kind !== "rows" || !g.fullSpace) return false;
  let reduces = 0;
  for (const [m, p] of g.members) {
    if (p.level !== "outer") return false;
    if (m.op === "reduceSum") reduces++;
    else if (m.op.startsWith("reduce") || m.op.startsWith("arg")) return false;
  }
  return reduces === 1;
}

type Match = Pick<Group["operandReductions"][number], "operand" | "rename">;

interface Source {
  readonly tensor: Tensor;
  readonly coords: readonly Dim[];
}

/** The stored elements that a plain sum adds up. */
function sourceOf(state: Fusion, sums: Group): Source | undefined {
  const reduce = [...sums.members.keys()].find((t) => t.op === "reduceSum")!;
  return onlyAccess(state, reduce.operands[0]!, sums.fullSpace!.coords);
}

function matchSide(state: Fusion, source: Source, sums: Group, host: Group): Match | undefined {
  const { a, b, m, n, k } = host.contraction!;
  for (const [name, operand, outer] of [
    ["a", a, m],
    ["b", b, n],
  ] as const) {
    const rename = matchOperand(state, source, operand, sums, outer, k);
    if (rename) return { operand: name, rename };
  }
  return undefined;
}

/** The one stored element that an element of `t` equals, if it is that element unchanged. */
function onlyAccess(state: Fusion, t: Tensor, coords: readonly Dim[]): Source | undefined {
  const found: Source[] = [];
  let pure = true;
  reach(
    t,
    coords,
    (x) => {
      const inlined = !isLeaf(x) && !state.groupOf.has(x);
      // Arithmetic, padding and joining change the value or choose between values.
      if (inlined && !["transpose", "reshape", "broadcastInDim", "reverse"].includes(x.op))
        pure = false;
      return inlined;
    },
    (tensor, at) => found.push({ tensor, coords: at }),
  );
  return pure && found.length === 1 ? found[0] : undefined;
}

/**
 * The renaming of the sum's loops to the contraction's, one to one, if both read the same elements.
 * Loops are paired by the coordinates that depend on one loop each, so that heads put side by side,
 * whose elements stand at i / 8 and i mod 8, are summed as well; then all coordinates must agree.
 */
function matchOperand(
  state: Fusion,
  source: Source,
  operand: ContractionOperand,
  sums: Group,
  outer: readonly Loop[],
  k: readonly Loop[],
): Map<string, Dim> | undefined {
  if (operand.when.length > 0) return undefined;
  const own = onlyAccess(state, operand.operand, operand.coords);
  if (own?.tensor !== source.tensor) return undefined;
  const reduced = [...sums.members.keys()].find((t) => t.op === "reduceSum")!.operands[0];
  const pairs = [
    ...zipped(source.coords, own.coords),
    // The axes of one node, whose element may stand where several loops say.
    ...(reduced === operand.operand ? zipped(sums.fullSpace!.coords, operand.coords) : []),
  ];
  const rename = new Map<string, Dim>();
  const taken = new Set<string>();
  for (const [x, y] of pairs) {
    const [from, to] = [onlySymbol(x), onlySymbol(y)];
    if (!from || !to || rename.has(from)) continue;
    const inner = sums.inner.some((l) => l.name === from);
    const loop = [...sums.inner, ...sums.outer].find((l) => l.name === from);
    const target = (inner ? k : outer).find((l) => l.name === to);
    if (!loop || !target || taken.has(to) || !sameDim(target.extent, loop.extent)) return undefined;
    rename.set(from, target.at);
    taken.add(to);
  }
  const runs = (l: Loop): boolean => !sameDim(l.extent, 1);
  // Each loop of both: a sum over copies of an element takes that element several times.
  const both = [...outer, ...k].filter(runs).every((l) => taken.has(l.name));
  const all = [...sums.outer, ...sums.inner].filter(runs).every((l) => rename.has(l.name));
  const agree = source.coords.every((c, i) => sameDim(substitute(c, rename), own.coords[i]!));
  return both && all && agree ? rename : undefined;
}

const zipped = (a: readonly Dim[], b: readonly Dim[]): (readonly [Dim, Dim])[] =>
  a.map((x, i) => [x, b[i]!]);

/** The one loop that a coordinate depends on. */
function onlySymbol(d: Dim): string | undefined {
  const symbols = [...symbolsIn(d).keys()];
  return symbols.length === 1 ? symbols[0] : undefined;
}

/**
 * What each member reads, and the other way round; true while no node comes to be stored or ceases
 * to be.
 */
export interface Reads {
  readonly of: ReadonlyMap<Tensor, ReadonlySet<Tensor>>;
  readonly readers: ReadonlyMap<Tensor, readonly Tensor[]>;
  /**
   * The tensor whose binding a node takes: what it lies in, or the parameter that it is likely to
   * overwrite.
   */
  heldBy(t: Tensor): Tensor;
}

export function readsOf(state: Fusion): Reads {
  const of = new Map<Tensor, ReadonlySet<Tensor>>();
  const readers = new Map<Tensor, Tensor[]>();
  for (const m of state.groupOf.keys()) {
    const read = terminals(state, m);
    of.set(m, read);
    for (const t of read) {
      const list = readers.get(t);
      if (list) list.push(m);
      else readers.set(t, [m]);
    }
  }
  const updated = new Map<Tensor, Tensor>();
  for (const [param, value] of state.program.updates) {
    const root = aliasRoot(value);
    if (!updated.has(root)) updated.set(root, param);
  }
  const heldBy = (t: Tensor): Tensor => {
    const whole = state.storedIn.get(t)?.tensor ?? t;
    return updated.get(whole) ?? whole;
  };
  return { of, readers, heldBy };
}

/** True if one kernel of both groups would bind no more tensors than the target allows. */
export function bindable(state: Fusion, reads: Reads, a: Group, b: Group): boolean {
  const most = Math.min(state.limits.bindings, kernels.mostBeside);
  const all = new Set([...bindingsOf(state, reads, a), ...bindingsOf(state, reads, b)]);
  return all.size <= most;
}

/** The tensors a kernel of this group would bind. */
function bindingsOf(state: Fusion, reads: Reads, group: Group): Set<Tensor> {
  const out = new Set<Tensor>();
  for (const part of partsOf(group))
    for (const m of part.members.keys()) {
      for (const t of reads.of.get(m)!) if (!part.members.has(t)) out.add(reads.heldBy(t));
      const own = state.groupOf.get(m);
      const outside = reads.readers.get(m)?.some((r) => state.groupOf.get(r) !== own);
      if (state.required.has(m) || outside) out.add(reads.heldBy(m));
    }
  return out;
}

/**
 * Lets products of few rows run beside one of the same left operand, such as queries beside keys
 * and values, and scatters of few updates beside each other, where neither waits for the other:
 * they are launches that memory does not make up for.
 */
export function fuseBeside(state: Fusion): void {
  const { siblings: limits } = state.limits;
  if (!limits) return;
  const isAlone = (g: Group): boolean => isApart(state, g) || !surelyRuns(g);
  const parts = state.groups.filter((g) => besideKey(g, limits) !== undefined && !isAlone(g));
  if (parts.length < 2) return;
  const [isFree, reads] = [freedom(state), readsOf(state)];
  const hosts = new Map<Tensor | "scatter", Group[]>();
  for (const part of parts) {
    const key = besideKey(part, limits)!;
    const known = hosts.get(key) ?? [];
    hosts.set(key, known);
    const host = known.find(
      (g) => independent(g, part) && isFree(g, part) && bindable(state, reads, g, part),
    );
    if (!host) {
      known.push(part);
      continue;
    }
    host.guests.push(part);
    absorb(state, host, part);
  }
}

/** What groups have in common that run beside each other. */
function besideKey(g: Group, limits: SiblingLimits): Tensor | "scatter" | undefined {
  const few = (d: Dim): boolean => typeof d === "number" && d <= limits.sums;
  if (g.kind === "scatter")
    return few(sizeOf(g.anchor!.operands[2]!.shape)) ? "scatter" : undefined;
  const c = g.contraction;
  if (!c || g.operandReductions.length > 0) return undefined;
  const extents = (loops: readonly Loop[]): Dim => sizeOf(loops.map((l) => l.extent));
  const isSuited = few(extents(c.m)) && minOfDim(extents(c.n)) >= limits.columns;
  return isSuited ? c.a.operand : undefined;
}

/**
 * Lets updates of single numbers, or few, run beside another kernel that neither needs them nor is
 * needed by them.
 */
export function fuseGuests(state: Fusion): void {
  const most = state.limits.guestElements ?? 1;
  const isSmall = (t: Tensor): boolean => {
    const size = sizeOf(t.shape);
    return typeof size === "number" && size >= 1 && size <= most;
  };
  const isPart = (g: Group): boolean => g.kind === "map" && [...g.members.keys()].every(isSmall);
  const isFree = freedom(state);
  // Ordinary groups are tried as hosts first: a guest group that hosts another could be absorbed
  // later, and its own guests would be lost.
  const [parts, others] = [state.groups.filter(isPart), state.groups.filter((g) => !isPart(g))];
  const hosts = [...others, ...parts];
  if (parts.length === 0) return;
  const reads = readsOf(state);
  for (const part of parts) {
    if (part.guests.length || isApart(state, part)) continue;
    const host = hosts.find(
      (g) =>
        g !== part &&
        g.kind !== "scatter" &&
        g.kind !== "sort" &&
        g.kind !== "control" &&
        surelyRuns(g) &&
        independent(g, part) &&
        isFree(g, part) &&
        bindable(state, reads, g, part),
    );
    if (!host) continue;
    hosts.splice(hosts.indexOf(part), 1);
    host.guests.push(part);
    absorb(state, host, part);
  }
}

/**
 * Tells whether neither of two overwrites what the other reads: they are to run at the same time.
 */
export function freedom(state: Fusion): (host: Group, part: Group) => boolean {
  const params = new Map(state.program.updates.map(([p, value]) => [aliasRoot(value), p] as const));
  for (const [t, { tensor }] of state.storedIn)
    if (params.has(tensor)) params.set(t, params.get(tensor)!);
  const overwrites = (a: Group, b: Group): boolean => {
    const written = new Set([...a.members.keys()].flatMap((m) => params.get(m) ?? []));
    return written.size > 0 && [...leavesOf(state, b)].some((t) => written.has(t));
  };
  return (host, part) =>
    partsOf(host).every((a) => partsOf(part).every((b) => !overwrites(a, b) && !overwrites(b, a)));
}

function leavesOf(state: Fusion, group: Group): Set<Tensor> {
  const out = new Set<Tensor>();
  for (const [m, p] of group.members)
    walkAccesses(
      m,
      p.coords,
      (t) => !isLeaf(t) && !state.groupOf.has(t),
      (t) => {
        if (isLeaf(t)) out.add(t);
      },
    );
  for (const m of group.members.keys())
    for (const t of terminals(state, m)) if (isLeaf(t)) out.add(t);
  return out;
}
