/** The work of what is inlined: what is repeated in every reader, and what is rather stored. */
import { opRecord, type Tensor } from "@kiln-ml/ir";
import { isLeaf, isPointwise } from "../access.ts";
import { type Fusion, isSingle } from "./state.ts";

/**
 * What computing one element of `node` takes, with all that is inlined in it; as far as it is not
 * costly, nor of more ops than `most`.
 */
export function workOf(
  state: Fusion,
  node: Tensor,
  most: number = Infinity,
): { ops: number; loads: number; costly: boolean } {
  const seen = new Set([node]);
  const work = { ops: 0, loads: 0, costly: false };
  for (const t of seen) {
    if (work.costly || work.ops > most) break;
    if (isLeaf(t) || (t !== node && state.groupOf.has(t))) work.loads++;
    // What is computed once for the whole kernel is not repeated.
    else if (!isSingle(t) || t === node) {
      if (isPointwise(t)) work.ops++;
      if (opRecord(t.op).costly || t.op === "randomBits") work.costly = true;
      for (const o of t.operands) seen.add(o);
    }
  }
  return work;
}
