/**
 * A contraction by packed panels. One operand is packed by rows of the result in a phase of its
 * own; then each work item packs the other operand's columns for itself, a block of depth at a
 * time, and runs register tiles over them. Why this shape: the caches bound it. A block of 256
 * rows by 320 terms is 320 KB and stays in L2 while panels of eight columns (10 KB) pass through
 * L1; a tile then reads two operands from cache for ten FMAs. Rows are packed once for all work
 * items, in parallel; columns by each work item for itself, which needs no second barrier. A
 * shallow product (K ≤ 32) does little with a block of sums, so that its blocks are 64 rows and
 * stay in L1. With one panel of rows each column is used once, and is read where it lies.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  isStatic,
  maxOfDim,
  minOfDim,
  mulDim,
  offsetOf,
  substitute,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { load } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Values } from "../../lower/value.ts";
import { vectorTiles } from "../../machine/vectors.ts";
import { packed } from "../../machine/wasm.ts";
import { isAffine, stepsBy } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import { chunk } from "./in-blocks.ts";
import { type Depth, depthOf, type Lines, overBlocks, type Part, type Run } from "./lines.ts";
import type { Operand } from "./operand.ts";
import { ifWhole, lanesIn, liesInChunks, type Panel, packPanel, packPanels } from "./pack.ts";
import { type Tile, type TileAccess, tileSums, widthOf } from "./tile.ts";
import {
  addedOf,
  arrayOf,
  type Block,
  blockOf,
  clearSums,
  dtypeOf,
  finish,
  inBlock,
  overWorkItems,
  type Sums,
  sumArrays,
  type WorkItem,
} from "./work-items.ts";

/** A product, and the tiles and blocks in which it is computed. */
export interface Plan {
  readonly context: LoweringContext;
  readonly sides: Sides;
  readonly depth: Depth;
  readonly tile: Tile;
  readonly block: Block;
}

export function packedPhases(
  context: LoweringContext,
  operands: { a: Operand; b: Operand },
  sides: Sides,
) {
  const few = maxOfDim(sides.rows.total) <= 4;
  const lanes = lanesIn(context);
  const deep = vectorTiles[lanes]?.depth ?? packed.depth;
  const tile = tileOf(sides.rows.total, sides.columns.total, lanes);
  const own = [operands.a, operands.b];
  const blockDepth = few ? packed.depth / 5 : deep;
  const { whole } = depthOf(context, own, blockDepth);
  const multiple = liesInChunks(context, sides.columns, widthOf(tile), whole) ? chunk : 1;
  const depth = depthOf(context, own, blockDepth, multiple);
  const rows = maxOfDim(depth.total) <= packed.shallow ? packed.shallowRows : packed.rows;
  const size = { rows: tile.rows, columns: widthOf(tile) };
  const block = blockOf(context, sides, size, { rows, columns: packed.columns });
  const plan: Plan = { context, sides, depth, tile, block };
  let packing: Stmt[] = [];
  const units = overWorkItems(context, sides, block, (unit) => {
    const elements = mulDim(block.rows, depth.total);
    const alone = unit.only && isStatic(elements) && elements <= packed.privateRows;
    const rowsAt = packedRows(plan, alone);
    if (!alone) packing = packingPhase(plan, rowsAt);
    const arrays = [
      ...sumArrays(context, block, depth),
      arrayOf(context, "packedColumns", widthOf(tile) * depth.most),
      ...(alone ? [arrayOf(context, rowsAt.name, elements)] : []),
    ];
    const panel = panelsOf(plan);
    const rowsFirst = packRows(plan, rowsAt, panel.at, depth.whole);
    const first = alone ? nest([panel], "serial", rowsFirst) : [];
    const sums: Sums = { name: "sums", base: 0, ...addedOf(depth) };
    const body = [...clearSums(context, block, sums), ...tiles(plan, unit, rowsAt, sums)];
    return { arrays, body: [...first, ...body, ...finish(context, sides, block, unit)] };
  });
  return [packing, units];
}

/** All of depth, where it is cut at multiples of a chunk. */
const chunksOf = ({ total, size, single }: Depth): Dim | undefined =>
  single || size % chunk === 0 ? total : undefined;

/** Ten vector sums where the rows fill them, eight, or as many as the extents have use for. */
export function tileOf(m: Dim, n: Dim, lanes: number): Tile {
  const [rows, columns] = [Math.max(1, maxOfDim(m)), Math.max(1, maxOfDim(n))];
  if (vectorTiles[lanes] && rows > 4) return { ...wideTile(rows, columns, lanes), lanes };
  if (columns <= lanes && rows > 4) return { rows: 8, vectors: 1, lanes };
  const least = minOfDim(m);
  if (least > 4 && Math.ceil(least / 5) * packed.longer < Math.ceil(least / 4))
    return { rows: 5, vectors: 2, lanes };
  const wanted = rows >= 4 ? 2 : rows === 1 ? 8 : rows === 2 ? 4 : 2;
  const vectors = Math.min(wanted, Math.ceil(columns / lanes));
  return { rows: Math.min(4, rows), vectors, lanes };
}

/** As many rows as the machine's tile, or the fewer that waste least of the last one. */
function wideTile(rows: number, columns: number, lanes: number): Omit<Tile, "lanes"> {
  const most = vectorTiles[lanes]!;
  const vectors = Math.min(most.vectors, Math.ceil(columns / lanes));
  const cost = (r: number): number => Math.ceil(rows / r) * (r + most.stepRows);
  let best = most.rows;
  if (Number.isFinite(rows))
    for (let r = most.rows - 1; r >= most.rows / 2; r--) if (cost(r) < cost(best)) best = r;
  return { rows: Math.min(best, rows), vectors };
}

