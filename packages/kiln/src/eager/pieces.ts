/**
 * What a script built over very many steps, such as a total over a whole training, is computed in
 * pieces: pieces of one structure are one program, however many there are, and no program grows
 * with the number of steps. Runs nothing that is not asked for.
 */
import { inlineCalls, type Tensor, topologicalOrder } from "@kiln-ml/ir";
import { askedOf, isValue, type Structure, structureOf } from "../compile/structure.ts";
import { computeSomewhere } from "../devices/engine.ts";
import type { Session } from "../devices/session.ts";
import { type Read, store, storedOf, versionOf } from "../devices/storage.ts";

/** Nodes one after the other that are computed by one program. */
export const mostDepth = 1024;
/** Those of a piece. */
const depthOfPiece = 256;

/** The parameters that something is computed from, those included that known values were. */
export function readsOf({ params, leaves }: Structure): Read[] {
  const found = new Map<Tensor, number>();
  for (const leaf of leaves)
    for (const [param, version] of storedOf(leaf)?.reads ?? []) found.set(param, version);
  for (const p of params) found.set(p, versionOf(p));
  return [...found];
}

/**
 * Computes and keeps what `roots` are made of, as far as it lies deep below them. Gives the session
 * where that was done.
 */
export async function computeBelow(
  given: Session | undefined,
  roots: readonly Tensor[],
): Promise<Session | undefined> {
  let session = given;
  const nodes = topologicalOrder(inlineCalls(roots, isValue), isEnd);
  for (const piece of piecesOf(nodes)) {
    const reads = piece.map((t) => readsOf(structureOf([t])));
    const done = await computeSomewhere(session, askedOf(piece));
    session = done.session;
    piece.forEach((t, i) => {
      store(t, done.session, done.arrays[i]!, reads[i]);
    });
  }
  return session;
}

const isEnd = (t: Tensor): boolean => t.op === "param" || isValue(t);

/**
 * In order, the nodes of each depth at which is cut that deeper ones read. None where nothing is
 * deep.
 */
function piecesOf(nodes: readonly Tensor[]): Tensor[][] {
  const depths = new Map<Tensor, number>();
  let most = 0;
  for (const t of nodes) {
    const depth = isEnd(t) ? 0 : depthOf(t, depths);
    depths.set(t, depth);
    most = Math.max(most, depth);
  }
  if (most <= mostDepth) return [];
  const pieces: Set<Tensor>[] = [];
  for (const t of nodes)
    for (const o of isEnd(t) ? [] : t.operands) {
      const [from, to] = [depths.get(o)!, depths.get(t)!].map((d) => Math.ceil(d / depthOfPiece));
      // What is made of literals alone is not worth its memory.
      if (depths.get(o) === 0 || from === to) continue;
      const piece = pieces[from!] ?? new Set();
      pieces[from!] = piece.add(o);
    }
  return pieces.flatMap((piece) => [[...piece]]);
}

/**
 * Of a node that is made of literals alone 0; what several results are read by lies where the node
 * does.
 */
function depthOf({ op, operands }: Tensor, depths: ReadonlyMap<Tensor, number>): number {
  let depth = -1;
  for (const o of operands) if (!isMadeUp(o, depths)) depth = Math.max(depth, depths.get(o)!);
  return op === "result" ? Math.max(depth, 0) : depth + 1;
}

const isMadeUp = (t: Tensor, depths: ReadonlyMap<Tensor, number>): boolean =>
  !isEnd(t) && depths.get(t) === 0;
