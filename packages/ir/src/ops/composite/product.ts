/**
 * Products of vectors and one-hot codes, as contractions, broadcasts and comparisons.
 */

import type { Dim } from "../../dim.ts";
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
import { iota } from "../source.ts";

function checkVectors(op: string, x: Tensor, y: Tensor): void {
  for (const t of [x, y]) checkTensor(op, t);
  if (x.rank !== 1 || y.rank !== 1)
    throw new ShapeError(
      `${op}: operands must have rank 1, got ${printShape(x.shape)} and ${printShape(y.shape)}\n  use matmul for matrices, or flatten both`,
    );
}

/** Σ xᵢ·yᵢ. x, y: [n] → []. */
export function dot(x: Tensor, y: Tensor): Tensor {
  checkTensor("dot", x);
  checkVectors("dot", x, y);
  const dtype = commonDtype([x, y]);
  return dotGeneral(convert(x, dtype), convert(y, dtype), { lhsContract: [0], rhsContract: [0] });
}

/** xᵢ·yⱼ. x: [m], y: [n] → [m,n]. */
export function outer(x: Tensor, y: Tensor): Tensor {
  checkTensor("outer", x);
  checkVectors("outer", x, y);
  return expandDims(x, 1).mul(expandDims(y, 0));
}

/** 1 where the last index equals x, else 0; all 0 where x is outside [0, count). x: int[...] → [..., count]. */
export function oneHot(x: Tensor, count: Dim, dtype: Dtype = "f32"): Tensor {
  checkTensor("oneHot", x);
  checkExtentKind("oneHot", "count", count);
  const shape = [...x.shape, count];
  const codes = iota(shape, x.rank, x.dtype);
  return convert(codes.equal(broadcastTo(expandDims(x, x.rank), shape, "oneHot")), dtype);
}
