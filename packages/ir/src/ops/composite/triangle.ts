/**
 * Triangles and diagonals of matrices: what is kept or read is decided by two places, so that
 * nothing is stored for them.
 */
import { addDim, type Dim, isStatic, maxDim, minDim, sameDim, subDim } from "../../dim.ts";
import type { Dtype } from "../../dtype.ts";
import { ShapeError } from "../../errors.ts";
import { checkExtentKind } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, printShape } from "../../shape.ts";
import { checkTensor, range } from "../apply.ts";
import type { Operand } from "../broadcast.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { kept } from "../elementwise/kept.ts";
import { gather } from "../gather.ts";
import { broadcastInDim, transpose } from "../movement.ts";
import { sum } from "../reduce.ts";
import { type Extent, iota, toShape } from "../source.ts";

function checkMatrices(op: string, x: Tensor): void {
  checkTensor(op, x);
  if (x.rank < 2)
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)}, not a matrix\n  it needs two axes or more`,
    );
}

/** column − row at every place of matrices of a shape. */
const distance = (shape: readonly Dim[]): Tensor =>
  iota(shape, shape.length - 1).sub(iota(shape, shape.length - 2));

/**
 * The lower triangle of matrices: x[…, i, j] where j − i ≤ diagonal, 0 elsewhere.
 *
 * x[…, n, m] of any dtype → the same. `diagonal` 0 is the main one, above it are positive numbers;
 * a tensor i32[] may give it. Throws ShapeError unless x has two axes or more. `torch.tril`,
 * `numpy.tril`.
 *
 * @example
 *   tril(ones([3, 3])) // [[1,0,0],[1,1,0],[1,1,1]]
 */
export function tril(x: Tensor, diagonal: Operand = 0): Tensor {
  checkMatrices("tril", x);
  return kept(distance(x.shape).lessEqual(diagonal), x);
}

/**
 * The upper triangle of matrices: x[…, i, j] where j − i ≥ diagonal, 0 elsewhere.
 *
 * x[…, n, m] of any dtype → the same. Throws ShapeError unless x has two axes or more.
 * `torch.triu`, `numpy.triu`.
 *
 * @param diagonal The first diagonal that counts: 0 is the main one, above it are positive numbers.
 * @example
 *   triu(ones([3, 3]), 1) // [[0,1,1],[0,0,1],[0,0,0]]
 */
export function triu(x: Tensor, diagonal: Operand = 0): Tensor {
  checkMatrices("triu", x);
  return kept(distance(x.shape).greaterEqual(diagonal), x);
}

/**
 * 1 where j − i ≤ diagonal, 0 elsewhere: [rows, columns]. Of dtype "bool" it is the mask of causal
 * attention. `numpy.tri`.
 *
 * @param rows Rows.
 * @param columns Columns; as many as rows by default.
 * @param diagonal The last diagonal that counts: 0 is the main one, above it are positive numbers.
 * @param dtype The dtype of the result.
 * @example
 *   tri(2, 3, 0, "bool") // [[true, false, false], [true, true, false]]
 */
export function tri(
  rows: Extent,
  columns: Extent = rows,
  diagonal: Operand = 0,
  dtype: Dtype = "f32",
): Tensor {
  return convert(distance(toShape([rows, columns])).lessEqual(diagonal), dtype);
}

/** How many places a diagonal has. */
function lengthOf(rows: Dim, columns: Dim, offset: number): Dim {
  const [n, m] = offset < 0 ? [addDim(rows, offset), columns] : [rows, subDim(columns, offset)];
  return maxDim(minDim(n, m), 0);
}

/**
 * The elements x[…, i, i + offset] of two axes, as a last axis.
 *
 * x[…, n, m] → [..., k], k = min(n, m) for `offset` 0. The axes are the first two, as in PyTorch.
 * Throws ShapeError unless x has two axes or more and they differ. `torch.diagonal`,
 * `numpy.diagonal`.
 *
 * @param x A tensor of two axes or more.
 * @param axis1 The axis of rows.
 * @param axis2 The axis of columns.
 * @example
 *   diagonal(tensor([[1, 2], [3, 4]])) // [1, 4]
 *   diagonal(tensor([[1, 2], [3, 4]]), 1) // [2]
 */
export function diagonal(x: Tensor, offset = 0, axis1 = 0, axis2 = 1): Tensor {
  checkMatrices("diagonal", x);
  checkExtentKind("diagonal", "offset", offset);
  const [a, b] = [checkAxis("diagonal", axis1, x.rank), checkAxis("diagonal", axis2, x.rank)];
  if (a === b)
    throw new ShapeError(`diagonal: axes ${axis1} and ${axis2} are one\n  name two axes`);
  const at = iota([lengthOf(x.shape[a]!, x.shape[b]!, offset)], 0);
  const places = [offset < 0 ? at.sub(offset) : at, offset > 0 ? at.add(offset) : at];
  const picked = gather(x, places, [a, b]);
  return picked.rank === 1 ? picked : transpose(picked, [...range(picked.rank).slice(1), 0]);
}

/**
 * A vector as the diagonal of a matrix of zeros, or the diagonal of a matrix.
 *
 * x[n] → [n + |offset|, n + |offset|]; x[n, m] → [k]. Throws ShapeError for other ranks.
 * `torch.diag`, `numpy.diag`.
 *
 * @param offset Which diagonal: 0 is the main one, above it are positive numbers.
 * @example
 *   diag(tensor([1, 2])) // [[1,0],[0,2]]
 */
export function diag(x: Tensor, offset = 0): Tensor {
  checkTensor("diag", x);
  checkExtentKind("diag", "offset", offset);
  if (x.rank === 2) return diagonal(x, offset);
  if (x.rank !== 1)
    throw new ShapeError(
      `diag: x is ${printShape(x.shape)}, not a vector or a matrix\n  diagonal takes stacks of matrices`,
    );
  const size = addDim(x.shape[0]!, Math.abs(offset));
  const low = Math.max(0, -offset);
  const rows = x.pad(0, low, Math.max(0, offset));
  const shape = [size, size];
  return kept(distance(shape).equal(offset), broadcastInDim(rows, shape, [0]));
}

/**
 * The sum of the diagonal: Σ x[i, i]. x[n, m] → []. Throws ShapeError unless x is a matrix.
 * `torch.trace`, `numpy.trace`. As a method it is `x.trace()`; `trace` of this package records a
 * graph.
 *
 *   traceOf(eye(3)) // 3
 */
export function traceOf(x: Tensor): Tensor {
  checkTensor("trace", x);
  if (x.rank !== 2)
    throw new ShapeError(
      `trace: x is ${printShape(x.shape)}, not a matrix\n  diagonal takes stacks of matrices`,
    );
  const [n, m] = x.shape as [Dim, Dim];
  const square = isStatic(n) && isStatic(m) ? n === m : sameDim(n, m);
  return square ? sum(select(distance(x.shape).equal(0), x, 0)) : sum(diagonal(x));
}
