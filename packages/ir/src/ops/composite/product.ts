/**
 * Products of vectors and one-hot codes, as contractions, broadcasts and comparisons.
 */

import { claimIndices } from "../../claim.ts";
import { type Dim, printDim } from "../../dim.ts";
import type { Dtype } from "../../dtype.ts";
import { ShapeError } from "../../errors.ts";
import { checkExtentKind } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { printShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { broadcastTo, commonDtype } from "../broadcast.ts";
import { dotGeneral } from "../contraction.ts";
import { convert } from "../elementwise/convert.ts";
import { expandDims } from "../movement.ts";
import { placesOf } from "../places.ts";
import { iota } from "../source.ts";

function checkVectors(op: string, x: Tensor, y: Tensor): void {
  for (const t of [x, y]) checkTensor(op, t);
  if (x.rank !== 1 || y.rank !== 1)
    throw new ShapeError(
      `${op}: operands must have rank 1, got ${printShape(x.shape)} and ${printShape(y.shape)}\n  use matmul for matrices, or flatten both`,
    );
}

/**
 * Σ xᵢ·yᵢ. x, y: [n] → []. `torch.dot`.
 * @example
 *   dot(tensor([1, 2, 3]), tensor([4, 5, 6])) // 32
 */
export function dot(x: Tensor, y: Tensor): Tensor {
  checkTensor("dot", x);
  checkVectors("dot", x, y);
  const dtype = commonDtype([x, y]);
  return dotGeneral(convert(x, dtype), convert(y, dtype), { lhsContract: [0], rhsContract: [0] });
}

/**
 * xᵢ·yⱼ. x: [m], y: [n] → [m,n]. `torch.outer`.
 * @example
 *   outer(tensor([1, 2]), tensor([3, 4, 5])) // [[3, 4, 5], [6, 8, 10]]
 */
export function outer(x: Tensor, y: Tensor): Tensor {
  checkTensor("outer", x);
  checkVectors("outer", x, y);
  return expandDims(x, 1).mul(expandDims(y, 0));
}

/**
 * 1 where the last index equals x, else 0. A negative x counts from the end; all 0 where x is
 * outside [−count, count), which throws ShapeError where the graph holds the value. x: int[...] →
 * [..., count]. `F.one_hot`.
 *
 * @param count Extent of the new last axis.
 * @param dtype The dtype of the result.
 * @example
 *   oneHot(tensor([2, 0], { dtype: "i32" }), 3) // [[0, 0, 1], [1, 0, 0]]
 */
export function oneHot(x: Tensor, count: Dim, dtype: Dtype = "f32"): Tensor {
  checkTensor("oneHot", x);
  checkExtentKind("oneHot", "count", count);
  const shape = [...x.shape, count];
  const place = convert(placesOf("oneHot", x, count, `${printDim(count)} classes`), "i32");
  const codes = iota(shape, x.rank);
  const hit = codes.equal(broadcastTo(expandDims(place, x.rank), shape, "oneHot"));
  const wrong = `an index is none of ${printDim(count)} classes`;
  return convert(claimIndices(hit, { op: "oneHot", holds: "some", wrong }), dtype);
}