/** Where packed rows lie: a panel of them over all of depth, or over a block of it. */
export interface PackedRows {
  readonly name: string;
  base(panel: Dim, from: Dim): Dim;
}

function packedRows({ context, sides, depth, tile }: Plan, alone: boolean): PackedRows {
  const panels = ceilDiv(sides.rows.total, tile.rows);
  const size = mulDim(depth.total, tile.rows);
  const place = (panel: Dim, from: Dim) => addDim(mulDim(panel, size), mulDim(from, tile.rows));
  if (alone) return { name: "packedRows", base: place };
  const { batch } = context.group.contraction!;
  const total = mulDim(mulDim(totalOf(batch), panels), size);
  const flat = offsetOf(
    batch.map((l) => l.extent),
    batch.map((l) => l.at),
  );
  const name = context.buffers.scratch("packedRows", dtypeOf(context), total);
  return { name, base: (p, from) => place(addDim(mulDim(flat, panels), p), from) };
}

/** Packs one panel of rows over a run of depth. */
const packRows = (plan: Plan, rows: PackedRows, panel: Dim, run: Run): Stmt[] => {
  const { rows: width } = plan.tile;
  const to = { name: rows.name, width, first: mulDim(panel, width), base: rows.base(panel, 0) };
  return packPanel(plan.context, plan.sides.rows, to, run);
};

function packingPhase(plan: Plan, to: PackedRows): Stmt[] {
  const { context, sides, depth, tile } = plan;
  const group = makeLoop("group", ceilDiv(sides.rows.total, tile.rows * packed.panelsTogether));
  const first = mulDim(group.at, packed.panelsTogether);
  const base = (panel: Dim) => to.base(panel, 0);
  const panels = { name: to.name, width: tile.rows, first, count: packed.panelsTogether, base };
  const together = packPanels(context, sides.rows, panels, depth.whole);
  const panel = panelsOf(plan);
  const inner = together ? group : panel;
  const loops = [...context.group.contraction!.batch.filter((l) => l.extent !== 1), inner];
  const unit = makeLoop("unit", totalOf(loops));
  const body = together ?? packRows(plan, to, panel.at, depth.whole);
  return [
    { kind: "comment", text: "pack by rows" },
    ...nest([unit], "parallel", [...decode(loops, unit.at), ...body]),
  ];
}

const panelsOf = ({ sides, tile }: Plan): Loop =>
  makeLoop("panel", ceilDiv(sides.rows.total, tile.rows));

/**
 * The element of a panel of columns where it lies, if neighbours lie side by side and depth is one
 * loop: with one panel of rows each is used once.
 */
function inPlace(
  context: LoweringContext,
  columns: Lines,
  first: Dim,
  run: Run,
): TileAccess["column"] | undefined {
  const [step, ...others] = run.loops;
  const lane = makeLoop("lane", lanesIn(context));
  const at = (k: Dim, s: Dim): { block: Values; value: Expr } => {
    const by = new Map([[step!.name, k]]);
    const rename = [...run.rename].map(([name, d]) => [name, substitute(d, by)] as const);
    const block = openBlock(context);
    const value = columns.value(block, new Map([...columns.at(addDim(first, s)), ...rename]));
    return { block, value };
  };
  const { block, value } = at(step!.at, lane.at);
  const body: Stmt[] = [{ kind: "let", name: "x", value }];
  const plain = others.length === 0 && block.body.length === 0;
  if (!plain || !isAffine(body, lane.name) || !stepsBy(body, lane.name, 1)) return undefined;
  return (k, s) => at(k, s).value;
}

/**
 * The sums of a unit: for each block of depth and panel of columns, pack it and run down the rows.
 * Of a part of depth, rows are packed block by block too.
 */
export function tiles(
  plan: Plan,
  unit: Omit<WorkItem, "only">,
  rows: PackedRows,
  sums: Sums,
  part?: Part,
): Stmt[] {
  const { context, sides, depth, tile, block } = plan;
  const dtype = dtypeOf(context);
  const width = widthOf(tile);
  const rp = makeLoop("p", ceilDiv(unit.height, tile.rows));
  const cp = makeLoop("q", ceilDiv(unit.breadth, width));
  const first = addDim(unit.column, mulDim(cp.at, width));
  const panel: Panel = { name: "packedColumns", width, first, base: 0 };
  const sumOf = inBlock(mulDim(rp.at, tile.rows), mulDim(cp.at, width), block);
  const body = ({ run, length, from }: ReturnType<Depth["block"]>): Stmt[] => {
    const rowBase = rows.base(addDim(ceilDiv(unit.row, tile.rows), rp.at), from);
    const access: TileAccess = {
      row: (step, r) => load(rows.name, dtype, addDim(addDim(rowBase, mulDim(step, tile.rows)), r)),
      column: (step, s) => load(panel.name, dtype, addDim(mulDim(step, width), s)),
      sums: sums.name,
      base: addDim(sums.base, sumOf),
      pitch: block.columns,
      ...(sums.add ? { add: sums.add } : {}),
    };
    const tilesOf = (a: TileAccess) => nest([rp], "serial", tileSums(tile, dtype, length, a));
    const rowsOfBlock = part ? nest([rp], "serial", packRows(plan, rows, rp.at, run)) : [];
    const total = part ? undefined : chunksOf(depth);
    const packed = [...packPanel(context, sides.columns, panel, run, total), ...tilesOf(access)];
    const few = !part && maxOfDim(sides.rows.total) <= tile.rows;
    const column = few && inPlace(context, sides.columns, first, run);
    const all = column
      ? ifWhole(sides.columns, panel, tilesOf({ ...access, column }), packed)
      : packed;
    return [...rowsOfBlock, ...nest([cp], "serial", all)];
  };
  return overBlocks(depth, body, part);
}
