/**
 * Gives kernel parameters that lie in one place one name: a value that overwrites a parameter it
 * was computed from is read and written through a single binding. Stores that stand together then
 * take their values first.
 */
import type { BufferRef } from "@kiln-ml/artifact";
import type { Kernel, Param, Stmt } from "../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../kernel/map.ts";

export interface Unified {
  readonly kernel: Kernel;
  readonly args: readonly BufferRef[];
}

/**
 * Unifies each kernel's parameters; a kernel that stands there several times, with equal ones in
 * one place, once.
 */
export function unifyKernels(
  kernels: readonly Kernel[],
  places: readonly (readonly BufferRef[])[],
): Unified[] {
  const known = new Map<Kernel, Map<string, Kernel>>();
  return kernels.map((kernel, i) => {
    const first = firstInPlace(places[i]!);
    const made = known.get(kernel) ?? new Map<string, Kernel>();
    known.set(kernel, made);
    const unified = made.get(first.join()) ?? unifyParams(kernel, first);
    made.set(first.join(), unified);
    return { kernel: unified, args: places[i]!.filter((_, p) => first[p] === p) };
  });
}

/** For each place, the first that is the same. */
function firstInPlace(places: readonly BufferRef[]): number[] {
  const keys = places.map((p) => `${p.in} ${p.index}`);
  return keys.map((key) => keys.indexOf(key));
}

/** The kernel with one parameter for those that have the same first one. */
function unifyParams(kernel: Kernel, first: readonly number[]): Kernel {
  const rename = new Map<string, string>();
  const merged = [...kernel.params];
  kernel.params.forEach((p, i) => {
    const to = first[i]!;
    if (to === i) return;
    const kept = merged[to]!;
    rename.set(p.name, kept.name);
    const access = kept.access === p.access ? kept.access : "readwrite";
    merged[to] = { ...kept, access, width: Math.min(kept.width, p.width) as Param["width"] };
  });
  if (rename.size === 0) return kernel;
  return {
    ...kernel,
    params: merged.filter((_, i) => first[i] === i),
    body: valuesFirst(renameStmts(kernel.body, rename), new Set(rename.values())),
  };
}

const renameStmts = (body: readonly Stmt[], by: ReadonlyMap<string, string>): Stmt[] =>
  mapStmts(body, { memory: (name) => by.get(name) ?? name });

/** In a run of neighbouring stores that overwrites what its values read, values before stores. */
function valuesFirst(
  stmts: readonly Stmt[],
  shared: ReadonlySet<string>,
  names = { next: 0 },
): Stmt[] {
  const out: Stmt[] = [];
  for (let i = 0; i < stmts.length; i++) {
    const s = stmts[i]!;
    if (s.kind === "store") {
      const run: Extract<Stmt, { kind: "store" }>[] = [];
      for (let x: Stmt | undefined = s; x?.kind === "store"; x = stmts[i + run.length]) run.push(x);
      i += run.length - 1;
      if (run.length === 1 || !run.some((r) => shared.has(r.to))) out.push(...run);
      else out.push(...storedLater(run, names));
    } else out.push(mapBlock(s, (inner) => valuesFirst(inner, shared, names)));
  }
  return out;
}

function storedLater(run: readonly Extract<Stmt, { kind: "store" }>[], names: { next: number }) {
  const lets: Stmt[] = [];
  const stores = run.map((s): Stmt => {
    const name = `new${names.next++}`;
    lets.push({ kind: "let", name, value: s.value });
    return { ...s, value: { kind: "ref", name, dtype: s.value.dtype } };
  });
  return [...lets, ...stores];
}
