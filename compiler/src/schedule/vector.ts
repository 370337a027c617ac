/**
 * Turns the last loop of a map into steps of four lanes, if that pays: some buffer is then read or
 * written four elements at a time. A buffer is vectorised if every access to it steps by one
 * element along the loop from a multiple of four; one access that does not would need the buffer
 * bound twice.
 */
import { addDim, type Dim, floorDiv, modDim, mulDim, substitute } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";
import { strideOf } from "../kernel/stride.ts";
import { walkStmts } from "../kernel/walk.ts";
import { nest, renamedAt } from "../lower/loops.ts";

const width = 4;

export interface Vectorised {
  /** The loop over groups of four, and the loop over the lanes of one. */
  readonly loop: Loop;
  readonly lane: Loop;
  /** The renaming under which the body counts in groups and lanes. */
  readonly rename: Rename;
  readonly body: Stmt[];
  /** Names of the wide parameters. */
  readonly params: ReadonlySet<string>;
}

export function vectorise(
  last: Loop,
  rename: Rename,
  body: (rename: Rename) => Stmt[],
): Vectorised | undefined {
  if (modDim(last.extent, width) !== 0) return undefined;
  const loop = makeLoop(last.name, floorDiv(last.extent, width));
  const lane = makeLoop("lane", width);
  const split = new Map<string, Dim>([[last.name, addDim(mulDim(loop.at, width), lane.at)]]);
  const by = renamedAt(rename, split);
  const lanes = body(by);
  const params = vectorisedParams(lanes, lane.name);
  if (params.size === 0) return undefined;
  return { loop, lane, rename: by, body: nest([lane], "vector", lanes), params };
}

/**
 * Buffers and arrays of which every access steps by one element along the lanes, from a multiple of
 * four.
 */
export function vectorisedParams(body: readonly Stmt[], lane: string): Set<string> {
  const wide = new Map<string, boolean>();
  const see = (name: string, index: Dim) => {
    const base = substitute(index, new Map([[lane, 0]]));
    const ok = strideOf(index, lane) === 1 && modDim(base, width) === 0;
    wide.set(name, ok && (wide.get(name) ?? true));
  };
  walkStmts(body, {
    stmt: (s) => {
      if (s.kind === "store") see(s.to, s.index);
    },
    expr: (e) => {
      if (e.kind === "load") see(e.from, e.index);
    },
  });
  return new Set([...wide].filter(([, ok]) => ok).map(([name]) => name));
}
