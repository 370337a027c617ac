/**
 * Orders kernels: each after what it reads, and an update in place after every other kernel that reads the old value. Among
 * what is ready, the one the program wrote first runs first. Decides which updates can happen in place; runs
 * after lower, before plan.
 */
import { type Dim, substitute, type Tensor } from "@kiln-ml/ir";
import { aliasRoot } from "../access.ts";
import type { Group } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import type { Lowered } from "../lower/lower.ts";
import { walkStmts } from "../lower/walk.ts";
import { type Program, rootsOf } from "../program.ts";

export interface Ordered {
  readonly kernels: readonly Lowered[];
  /** Updated parameters by the stored value that may overwrite them where they lie. */
  readonly inPlace: ReadonlyMap<Tensor, Tensor>;
}

export function order(program: Program, kernels: readonly Lowered[]): Ordered {
  const owner = new Map<Tensor, Lowered>();
  const writersOf = new Map<Tensor, Set<Lowered>>();
  for (const k of kernels)
    for (const [node, whole] of k.writes) {
      owner.set(node, k);
      writersOf.set(whole, (writersOf.get(whole) ?? new Set()).add(k));
    }
  const before = new Map<Lowered, Set<Lowered>>(kernels.map((k) => [k, new Set()]));
  const readers = new Map<Tensor, Set<Lowered>>();
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
    const writers = [...(writersOf.get(root) ?? [])];
    const writer = writers[0];
    if (
      !writer ||
      writers.length > 1 ||
      wanted.has(param) ||
      inPlace.has(root) ||
      !alignedUpdate(writer, param, root)
    )
      continue;
    const others = [...(readers.get(param) ?? [])].filter((r) => r !== writer);
    if (others.some((r) => reaches(before, r, writer))) continue;
    for (const r of others) before.get(writer)!.add(r);
    inPlace.set(root, param);
  }
  return { kernels: sorted(kernels, before), inPlace };
}

/** True if `from` must run after `to`. */
function reaches(
  before: ReadonlyMap<Lowered, ReadonlySet<Lowered>>,
  from: Lowered,
  to: Lowered,
  seen: Set<Lowered> = new Set(),
): boolean {
  for (const k of before.get(from)!) {
    if (k === to) return true;
    if (seen.has(k)) continue;
    seen.add(k);
    if (reaches(before, k, to, seen)) return true;
  }
  return false;
}

/**
 * True if the kernel reads the parameter only at elements that it overwrites, each before it is overwritten. Elements are
 * told apart by their index expressions: a kernel stores each element of a tensor once.
 */
function alignedUpdate(writer: Lowered, param: Tensor, value: Tensor): boolean {
  const { params, body } = writer.kernel;
  const nameOf = (t: Tensor) => params[writer.tensors.indexOf(t)]?.name;
  const [reads, writes] = [nameOf(param), nameOf(value)];
  if (reads === undefined) return true;
  const loads = loadsIn(body, reads);
  const stores = storesIn(body, writes!);
  if (loads.guarded || [...loads.at].some((index) => !stores.has(index))) return false;
  return !readAfter(body, reads, writes!);
}

/** The places of a buffer that statements load, with index variables replaced by what they are bound to. */
function loadsIn(stmts: readonly Stmt[], name: string): { at: Set<string>; guarded: boolean } {
  const at = new Set<string>();
  const bound = new Map<string, Dim>();
  let guarded = false;
  walkStmts(stmts, {
    stmt: (s) => bindIndex(s, bound),
    expr: (e) => {
      if (e.kind !== "load" || e.from !== name) return;
      at.add(String(substitute(e.index, bound)));
      guarded ||= e.guard.length > 0;
    },
  });
  return { at, guarded };
}

function bindIndex(s: Stmt, bound: Map<string, Dim>): void {
  if (s.kind === "letIndex") bound.set(s.name, substitute(s.value, bound));
}

function storesIn(stmts: readonly Stmt[], name: string): Set<string> {
  const at = new Set<string>();
  const bound = new Map<string, Dim>();
  walkStmts(stmts, {
    stmt: (s) => {
      bindIndex(s, bound);
      if (s.kind === "store" && s.to === name) at.add(String(substitute(s.index, bound)));
    },
  });
  return at;
}

/** True if a block reads an element in a statement after one that overwrites it, other than by stores beside it. */
function readAfter(body: readonly Stmt[], reads: string, writes: string): boolean {
  const written = new Set<string>();
  let lastStore = false;
  for (const s of body) {
    const beside = s.kind === "store" && lastStore;
    if (!beside && [...loadsIn([s], reads).at].some((index) => written.has(index))) return true;
    for (const index of storesIn([s], writes)) written.add(index);
    lastStore = s.kind === "store";
    const inner = s.kind === "loop" ? s.body : s.kind === "if" ? s.then : [];
    if (readAfter(inner, reads, writes)) return true;
  }
  return false;
}

const priority = (g: Group): number => Math.min(...[...g.members.keys()].map((t) => t.id));

function sorted(
  kernels: readonly Lowered[],
  before: ReadonlyMap<Lowered, ReadonlySet<Lowered>>,
): Lowered[] {
  const left = new Set([...kernels].sort((a, b) => priority(a.group) - priority(b.group)));
  const done = new Set<Lowered>();
  const out: Lowered[] = [];
  while (left.size) {
    const next = [...left].find((k) => [...before.get(k)!].every((b) => done.has(b)));
    if (!next) throw new Error("order: kernels wait for each other");
    left.delete(next);
    done.add(next);
    out.push(next);
  }
  return out;
}
