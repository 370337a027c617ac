/**
 * Channel axes of kernels that work in groups. Both gradients of a convolution and its transpose exchange them.
 */
import { type Dim, mulDim } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { exactQuotient } from "../shape.ts";
import { reshape, transpose } from "./movement.ts";

/** [G·A, B, …] → [G·B, A, …]: exchanges the channel axes within each group. */
export function swapWithinGroups(t: Tensor, groups: number): Tensor {
  const [first, b, ...rest] = t.shape as [Dim, Dim, ...Dim[]];
  const a = exactQuotient(first, groups)!;
  const order = [0, 2, 1, ...rest.map((_, i) => i + 3)];
  const swapped = transpose(reshape(t, [groups, a, b, ...rest]), order);
  return reshape(swapped, [mulDim(b, groups), a, ...rest]);
}
