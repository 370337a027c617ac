/**
 * What a user's indices are claimed to be: beside the graph, by the node that holds whether they are, or that reads by them. Costs
 * nothing unless a program is compiled with `check: "indices"`. Not part of a node's identity; the first claim stays.
 */
import type { Tensor } from "./node.ts";

export interface IndexClaim {
  /** What the user called. */
  readonly op: string;
  /** What is wrong where the claim does not hold. */
  readonly wrong: () => string;
  /** Bool of any shape, true where an index is inside; of a gather or scatter it follows from the node. */
  readonly holds: Tensor | undefined;
}

const claims = new WeakMap<Tensor, IndexClaim>();

/**
 * Claims of a node that all of `holds` is true; of a gather or scatter, that its indices are places of what is indexed. Returns the
 * node.
 */
export function claimIndices(
  op: string,
  node: Tensor,
  wrong: () => string,
  holds?: Tensor,
): Tensor {
  if (!claims.has(node)) claims.set(node, { op, wrong, holds });
  return node;
}

export const claimOf = (node: Tensor): IndexClaim | undefined => claims.get(node);
