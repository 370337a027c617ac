/**
 * Factorisations of whole matrices as those of panels of columns, between which what is left is
 * updated by one product and shrinks: a product runs several times as fast as the updates of rank
 * one that it stands for, and n³/3 of them are left of n³. Matrices that are small, or of symbolic
 * extent, are one panel: each panel is kernels of its own. Golub & Van Loan, Matrix Computations,
 * sections 3.2.11 and 4.2.9.
 */
import type { Dim } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { broadcastTo } from "../ops/broadcast.ts";
import { matmul } from "../ops/contraction.ts";
import { select } from "../ops/elementwise/compare.ts";
import { convert } from "../ops/elementwise/convert.ts";
import { concat } from "../ops/join.ts";
import { sliceAxis } from "../ops/movement.ts";
import { sum } from "../ops/reduce.ts";
import { argSort } from "../ops/sort.ts";
import { constant, iota } from "../ops/source.ts";
import {
  choleskyPanel,
  eliminatedPanel,
  type Panel,
  substitutedPanel,
  type Triangle,
} from "./factor.ts";
import { asColumn, asRow, batchOf, rowsInOrder, turned } from "./matrices.ts";

/**
 * How many panels matrices of this extent are taken in. Each is compiled to kernels of its own, so
 * few, and none where a program is sooner run than compiled.
 */
export function panelsOf(n: Dim): number {
  if (typeof n !== "number" || n < 256) return 1;
  return n < 1024 ? 2 : 4;
}

/** Where panels begin and end; the last is the smallest. */
function bordersOf(n: Dim, panels: number): readonly (readonly [from: number, to: number])[] {
  if (typeof n !== "number") return [];
  const width = Math.ceil(n / panels);
  return Array.from({ length: Math.ceil(n / width) }, (_, i) => [
    i * width,
    Math.min(n, (i + 1) * width),
  ]);
}

const rowsOf = (x: Tensor, from: number, to?: number): Tensor => sliceAxis(x, -2, from, to);
const columnsOf = (x: Tensor, from: number, to?: number): Tensor => sliceAxis(x, -1, from, to);

/** Parts side by side, and one above the other; those without an extent are left out. */
function joined(parts: readonly Tensor[], axis: -1 | -2): Tensor {
  const rank = parts[0]!.rank;
  const some = parts.filter((t) => t.shape[rank + axis] !== 0);
  return some.length ? concat(some, rank + axis) : parts[0]!;
}

const zerosLike = (x: Tensor, rows: number, columns: number): Tensor =>
  broadcastTo(constant(0, x.dtype), [...batchOf(x), rows, columns]);

export interface Factors {
  /** The row of x that row i of the factors is of, i32[…, n]. */
  readonly order: Tensor;
  /** Unit lower and upper triangular: lower · upper = the rows of x in that order. */
  readonly lower: Tensor;
  readonly upper: Tensor;
}

/** All rows of a panel, those that were pivots first: i32[…, m]. */
function placesOf({ chosen, left }: Panel, m: number): Tensor {
  const b = chosen.shape[chosen.rank - 1] as number;
  const rows = iota([m]);
  const isAt = asColumn(rows).equal(asRow(chosen));
  const place = sum(convert(isAt, "i32").mul(iota([b])), -1);
  return argSort(select(left, rows.add(b), place), -1);
}

/**
 * Gaussian elimination with partial pivoting. After each panel its pivots' rows go to the top, with
 * their factors so far beside them, and are done with.
 */
export function eliminated(x: Tensor, panels?: number): Factors {
  const n = x.shape[x.rank - 1]!;
  const count = panels ?? panelsOf(n);
  if (count === 1) {
    const { chosen, lower, upper } = eliminatedPanel(x);
    return { order: chosen, lower: rowsInOrder(lower, chosen), upper };
  }
  const lowers: Tensor[] = [];
  const uppers: Tensor[] = [];
  const orders: Tensor[] = [];
  let rest = x;
  let order = broadcastTo(iota([n]), [...batchOf(x), n]);
  for (const [from, to] of bordersOf(n, count)) {
    const [m, width, after] = [(n as number) - from, to - from, (n as number) - to];
    const panel = eliminatedPanel(columnsOf(rest, from, to));
    const places = placesOf(panel, m);
    const moved = rowsInOrder(rest, places);
    const own = rowsInOrder(panel.lower, places);
    order = rowsInOrder(asColumn(order), places).squeeze(-1);
    const [top, below] = [rowsOf(own, 0, width), rowsOf(own, width)];
    const right = substitutedPanel(top, columnsOf(rowsOf(moved, 0, width), to), {
      upper: false,
      unit: true,
    });
    lowers.push(joined([columnsOf(rowsOf(moved, 0, width), 0, from), top, zerosLike(x, width, after)], -1)); // biome-ignore format: one row of blocks
    uppers.push(joined([zerosLike(x, width, from), panel.upper, right], -1));
    orders.push(sliceAxis(order, -1, 0, width));
    if (!after) break;
    const under = rowsOf(moved, width);
    const product = matmul(below, right);
    rest = joined([columnsOf(under, 0, from), below, columnsOf(under, to).sub(product)], -1);
    order = sliceAxis(order, -1, width);
  }
  return {
    order: concat(orders, order.rank - 1),
    lower: joined(lowers, -2),
    upper: joined(uppers, -2),
  };
}

/**
 * L with L·Lᵀ = x, of whose upper triangle nothing is read. NaN from where x is not positive
 * definite.
 */
export function choleskyFactor(x: Tensor, panels?: number): Tensor {
  const n = x.shape[x.rank - 1]!;
  const count = panels ?? panelsOf(n);
  if (count === 1) return choleskyPanel(x);
  const parts: Tensor[] = [];
  let rest = x;
  for (const [from, to] of bordersOf(n, count)) {
    const own = choleskyPanel(columnsOf(rest, 0, to - from));
    parts.push(joined([zerosLike(x, from, to - from), own], -2));
    if (to === n) break;
    const below = rowsOf(own, to - from);
    rest = columnsOf(rowsOf(rest, to - from), to - from).sub(matmul(below, turned(below)));
  }
  return joined(parts, -1);
}

/**
 * X with A·X = B for triangular A, whose other triangle is not read. B is [..., n, m] of the batch
 * of A.
 */
export function substituted(a: Tensor, b: Tensor, kind: Triangle, panels?: number): Tensor {
  const n = a.shape[a.rank - 1]!;
  const count = panels ?? panelsOf(n);
  if (count === 1) return substitutedPanel(a, b, kind);
  const borders = bordersOf(n, count);
  const parts: Tensor[] = [];
  let left = b;
  for (const [from, to] of kind.upper ? [...borders].reverse() : borders) {
    const own = columnsOf(rowsOf(a, from, to), from, to);
    // What is left of B are the rows that are not solved: from the first, or up to the last.
    const here = kind.upper ? rowsOf(left, from) : rowsOf(left, 0, to - from);
    const x = substitutedPanel(own, here, kind);
    parts.push(x);
    const others = kind.upper ? [0, from] : [to, n as number];
    if (others[0] === others[1]) break;
    const beside = columnsOf(rowsOf(a, others[0]!, others[1]!), from, to);
    const rest = kind.upper ? rowsOf(left, 0, from) : rowsOf(left, to - from);
    left = rest.sub(matmul(beside, x));
  }
  return joined(kind.upper ? parts.reverse() : parts, -2);
}
