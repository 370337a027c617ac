/**
 * Work items of a contraction: blocks of rows and columns in each iteration of the loops around
 * them, how large they are, and the epilogue of a finished block.
 *
 * Why this size: a block's sums live in private memory between runs of K, and its panels in L2,
 * which bounds it from above; at least 16 work items bound it from below, so that some threads
 * find work where the result is small. Blocks are halved, rows first, until there are as many;
 * they are multiples of the tile, so that no tile lies in two of them and no sum depends on the
 * number of threads.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  isStatic,
  maxOfDim,
  minDim,
  minOfDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { constant, load } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import { sumDtype } from "../../lower/value.ts";
import { workItems } from "../../machine/wasm.ts";
import { byBlocks, mayBeMany } from "../compensate.ts";
import { isAffine } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import type { Depth } from "./lines.ts";
import { type Added, results } from "./tile.ts";

/** Rows and columns of a unit; its sums lie in private memory in that shape. */
export interface Block {
  readonly rows: number;
  readonly columns: number;
}

/** Of sums, and of operands where they are packed. */
export const dtypeOf = (context: LoweringContext) =>
  sumDtype(context.group.contraction!.a.operand.dtype);

/** A private array of elements of the sums' dtype. */
export const arrayOf = (context: LoweringContext, name: string, size: Dim): Stmt => ({
  kind: "array",
  name,
  dtype: dtypeOf(context),
  size,
  space: "private",
});

/** The loops outside the lines of both sides: the batch, and loops of the columns. */
export const around = (context: LoweringContext, { columns }: Sides): Loop[] =>
  [...context.group.contraction!.batch, ...columns.spread].filter((l) => l.extent !== 1);

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** The extent, or a usual one where it is not known. */
const usual = (extent: Dim): number =>
  isStatic(extent) ? extent : Math.max(workItems.usual, minOfDim(extent));

/**
 * Lines of blocks of one size, at most about `most`; a multiple of `to`, so that no tile lies in
 * two of them.
 */
function fit(extent: Dim, most: number, to: number): number {
  const count = Math.max(1, Math.ceil(maxOfDim(extent) / most));
  if (!Number.isFinite(count)) return Math.max(to, most - (most % to));
  return Math.max(to, roundUp(Math.ceil(maxOfDim(extent) / count), to));
}

/** Blocks of at most the given size, multiples of the tile, smaller where they would be too few. */
export function blockOf(context: LoweringContext, sides: Sides, tile: Block, most: Block): Block {
  const [m, n] = [sides.rows.total, sides.columns.total];
  const parallel = Math.max(1, minOfDim(totalOf(around(context, sides))));
  let [rows, columns] = [most.rows, parallel >= workItems.least ? 2 * most.columns : most.columns];
  const size = (): Block => ({
    rows: fit(m, rows, tile.rows),
    columns: fit(n, columns, tile.columns),
  });
  const count = (): number => {
    const by = size();
    const blocks = (extent: Dim, of: number) => Math.max(1, Math.ceil(usual(extent) / of));
    return parallel * blocks(m, by.rows) * blocks(n, by.columns);
  };
  while (
    count() < workItems.least &&
    (rows > workItems.leastRows || columns > workItems.leastColumns)
  )
    if (rows > workItems.leastRows) rows /= 2;
    else columns /= 2;
  return size();
}

/**
 * A unit: its first row and column, how many it has, and whether there is but one in each iteration
 * around it.
 */
export interface WorkItem {
  readonly row: Dim;
  readonly column: Dim;
  readonly height: Dim;
  readonly breadth: Dim;
  readonly only: boolean;
}

