/**
 * Determinants, by elimination without a loop: each row is a few kernels.
 */
import { type Dim, isStatic } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import { DtypeError, ShapeError } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { printShape, sameShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { full } from "../create.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { sliceAxis, squeeze } from "../movement.ts";
import { argMax, sum } from "../reduce.ts";
import { iota } from "../source.ts";
import { inFloat32 } from "./in-float32.ts";

/** Each row is a few kernels. */
const largest = 64;

/** The rows of stacks of square matrices, which must be a number. */
function checkSquare(op: string, x: Tensor): number {
  checkTensor(op, x);
  const [n, m] = x.shape.slice(-2) as [Dim, Dim];
  if (x.rank < 2 || !sameShape([n], [m]))
    throw new ShapeError(`${op}: x is ${printShape(x.shape)}, not square matrices`);
  if (!isFloat(x.dtype))
    throw new DtypeError(
      `${op}: x is ${x.dtype}, not a float\n  convert it first: x.convert("f32")`,
    );
  if (!isStatic(n))
    throw new ShapeError(`${op}: the extent of the matrices must be a number, it is a symbol`);
  if (n > largest)
    throw new ShapeError(`${op}: matrices of ${n} rows are too large, at most ${largest}`);
  return n;
}

/**
 * One step of elimination: the pivot of column k, and the matrices with the pivot's row taken to place k and the column cleared
 * below it.
 */
function eliminate(m: Tensor, k: number): { readonly pivot: Tensor; readonly rest: Tensor } {
  const rows = iota(m.shape, m.rank - 2);
  const column = sliceAxis(m, -1, k, k + 1);
  const candidates = select(sliceAxis(rows, -1, 0, 1).less(k), -1, column.abs());
  const chosen = argMax(candidates, -2, { keepDims: true, empty: "identity" });
  const first = sliceAxis(m, -2, k, k + 1);
  const picked = sum(select(rows.equal(chosen), m, 0), -2, { keepDims: true });
  const swapped = select(rows.equal(k), picked, select(rows.equal(chosen), first, m));
  const pivot = sliceAxis(picked, -1, k, k + 1);
  const factor = sliceAxis(swapped, -1, k, k + 1).div(select(pivot.equal(0), 1, pivot));
  const rest = select(rows.greater(k), swapped.sub(factor.mul(picked)), swapped);
  const sign = convert(select(chosen.equal(k), 1, -1), m.dtype);
  return { pivot: pivot.mul(sign), rest };
}

/** The pivots of elimination, the largest of each column first, with the signs of the exchanges. */
function pivotsOf(x: Tensor, size: number): Tensor[] {
  const pivots: Tensor[] = [];
  let m = x;
  for (let k = 0; k < size; k++) {
    const { pivot, rest } = eliminate(m, k);
    pivots.push(squeeze(pivot, [-2, -1]));
    m = rest;
  }
  return pivots;
}

/**
 * The determinant of square matrices: the product of the pivots of Gaussian elimination with partial pivoting; 1 of an empty one.
 *
 * x: float[…, n, n] → [...], n a number, at most 64. The gradient is right where the determinant is not 0. Throws ShapeError unless the
 * matrices are square and n is known. `torch.linalg.det`.
 *
 *   det(tensor([[1, 2], [3, 4]])) // −2
 */
export function det(x: Tensor): Tensor {
  const size = checkSquare("det", x);
  return inFloat32([x], (wide) => {
    const pivots = pivotsOf(wide, size);
    return pivots.length
      ? pivots.reduce((a, b) => a.mul(b))
      : full(wide.shape.slice(0, -2), 1, wide.dtype);
  });
}

/**
 * The sign of the determinant and ln |det|, which does not overflow: Σ ln |pivot|. Of singular matrices 0 and −∞.
 *
 * x: float[…, n, n] → two of [...]. Errors as `det`. `torch.linalg.slogdet`.
 *
 *   const { sign, logAbs } = slogdet(covariance);
 */
export function slogdet(x: Tensor): { readonly sign: Tensor; readonly logAbs: Tensor } {
  const size = checkSquare("slogdet", x);
  const pick = (of: (pivots: Tensor[]) => Tensor, otherwise: number): Tensor =>
    inFloat32([x], (wide) =>
      size ? of(pivotsOf(wide, size)) : full(wide.shape.slice(0, -2), otherwise, wide.dtype),
    );
  return {
    sign: pick((pivots) => pivots.map((p) => p.sign()).reduce((a, b) => a.mul(b)), 1),
    logAbs: pick((pivots) => pivots.map((p) => p.abs().log()).reduce((a, b) => a.add(b)), 0),
  };
}
