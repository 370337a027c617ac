/**
 * Chooses loops: merges neighbouring ones wherever every access allows it, decodes a flat index
 * into loop variables.
 */
import {
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  sizeOf,
  stridesOf,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { LoopKind, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";

export const renamed = (dims: readonly Dim[], by: Rename): Dim[] =>
  by.size === 0 ? [...dims] : dims.map((d) => substitute(d, by));

/** Nested loops around a body, the first outermost. */
export const nest = (loops: readonly Loop[], kind: LoopKind, body: readonly Stmt[]): Stmt[] =>
  loops.reduceRight<Stmt[]>(
    (inner, l) => [{ kind: "loop", name: l.name, extent: l.extent, loop: kind, body: inner }],
    [...body],
  );

/** True if some quotient or remainder in `d` involves the symbol. */
function divides(d: Dim, name: string): boolean {
  if (typeof d === "number") return false;
  return d.terms.some((t) =>
    t.atoms.some(
      (a) => a.kind !== "symbol" && (symbolsIn(a.lhs).has(name) || symbolsIn(a.rhs).has(name)),
    ),
  );
}

/**
 * Merges neighbouring loops (a, b) into one of extent a·b, with a = q/extent(b) and b = q mod
 * extent(b), wherever no index expression keeps a quotient or remainder of q: then every access
 * walks both loops as one run of memory. `indices` gives the index expressions of the body under a
 * renaming.
 */
export function collapse(
  loops: readonly Loop[],
  rename: Rename,
  indices: (rename: Rename) => readonly Dim[],
): { loops: Loop[]; rename: Rename } {
  let [kept, by] = [[...loops], rename];
  for (let i = kept.length - 2; i >= 0; i--) {
    const [a, b] = [kept[i]!, kept[i + 1]!];
    const q = makeLoop(b.name, mulDim(a.extent, b.extent));
    const split = new Map([
      [a.name, floorDiv(q.at, b.extent)],
      [b.name, modDim(q.at, b.extent)],
    ]);
    const trial = new Map([...by].map(([n, d]) => [n, substitute(d, split)] as const));
    for (const [n, d] of split) if (!trial.has(n)) trial.set(n, d);
    if (indices(trial).some((d) => divides(d, q.name))) continue;
    kept = [...kept.slice(0, i), q, ...kept.slice(i + 2)];
    by = trial;
  }
  return { loops: kept, rename: by };
}

export const totalOf = (loops: readonly Loop[]): Dim => sizeOf(loops.map((l) => l.extent));

/** Statements that bind each loop's variable from a flat row-major index over all of them. */
export function decode(loops: readonly Loop[], flat: Dim): Stmt[] {
  const strides = stridesOf(loops.map((l) => l.extent));
  return loops.map((l, i) => {
    const q = floorDiv(flat, strides[i]!);
    return { kind: "letIndex", name: l.name, value: i === 0 ? q : modDim(q, l.extent) };
  });
}