/** The parallel loop over all units. */
export function overWorkItems(
  context: LoweringContext,
  sides: Sides,
  block: Block,
  body: (unit: WorkItem) => { readonly arrays: readonly Stmt[]; readonly body: readonly Stmt[] },
): Stmt[] {
  const [m, n] = [sides.rows.total, sides.columns.total];
  const row = makeLoop("rowBlock", ceilDiv(m, block.rows));
  const column = makeLoop("columnBlock", ceilDiv(n, block.columns));
  const loops = [...around(context, sides), row, column];
  const unit = makeLoop("unit", totalOf(loops));
  const [firstRow, firstColumn] = [mulDim(row.at, block.rows), mulDim(column.at, block.columns)];
  const made = body({
    row: firstRow,
    column: firstColumn,
    height: within(block.rows, m, firstRow),
    breadth: within(block.columns, n, firstColumn),
    only: row.extent === 1 && column.extent === 1 && sides.columns.spread.length === 0,
  });
  return nest([unit], "parallel", [...made.arrays, ...decode(loops, unit.at), ...made.body]);
}

/** How many of `most` lines from `first` on exist. */
const within = (most: number, total: Dim, first: Dim): Dim =>
  isStatic(total) && total % most === 0 ? most : minDim(most, subDim(total, first));

/**
 * Where the sums of a block lie, and how blocks of depth are added to them, if there are several.
 */
export interface Sums {
  readonly name: string;
  readonly base: Dim;
  readonly add?: Added;
}

/** How many blocks of depth add to a sum, if not one; what is left over of them lies in `rest`. */
export const addedOf = (depth: Depth): { readonly add?: Added } =>
  depth.single ? {} : { add: { depth: depth.total, most: depth.most, rest: "sumsLeft" } };

/** How many products of one left operand the kernel computes; the sums of each are a block. */
export const productCount = ({ group }: LoweringContext): number => 1 + group.siblings.length;

/** The arrays of a unit's sums: of what is left over of them too, if many blocks may add to one. */
export function sumArrays(context: LoweringContext, block: Block, depth: Depth): Stmt[] {
  const { add } = addedOf(depth);
  const rest = add && mayBeMany(dtypeOf(context), add) ? [add.rest] : [];
  const size = productCount(context) * block.rows * block.columns;
  return ["sums", ...rest].map((name) => arrayOf(context, name, size));
}

/** Sets the sums of a block, of each product, to 0, if blocks of depth are added to them. */
export function clearSums(context: LoweringContext, block: Block, { name, base, add }: Sums) {
  if (!add) return [];
  const dtype = dtypeOf(context);
  const clear = (array: string): Stmt[] => {
    const zero = makeLoop("z", productCount(context) * block.rows * block.columns);
    return nest([zero], "simd", [
      { kind: "store", to: array, index: addDim(base, zero.at), value: constant(dtype, 0) },
    ]);
  };
  return [...clear(name), ...byBlocks(dtype, add, clear(add.rest), [])];
}

/** The place of a sum in the block, or in that of a further product. */
export const inBlock = (r: Dim, s: Dim, block: Block, product = 0): Dim =>
  addDim(product * block.rows * block.columns, addDim(mulDim(r, block.columns), s));

/** The group's results for the elements of a unit. */
export function finish(
  context: LoweringContext,
  { rows, columns }: Sides,
  block: Block,
  unit: WorkItem,
): Stmt[] {
  const r = makeLoop("r", block.rows);
  const s = makeLoop("s", block.columns);
  const sums = Array.from({ length: productCount(context) }, (_, i) =>
    load("sums", dtypeOf(context), inBlock(r.at, s.at, block, i)),
  );
  const row = makeLoop("row", rows.total);
  const rename = new Map([...rows.at(row.at), ...columns.at(addDim(unit.column, s.at))]);
  const body = results(context, rename, ...sums);
  const lane = isAffine(body, s.name) ? "simd" : "serial";
  return nest([{ ...r, extent: unit.height }], "serial", [
    { kind: "letIndex", name: row.name, value: addDim(unit.row, r.at) },
    ...nest([{ ...s, extent: unit.breadth }], lane, body),
  ]);
}
