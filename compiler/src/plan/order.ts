/**
 * Orders kernels: each after what it reads, and an update in place after every other kernel that
 * reads the old value. Among what is ready, one that takes no memory runs first, then the one the
 * program wrote first. Decides which updates can happen in place; runs after lower,
 * before plan.
 */
import { bug, type Dim, keyOfDim, sameDim, substitute, symbolsIn, type Tensor } from "@kiln-ml/ir";
import { aliasRoot } from "../access.ts";
import type { Group } from "../fuse/group.ts";
import type { Expr, Kernel, Stmt } from "../kernel/kernel.ts";
import { exprsOf } from "../kernel/parts.ts";
import { walkExpr } from "../kernel/walk.ts";
import type { Lowered } from "../lower/lower.ts";
import { type Program, rootsOf } from "../program.ts";
import { Ready } from "./ready.ts";

export interface Ordered {
  readonly kernels: readonly Lowered[];
  /** Updated parameters by the stored value that may overwrite them where they lie. */
  readonly inPlace: ReadonlyMap<Tensor, Tensor>;
}

/** What order asks of a kernel, or of a group that is to become one. */
export interface Orderable {
  readonly reads: ReadonlySet<Tensor>;
  readonly writes: ReadonlyMap<Tensor, Tensor>;
  /** Nothing is known of where its statements read. */
  readonly opaque: boolean;
  /** Whether each element of a parameter is read only where the value overwrites it. */
  aligned(param: Tensor, value: Tensor): boolean;
}

export function order(program: Program, kernels: readonly Lowered[]): Ordered {
  const asked = kernels.map(
    (k): Orderable => ({
      reads: k.reads,
      writes: k.writes,
      opaque: k.control !== undefined || k.kernel.custom !== undefined,
      aligned: (param, value) => alignedUpdate(k, param, value),
    }),
  );
  const { before, inPlace } = updatesInPlace(program, asked);
  const of = new Map(asked.map((a, i) => [a, kernels[i]!] as const));
  const waits = new Map(
    [...before].map(([k, set]) => [of.get(k)!, new Set([...set].map((b) => of.get(b)!))] as const),
  );
  return { kernels: sorted(kernels, waits, lastingOf(program, inPlace)), inPlace };
}

/** What has memory of its own, or is still asked for in the end. */
const lastingOf = (program: Program, inPlace: ReadonlyMap<Tensor, Tensor>): Set<Tensor> =>
  new Set([...rootsOf(program).map(aliasRoot), ...inPlace.keys()]);

/** What each kernel waits for, and which values overwrite parameters. */
export function updatesInPlace(
  program: Program,
  kernels: readonly Orderable[],
): { before: Map<Orderable, Set<Orderable>>; inPlace: Map<Tensor, Tensor> } {
  const owner = new Map<Tensor, Orderable>();
  const writersOf = new Map<Tensor, Set<Orderable>>();
  for (const k of kernels)
    for (const [node, whole] of k.writes) {
      owner.set(node, k);
      writersOf.set(whole, (writersOf.get(whole) ?? new Set()).add(k));
    }
  const before = new Map<Orderable, Set<Orderable>>(kernels.map((k) => [k, new Set()]));
  const readers = new Map<Tensor, Set<Orderable>>();
  for (const k of kernels)
    for (const t of k.reads) {
      readers.set(t, (readers.get(t) ?? new Set()).add(k));
      const from = owner.get(t);
      if (from && from !== k) before.get(k)!.add(from);
    }
  const inPlace = new Map<Tensor, Tensor>();
  // A parameter whose old value is itself asked for is overwritten last of all, by a copy.
  const wanted = new Set(rootsOf(program).map(aliasRoot));
  for (const [param, value] of program.updates) {
    const root = aliasRoot(value);
    const [writer, ...more] = writersOf.get(root) ?? [];
    if (!writer || more.length > 0 || writer.opaque) continue;
    if (wanted.has(param) || inPlace.has(root) || !writer.aligned(param, root)) continue;
    const others = [...(readers.get(param) ?? [])].filter((r) => r !== writer);
    if (others.some((r) => reaches(before, r, writer))) continue;
    for (const r of others) before.get(writer)!.add(r);
    inPlace.set(root, param);
  }
  return { before, inPlace };
}

/** True if `from` must run after `to`. */
function reaches(
  before: ReadonlyMap<Orderable, ReadonlySet<Orderable>>,
  from: Orderable,
  to: Orderable,
): boolean {
  const seen = new Set(before.get(from)!);
  for (const k of seen) {
    if (k === to) return true;
    for (const b of before.get(k)!) seen.add(b);
  }
  return false;
}

/**
 * True if the kernel reads the parameter only at elements that it overwrites, each before it is
 * overwritten. Elements are told apart by their index expressions: a kernel stores each element of
 * a tensor once.
 */
export function alignedUpdate(writer: Lowered, param: Tensor, value: Tensor): boolean {
  const nameOf = (t: Tensor) => writer.kernel.params[writer.tensors.indexOf(t)]?.name;
  const [reads, writes] = [nameOf(param), nameOf(value)];
  return reads === undefined || alignedIn(writer.kernel, reads, writes!);
}

/** By kernel, what was found of pairs of its buffers: groups of one structure share theirs. */
const aligned = new WeakMap<Kernel, Map<string, boolean>>();

