/**
 * Products over a batch. A factor with a batch gives the product one more free axis, so that many products with one matrix are one
 * product; two of them give it one more batch axis. Convolutions take the batch as images, or as groups of channels.
 */
import { type Dim, isStatic, mulDim } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { apply, dimsOf, numbersOf, range } from "../ops/apply.ts";
import { dotAxes, lhsFree, rhsFree } from "../ops/loops.ts";
import { reshape, transpose } from "../ops/movement.ts";
import { exactQuotient } from "../shape.ts";
import { behind, type Lane, moveAxis, spread } from "./lanes.ts";

export function batchedDot(node: Tensor, lanes: readonly Lane[]): Tensor {
  const [lhs, rhs] = lanes as [Lane, Lane];
  const d = dotAxes(node.attrs);
  const own = (lane: Lane, axes: readonly number[]) => (lane.batched ? behind(axes) : [...axes]);
  const attrs = {
    lhsBatch: own(lhs, d.lhsBatch),
    rhsBatch: own(rhs, d.rhsBatch),
    lhsContract: own(lhs, d.lhsContract),
    rhsContract: own(rhs, d.rhsContract),
  };
  const factors = [lhs.tensor, rhs.tensor];
  if (lhs.batched && rhs.batched)
    return apply("dotGeneral", factors, {
      ...attrs,
      lhsBatch: [0, ...attrs.lhsBatch],
      rhsBatch: [0, ...attrs.rhsBatch],
    });
  const batch = d.lhsBatch.length;
  if (lhs.batched) return moveAxis(apply("dotGeneral", factors, attrs), batch, 0);
  // Where only the right factor has a batch and no other free axis, it comes first: then the result lies as it should.
  const [l, r] = node.operands as [Tensor, Tensor];
  if (rhsFree(r, d).length === 0) {
    const turned = {
      lhsBatch: attrs.rhsBatch,
      rhsBatch: attrs.lhsBatch,
      lhsContract: attrs.rhsContract,
      rhsContract: attrs.lhsContract,
    };
    return moveAxis(apply("dotGeneral", [rhs.tensor, lhs.tensor], turned), batch, 0);
  }
  return moveAxis(apply("dotGeneral", factors, attrs), batch + lhsFree(l, d).length, 0);
}

const convolve = (node: Tensor, x: Tensor, w: Tensor, groups: number): Tensor => {
  const { stride, low, high, lhsDilation, rhsDilation } = node.attrs;
  return apply("convolution", [x, w], {
    stride: [...numbersOf(stride)],
    low: [...dimsOf(low)],
    high: [...dimsOf(high)],
    lhsDilation: [...numbersOf(lhsDilation)],
    rhsDilation: [...numbersOf(rhsDilation)],
    groups,
  });
};

/** Undefined where the batch would be a symbol's number of groups. */
export function batchedConvolution(
  node: Tensor,
  lanes: readonly Lane[],
  size: Dim,
): Tensor | undefined {
  const [x, w] = lanes as [Lane, Lane];
  const groups = node.attrs.groups as number;
  if (!w.batched) return ofImages(node, x.tensor, w.tensor, groups);
  if (!x.batched) return ofKernels(node, x.tensor, w.tensor, groups);
  return isStatic(size) ? ofGroups(node, spread(x, size), w.tensor, groups, size) : undefined;
}

/** [B, N, C, …] as B·N images. */
function ofImages(node: Tensor, x: Tensor, w: Tensor, groups: number): Tensor {
  const [b, n, ...rest] = x.shape as [Dim, Dim, ...Dim[]];
  const y = convolve(node, reshape(x, [mulDim(b, n), ...rest]), w, groups);
  return reshape(y, [b, ...node.shape]);
}

/** Of kernels [B, O, …] those of one group stand together: G·B·(O/G) channels, taken apart again behind the product. */
function ofKernels(node: Tensor, x: Tensor, w: Tensor, groups: number): Tensor {
  const [b, o, ...rest] = w.shape as [Dim, Dim, ...Dim[]];
  const each = exactQuotient(o, groups)!;
  const [n, , ...space] = node.shape as [Dim, Dim, ...Dim[]];
  const apart = moveAxis(reshape(w, [b, groups, each, ...rest]), 1, 0);
  const y = convolve(node, x, reshape(apart, [mulDim(b, o), ...rest]), groups);
  const split = reshape(y, [n, groups, b, each, ...space]);
  const tail = range(split.rank).slice(4);
  return reshape(transpose(split, [2, 0, 1, 3, ...tail]), [b, ...node.shape]);
}

/** Each place of the batch as groups of its own. */
function ofGroups(node: Tensor, x: Tensor, w: Tensor, groups: number, size: number): Tensor {
  const [, n, c, ...image] = x.shape as [Dim, Dim, Dim, ...Dim[]];
  const [, o, ...rest] = w.shape as [Dim, Dim, ...Dim[]];
  const channels = reshape(moveAxis(x, 0, 1), [n, mulDim(c, size), ...image]);
  const y = convolve(node, channels, reshape(w, [mulDim(o, size), ...rest]), groups * size);
  const [, , ...space] = node.shape as [Dim, Dim, ...Dim[]];
  return moveAxis(reshape(y, [n, size, o, ...space]), 1, 0);
}
