/**
 * Factorisations of panels by one scan over the columns, whose step is a product of rank one: what
 * is left of the panel is a carry that is updated where it lies, and the column and row of a step
 * are what the scan stacks. `blocks.ts` makes those of matrices of them. No gradients here;
 * `decompositions.ts` has them.
 */

import type { Dim } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { full } from "../ops/create.ts";
import { select } from "../ops/elementwise/compare.ts";
import { convert } from "../ops/elementwise/convert.ts";
import { sliceAxis } from "../ops/movement.ts";
import { argMax, sum } from "../ops/reduce.ts";
import { scan } from "../ops/scan.ts";
import { iota } from "../ops/source.ts";
import {
  asColumn,
  asRow,
  batchOf,
  columnAt,
  rowAt,
  rowsAt,
  stackedColumns,
  stackedRows,
} from "./matrices.ts";

export interface Panel {
  /** The rows that were pivots, in their order, i32[…, b]. */
  readonly chosen: Tensor;
  /** The others, bool[…, m]. */
  readonly left: Tensor;
  /** By row of x, [..., m, b]: factors, 1 where a column has its pivot, and 0 from there on. */
  readonly lower: Tensor;
  /** Upper triangular, [..., b, b]. */
  readonly upper: Tensor;
}

/**
 * Gaussian elimination with partial pivoting of m × b, b ≤ m. Rows stay where they are: a row is
 * used up by being a pivot. A column of zeros has the pivot 0 and no factors.
 */
export function eliminatedPanel(x: Tensor): Panel {
  const [m, b] = x.shape.slice(-2) as [Dim, Dim];
  const batch = batchOf(x);
  const rows = iota([m]);
  const free = full([...batch, m], true, "bool");
  const { carry, ys } = scan(
    [x, free],
    [],
    ([rest, left], _x, k) => {
      const column = columnAt(rest!, k);
      const sizes = select(left!, select(column.isNan(), Infinity, column.abs()), -1);
      const chosen = argMax(sizes, -1, { empty: "identity" });
      const isPivot = asColumn(chosen).equal(rows);
      const row = rowsAt(rest!, chosen);
      const pivot = asColumn(sum(select(isPivot, column, 0), -1));
      const others = left!.and(isPivot.not());
      const flat = pivot.equal(0);
      const factor = select(others, column.div(select(flat, 1, pivot)), 0);
      const next = rest!.sub(asColumn(factor).mul(asRow(row)));
      const own = select(isPivot, 1, factor);
      return { carry: [next, others], ys: [convert(own, x.dtype), row, chosen] };
    },
    { length: b },
  );
  const upper = stackedRows(ys[1]!);
  const [i, j] = [iota([b, b], 0), iota([b, b], 1)];
  return {
    chosen: stackedColumns(ys[2]!),
    left: carry[1]!,
    lower: stackedColumns(ys[0]!),
    // What elimination leaves below the diagonal is rounding, or not yet taken away.
    upper: select(i.lessEqual(j), upper, 0),
  };
}

/** The sign of the order: −1 to the number of pairs that stand the other way round. */
export function signOf(order: Tensor, like: Tensor): Tensor {
  const n = order.shape[order.rank - 1]!;
  const before = iota([n, n], 0).less(iota([n, n], 1));
  const turned = asColumn(order).greater(asRow(order)).and(before);
  const count = sum(convert(turned, "i32"), [-1, -2]);
  return convert(select(count.and(1).equal(0), 1, -1), like.dtype);
}

/**
 * The first columns of L with L·Lᵀ = x, of m × b, of whose upper triangle nothing is read. NaN from
 * where x is not positive definite.
 */
export function choleskyPanel(x: Tensor): Tensor {
  const [m, b] = x.shape.slice(-2) as [Dim, Dim];
  const rows = iota([m]);
  const { ys } = scan(
    [x],
    [],
    ([rest], _x, k) => {
      const column = columnAt(rest!, k);
      const pivot = asColumn(columnAt(asRow(column), k)).squeeze(-1);
      const root = select(pivot.greater(0), pivot, NaN).sqrt();
      const own = select(rows.greaterEqual(k), column.div(root), 0);
      const across = sliceAxis(own, -1, 0, b);
      return { carry: [rest!.sub(asColumn(own).mul(asRow(across)))], ys: [own] };
    },
    { length: b },
  );
  return stackedColumns(ys[0]!);
}

export interface Triangle {
  readonly upper: boolean;
  /** The diagonal counts as ones, whatever it is. */
  readonly unit: boolean;
}

/**
 * X with A·X = B for triangular A, whose other triangle is not read. B is [..., n, m] of the batch
 * of A.
 */
export function substitutedPanel(a: Tensor, b: Tensor, { upper, unit }: Triangle): Tensor {
  const n = a.shape[a.rank - 1]!;
  const rows = iota([n]);
  const { ys } = scan(
    [b],
    [],
    ([left], _x, k) => {
      const column = columnAt(a, k);
      const row = rowAt(left!, k);
      const pivot = columnAt(asRow(column), k);
      const x = unit ? row : row.div(pivot);
      const below = upper ? rows.less(k) : rows.greater(k);
      const factor = select(below, column, 0);
      return { carry: [left!.sub(asColumn(factor).mul(asRow(x)))], ys: [x] };
    },
    { length: n, reverse: upper },
  );
  return stackedRows(ys[0]!);
}
