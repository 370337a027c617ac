/**
 * What decompositions share: what they take, and the parts of matrices in the last two axes. Leading axes are a batch.
 */
import { type Dim, isStatic, printDim, sameDim } from "../dim.ts";
import { isFloat } from "../dtype.ts";
import { DtypeError, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { apply, checkTensor, range } from "../ops/apply.ts";
import { broadcastTo } from "../ops/broadcast.ts";
import { select } from "../ops/elementwise/compare.ts";
import { convert } from "../ops/elementwise/convert.ts";
import { expandDims, swapAxes, transpose } from "../ops/movement.ts";
import { sum } from "../ops/reduce.ts";
import { iota } from "../ops/source.ts";
import { printShape } from "../shape.ts";

export interface Sides {
  readonly rows: Dim;
  readonly columns: Dim;
}

/** The extents of stacks of matrices of floats. */
export function checkMatrices(op: string, x: Tensor): Sides {
  checkTensor(op, x);
  if (x.rank < 2)
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)}, not matrices\n  give two axes at least: the last two are rows and columns`,
    );
  if (!isFloat(x.dtype))
    throw new DtypeError(
      `${op}: x is ${x.dtype}, not a float\n  convert it first: x.convert("f32")`,
    );
  return { rows: x.shape[x.rank - 2]!, columns: x.shape[x.rank - 1]! };
}

/** The extent of square ones. */
export function checkSquares(op: string, x: Tensor): Dim {
  const { rows, columns } = checkMatrices(op, x);
  if (!sameDim(rows, columns))
    throw new ShapeError(`${op}: x is ${printShape(x.shape)}, not square matrices`);
  return rows;
}

/** Throws unless it is a number. */
export function checkNumber(op: string, extent: Dim): number {
  if (!isStatic(extent))
    throw new ShapeError(
      `${op}: the matrices have the symbolic extent ${printDim(extent)}\n  give a number: the batch may be a symbol, the matrices may not`,
    );
  return extent;
}

export const turned = (x: Tensor): Tensor => swapAxes(x, -1, -2);

/** The batch axes. */
export const batchOf = (x: Tensor): readonly Dim[] => x.shape.slice(0, -2);

/** A vector of each matrix as a column, and as a row. */
export const asColumn = (v: Tensor): Tensor => expandDims(v, -1);
export const asRow = (v: Tensor): Tensor => expandDims(v, v.rank - 1);

/** The row numbers of [..., m, n] where it is compared with them: [m, 1]; the column numbers are [1, n]. */
export const rowNumbers = (m: Dim): Tensor => iota([m, 1], 0);
export const columnNumbers = (n: Dim): Tensor => iota([1, n], 1);

export const identity = (n: Dim, like: Tensor): Tensor =>
  convert(rowNumbers(n).equal(columnNumbers(n)), like.dtype);

/** The identity for each matrix of a batch. */
export const identities = (x: Tensor, n: Dim): Tensor =>
  broadcastTo(identity(n, x), [...batchOf(x), n, n]);

export const diagonalOf = (x: Tensor): Tensor => {
  const [m, n] = x.shape.slice(-2) as [Dim, Dim];
  return sum(select(rowNumbers(m).equal(columnNumbers(n)), x, 0), -1);
};

/** Vectors as the diagonals of square matrices. */
export const diagonal = (v: Tensor): Tensor => {
  const n = v.shape[v.rank - 1]!;
  return select(rowNumbers(n).equal(columnNumbers(n)), asColumn(v), 0);
};

/** Places that are there by construction, of which an empty matrix has none to read. */
const gather = (x: Tensor, places: readonly Tensor[], axes: readonly number[]): Tensor =>
  apply("gather", [x, ...places], { axes: [...axes] });

/** Column k, and row k, of each matrix; k a scalar of the graph. */
export const columnAt = (x: Tensor, k: Tensor): Tensor => gather(x, [k], [x.rank - 1]);
export const rowAt = (x: Tensor, k: Tensor): Tensor => gather(x, [k], [x.rank - 2]);

/** Of each matrix the row that `at`, one number for each of the batch, says. */
export function rowsAt(x: Tensor, at: Tensor): Tensor {
  if (at.rank === 0) return rowAt(x, at);
  const batch = range(at.rank).map((axis) => iota(at.shape, axis));
  return gather(x, [...batch, at], range(at.rank + 1));
}

/** The rows of each matrix in the order of `at`: [..., k] for [..., m, n]. */
export function rowsInOrder(x: Tensor, at: Tensor): Tensor {
  const lead = range(at.rank - 1).map((axis) => iota(at.shape, axis));
  return gather(x, [...lead, at], range(at.rank));
}

/** [k, ..., n], as a scan stacks them, as rows of matrices: [..., k, n]. */
export function stackedRows(ys: Tensor): Tensor {
  return transpose(ys, [...range(ys.rank - 1).slice(1), 0, ys.rank - 1]);
}
/** [k, ..., n] as columns: [..., n, k]. */
export const stackedColumns = (ys: Tensor): Tensor =>
  transpose(ys, [...range(ys.rank).slice(1), 0]);
