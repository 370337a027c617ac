/**
 * What rules of batching share: a value for a whole batch is either one tensor for all of it, or one with the batch as its first axis.
 */
import type { Dim } from "../dim.ts";
import type { Graph, Tensor } from "../node.ts";
import { apply, range } from "../ops/apply.ts";
import { broadcastInDim, transpose } from "../ops/movement.ts";

export interface Lane {
  readonly tensor: Tensor;
  /** The first axis of the tensor is the batch. */
  readonly batched: boolean;
}

/** The results of a graph whose parameters have these lanes. */
export type RunLanes = (graph: Graph, operands: readonly Lane[]) => Lane[];

export const shared = (tensor: Tensor): Lane => ({ tensor, batched: false });
export const laned = (tensor: Tensor): Lane => ({ tensor, batched: true });

/** With the batch as first axis, whatever it was. */
export const spread = ({ tensor, batched }: Lane, size: Dim): Tensor =>
  batched
    ? tensor
    : broadcastInDim(
        tensor,
        [size, ...tensor.shape],
        range(tensor.rank).map((a) => a + 1),
      );

/** The same op over a batch: of the node's dtype, and its shape behind the batch. */
export const overBatch = (
  node: Tensor,
  operands: readonly Tensor[],
  size: Dim,
  attrs = node.attrs,
): Tensor => apply(node.op, operands, attrs, { dtype: node.dtype, shape: [size, ...node.shape] });

/** Axes of an element as axes of the batch. */
export const behind = (axes: readonly number[]): number[] => axes.map((a) => a + 1);

/** The axis at `from` moved to `to`; the others keep their order. */
export function moveAxis(x: Tensor, from: number, to: number): Tensor {
  if (from === to) return x;
  const order = range(x.rank).filter((a) => a !== from);
  order.splice(to, 0, from);
  return transpose(x, order);
}
