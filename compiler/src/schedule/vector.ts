/**
 * Steps of four lanes where they pay: some buffer is then read or written four elements at a time.
 * A buffer is vectorised if every access to it steps by one element along the loop from a multiple
 * of four; one access that does not would need the buffer bound twice.
 */
import { type Dim, modDim, substitute } from "@kiln-ml/ir";
import type { Stmt } from "../kernel/kernel.ts";
import { indexName } from "../kernel/names.ts";
import { strideOf } from "../kernel/stride.ts";
import { walkStmts } from "../kernel/walk.ts";
import type { Extent } from "./loop-moves.ts";
import { apply, type Moved } from "./recipe.ts";

const width = 4;

/** A loop in steps of four where that vectorises some parameter, and which it does. */
export function inFours(
  moved: Moved,
  loop: Extent | undefined,
): Moved & { readonly vectorised?: ReadonlySet<string> } {
  if (!loop || modDim(loop.extent, width) !== 0) return moved;
  const wide = apply(moved, ["vectorise", loop.name]);
  const vectorised = vectorisedParams(wide.body, indexName("lane"));
  return vectorised.size > 0 ? { ...wide, vectorised } : moved;
}

/**
 * Buffers and arrays of which every access steps by one element along the lanes, from a multiple of
 * four.
 */
export function vectorisedParams(body: readonly Stmt[], lane: string): Set<string> {
  const wide = new Map<string, boolean>();
  const first = new Map([[lane, 0]]);
  const see = (name: string, index: Dim = 0) => {
    // One access that is not of four neighbours is enough.
    if (wide.get(name) === false) return;
    const ok = strideOf(index, lane) === 1 && modDim(substitute(index, first), width) === 0;
    wide.set(name, ok);
  };
  walkStmts(body, { memory: see });
  return new Set([...wide].filter(([, ok]) => ok).map(([name]) => name));
}
