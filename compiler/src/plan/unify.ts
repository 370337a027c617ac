/**
 * Gives kernel parameters that lie in one place one name: a value that overwrites a parameter it
 * was computed from is read and written through a single binding. Stores that stand together then
 * take their values first. What does not change is not stored (`only-changes.ts`): a scatter copies
 * its operand before it combines, and in place only the combined elements are touched.
 */
import { type BufferRef, packedBytes } from "@kiln-ml/artifact";
import { addDim, ceilDiv, type Dim, minDim, mulDim, subDim } from "@kiln-ml/ir";
import type { Kernel, Param, Stmt } from "../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../kernel/map.ts";
import { onlyChanges } from "./only-changes.ts";

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
  const renamed = renameStmts(kernel.body, rename);
  const body = onlyChanges(renamed, kernel.dims);
  const shared = new Set(rename.values());
  return {
    ...kernel,
    params: merged.filter((_, i) => first[i] === i),
    body: valuesFirst(body, shared),
    bytes: body === renamed ? kernel.bytes : subDim(kernel.bytes, untouched(merged, body, shared)),
  };
}

/**
 * Bytes that are neither read nor written since elements stay as they are: of each shared
 * parameter, which counted as read and as written, all but what the stores that are left go over.
 */
function untouched(
  params: readonly Param[],
  body: readonly Stmt[],
  shared: ReadonlySet<string>,
): Dim {
  let bytes: Dim = 0;
  for (const name of shared) {
    const p = params.find((q) => q.name === name)!;
    const left = subDim(p.size, minDim(p.size, storesTo(name, body)));
    bytes = addDim(bytes, mulDim(left, 2 * packedBytes(p.dtype)));
  }
  return bytes;
}

/** How often a block stores into a parameter, if all conditions hold. */
function storesTo(name: string, body: readonly Stmt[]): Dim {
  let count: Dim = 0;
  for (const s of body) {
    if (s.kind === "store" && s.to === name) count = addDim(count, 1);
    else if (s.kind === "if") count = addDim(count, storesTo(name, s.then));
    else if (s.kind === "loop") {
      const trips = ceilDiv(subDim(s.extent, s.start ?? 0), s.step ?? 1);
      count = addDim(count, mulDim(trips, storesTo(name, s.body)));
    }
  }
  return count;
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