function alignedIn(kernel: Kernel, reads: string, writes: string): boolean {
  const known = aligned.get(kernel) ?? new Map<string, boolean>();
  aligned.set(kernel, known);
  const key = `${reads} ${writes}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const touched = touchedIn(kernel.body, { reads, writes, bound: new Map() }, []);
  const holds = touched !== undefined && [...touched.loads].every((at) => touched.stores.has(at));
  known.set(key, holds);
  return holds;
}

interface Buffers {
  readonly reads: string;
  readonly writes: string;
  /** Index variables by what they are bound to; filled on the way. */
  readonly bound: Map<string, Dim>;
}

/** The elements that a block reads of one buffer and overwrites in another, by key. */
interface Touched {
  readonly loads: Set<string>;
  readonly stores: Set<string>;
}

/**
 * What a block touches. Undefined if it cannot be said that each element is read before it is
 * overwritten. That is so where a read
 * - stands in a statement after the store, other than in another store of the same run of stores;
 * - depends on a guard, and is not of the element that its statement stores;
 * - stands in a block without the store, and iterations of the loops around it read one element:
 *   one may overwrite what the next has to read, and on a GPU nothing holds them in order.
 */
function touchedIn(
  body: readonly Stmt[],
  of: Buffers,
  around: readonly string[],
): Touched | undefined {
  const [loads, stores] = [new Set<string>(), new Set<string>()];
  const here = new Map<string, Dim>();
  const inside = [...around];
  let lastStore = false;
  /** What was overwritten before the run of stores at hand. */
  let earlier: ReadonlySet<string> = new Set();
  for (const s of body) {
    if (s.kind === "letIndex") of.bound.set(s.name, substitute(s.value, of.bound));
    if (s.kind === "letInvocation" || s.kind === "letSubgroup") inside.push(s.name);
    const touched = touchedBy(s, of, inside, here);
    if (!touched) return undefined;
    if (s.kind === "store" && !lastStore) earlier = new Set(stores);
    const overwritten = s.kind === "store" ? earlier : stores;
    for (const index of touched.loads) {
      if (overwritten.has(index)) return undefined;
      loads.add(index);
    }
    for (const index of touched.stores) stores.add(index);
    lastStore = s.kind === "store";
  }
  for (const [key, index] of here)
    if (!stores.has(key) && !tellsApart(index, inside)) return undefined;
  return { loads, stores };
}

/**
 * What one statement touches; the elements it reads itself, rather than in a block, are added to
 * `here`.
 */
function touchedBy(
  s: Stmt,
  of: Buffers,
  around: readonly string[],
  here: Map<string, Dim>,
): Touched | undefined {
  if (s.kind === "if") return touchedIn(s.then, of, around);
  if (s.kind === "loop")
    return touchedIn(s.body, of, s.extent === 1 ? around : [...around, s.name]);
  const own = loadsOf(s).filter((e) => e.from === of.reads);
  const isOwn = (e: Load): boolean =>
    s.kind === "store" && s.to === of.writes && sameDim(e.index, s.index);
  if (own.some((e) => e.guard.length > 0 && !isOwn(e))) return undefined;
  const loads = new Set<string>();
  for (const e of own) {
    const index = substitute(e.index, of.bound);
    loads.add(keyOfDim(index));
    here.set(keyOfDim(index), index);
  }
  const stored = s.kind === "store" && s.to === of.writes;
  return { loads, stores: new Set(stored ? [keyOfDim(substitute(s.index, of.bound))] : []) };
}

/**
 * True if the index speaks of every one of these variables, as one does that differs between their
 * values.
 */
function tellsApart(index: Dim, variables: readonly string[]): boolean {
  const symbols = symbolsIn(index);
  return variables.every((name) => symbols.has(name));
}

type Load = Extract<Expr, { kind: "load" }>;
const loads = new WeakMap<Stmt, readonly Load[]>();

/**
 * The loads in a statement's expressions; remembered, since a step updates several states in one
 * kernel.
 */
function loadsOf(s: Stmt): readonly Load[] {
  const known = loads.get(s);
  if (known) return known;
  const found: Load[] = [];
  const seen = new Set<Expr>();
  const expr = (e: Expr): void => {
    if (e.kind === "load") found.push(e);
  };
  for (const e of exprsOf(s)) walkExpr(e, { expr }, seen);
  loads.set(s, found);
  return found;
}

function priority({ members }: Group): number {
  let least = Infinity;
  for (const t of members.keys()) least = Math.min(least, t.id);
  return least;
}

/**
 * Where values are computed again to save memory, what nothing waits for runs as soon as it can: a
 * weight's gradient is the last to read them, and takes no memory but its own place.
 */
const computesAgain = ({ computed }: Group): boolean => {
  for (const t of computed) if (t.op === "after") return true;
  return false;
};

function sorted(
  kernels: readonly Lowered[],
  before: ReadonlyMap<Lowered, ReadonlySet<Lowered>>,
  lasting: ReadonlySet<Tensor>,
): Lowered[] {
  const priorities = new Map(kernels.map((k) => [k, priority(k.group)] as const));
  const wanted = [...kernels].sort((a, b) => priorities.get(a)! - priorities.get(b)!);
  const rank = new Map(wanted.map((k, i) => [k, i] as const));
  const missing = wanted.map((k) => before.get(k)!.size);
  const after = wanted.map((): number[] => []);
  for (const [i, k] of wanted.entries())
    for (const b of before.get(k)!) after[rank.get(b)!]!.push(i);
  const ready = new Ready(wanted, lasting);
  const early = kernels.some(({ group }) => computesAgain(group));
  const add = (i: number) => ready.add(i, early && after[i]!.length === 0);
  for (const [i, n] of missing.entries()) if (n === 0) add(i);
  const out: Lowered[] = [];
  for (let i = ready.take(); i !== undefined; i = ready.take()) {
    out.push(wanted[i]!);
    for (const later of after[i]!) if (--missing[later]! === 0) add(later);
  }
  const left = wanted.filter((_, i) => missing[i]! > 0);
  if (left.length)
    bug("order", "kernels wait for each other", left.map((k) => k.kernel.name).join(" "));
  return out;
}
