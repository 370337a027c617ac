/**
 * What a user's indices are claimed to be, beside the node that reads by them or knows whether they are inside. Costs nothing
 * unless a program is compiled with `check: "indices"`. Not part of a node's identity; the first claim stays.
 */
import type { Tensor } from "./node.ts";

export interface IndexClaim {
  /** What the user called. */
  readonly op: string;
  /** Of a gather or scatter, that its indices are places; of a bool, that all is true, or some along the last axis. */
  readonly holds: "places" | "all" | "some";
  /** What is wrong where it does not hold. */
  readonly wrong: string;
}

const claims = new WeakMap<Tensor, IndexClaim>();

/** Claims it of the node, and returns it. */
export function claimIndices(node: Tensor, claim: IndexClaim): Tensor {
  if (!claims.has(node)) claims.set(node, claim);
  return node;
}

export const claimOf = (node: Tensor): IndexClaim | undefined => claims.get(node);
