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
import { makeLoop } from "../../fuse/group.ts";
import { load } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Values } from "../../lower/value.ts";
import { isAffine, stepsBy } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import { type Depth, depthOf, type Lines, overBlocks, type Run } from "./lines.ts";
import type { Operand } from "./operand.ts";
import { ifWhole, lanes, type Panel, packPanel, packPanels } from "./pack.ts";
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
  sumArrays,
  type WorkItem,
} from "./work-items.ts";

/** Steps of depth in a block: panels of this depth fit the first cache. */
export const blockDepth = 320;
/** Shallow products do little with a block of sums, so that it should stay in the first cache. */
const shallow = 32;
/**
 * Panels packed together where their lines lie side by side: as many streams as the first cache has
 * room for in one place.
 */
const groupOfPanels = 8;
/** Rows that lie in a unit's private memory have at most this many elements. */
const privateRows = 1 << 16;

interface Plan {
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
  const depth = depthOf(context, [operands.a, operands.b], few ? blockDepth / 5 : blockDepth);
  const tile = tileOf(sides.rows.total, sides.columns.total);
  const rows = maxOfDim(depth.total) <= shallow ? 64 : 256;
  const size = { rows: tile.rows, columns: widthOf(tile) };
  const block = blockOf(context, sides, size, { rows, columns: 64 });
  const plan: Plan = { context, sides, depth, tile, block };
  let packing: Stmt[] = [];
  const units = overWorkItems(context, sides, block, (unit) => {
    const elements = mulDim(block.rows, depth.total);
    const alone = unit.only && isStatic(elements) && elements <= privateRows;
    const rowsAt = packedRows(plan, alone);
    if (!alone) packing = packingPhase(plan, rowsAt);
    const arrays = [
      ...sumArrays(context, block, depth),
      arrayOf(context, "packedColumns", widthOf(tile) * depth.most),
      ...(alone ? [arrayOf(context, rowsAt.name, elements)] : []),
    ];
    const first = alone ? nest([rowsAt.panel], "serial", packRows(plan, rowsAt)) : [];
    const sums = [...clearSums(context, block, depth), ...tiles(plan, unit, rowsAt)];
    return { arrays, body: [...first, ...sums, ...finish(context, sides, block, unit)] };
  });
  return [packing, units];
}

/** A tile of five rows takes as long as this many of one of four. */
const longer = 1.17;

/** Ten vector sums where the rows fill them, eight, or as many as the extents have use for. */
export function tileOf(m: Dim, n: Dim): Tile {
  const [rows, columns] = [Math.max(1, maxOfDim(m)), Math.max(1, maxOfDim(n))];
  if (columns <= lanes && rows > 4) return { rows: 8, vectors: 1 };
  const least = minOfDim(m);
  if (least > 4 && Math.ceil(least / 5) * longer < Math.ceil(least / 4))
    return { rows: 5, vectors: 2 };
  const wanted = rows >= 4 ? 2 : rows === 1 ? 8 : rows === 2 ? 4 : 2;
  return { rows: Math.min(4, rows), vectors: Math.min(wanted, Math.ceil(columns / lanes)) };
}

/** Where packed rows lie. */
interface PackedRows {
  readonly name: string;
  /** A loop over the panels, and the place of a panel. */
  readonly panel: ReturnType<typeof makeLoop>;
  base(panel: Dim): Dim;
}

function packedRows({ context, sides, depth, tile }: Plan, alone: boolean): PackedRows {
  const panels = ceilDiv(sides.rows.total, tile.rows);
  const panel = makeLoop("panel", panels);
  const size = mulDim(depth.total, tile.rows);
  if (alone) return { name: "packedRows", panel, base: (p) => mulDim(p, size) };
  const { batch } = context.group.contraction!;
  const total = mulDim(mulDim(totalOf(batch), panels), size);
  const flat = offsetOf(
    batch.map((l) => l.extent),
    batch.map((l) => l.at),
  );
  const name = context.buffers.scratch("packedRows", dtypeOf(context), total);
  return { name, panel, base: (p) => mulDim(addDim(mulDim(flat, panels), p), size) };
}

function packRows(
  { context, sides, depth, tile }: Plan,
  { name, panel, base }: PackedRows,
): Stmt[] {
  const to = { name, width: tile.rows, first: mulDim(panel.at, tile.rows), base: base(panel.at) };
  return packPanel(context, sides.rows, to, depth.whole);
}

function packingPhase(plan: Plan, to: PackedRows): Stmt[] {
  const { context, sides, depth, tile } = plan;
  const group = makeLoop("group", ceilDiv(sides.rows.total, tile.rows * groupOfPanels));
  const first = mulDim(group.at, groupOfPanels);
  const panels = { name: to.name, width: tile.rows, first, count: groupOfPanels, base: to.base };
  const together = packPanels(context, sides.rows, panels, depth.whole);
  const inner = together ? group : to.panel;
  const loops = [...context.group.contraction!.batch.filter((l) => l.extent !== 1), inner];
  const unit = makeLoop("unit", totalOf(loops));
  const body = together ?? packRows(plan, to);
  return [
    { kind: "comment", text: "pack by rows" },
    ...nest([unit], "parallel", [...decode(loops, unit.at), ...body]),
  ];
}

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
  const lane = makeLoop("lane", lanes);
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
 */
function tiles(plan: Plan, unit: WorkItem, rows: PackedRows): Stmt[] {
  const { context, sides, depth, tile, block } = plan;
  const dtype = dtypeOf(context);
  const width = widthOf(tile);
  const rp = makeLoop("p", ceilDiv(unit.height, tile.rows));
  const cp = makeLoop("q", ceilDiv(unit.breadth, width));
  const first = addDim(unit.column, mulDim(cp.at, width));
  const panel: Panel = { name: "packedColumns", width, first, base: 0 };
  return overBlocks(depth, ({ run, length, from }) => {
    const rowPanel = addDim(ceilDiv(unit.row, tile.rows), rp.at);
    const rowBase = addDim(rows.base(rowPanel), mulDim(from, tile.rows));
    const access: TileAccess = {
      row: (step, r) => load(rows.name, dtype, addDim(addDim(rowBase, mulDim(step, tile.rows)), r)),
      column: (step, s) => load(panel.name, dtype, addDim(mulDim(step, width), s)),
      sums: "sums",
      base: inBlock(mulDim(rp.at, tile.rows), mulDim(cp.at, width), block),
      pitch: block.columns,
      ...addedOf(depth),
    };
    const packed = [
      ...packPanel(context, sides.columns, panel, run),
      ...nest([rp], "serial", tileSums(tile, dtype, length, access)),
    ];
    const column =
      maxOfDim(sides.rows.total) <= tile.rows && inPlace(context, sides.columns, first, run);
    if (!column) return nest([cp], "serial", packed);
    const direct = nest([rp], "serial", tileSums(tile, dtype, length, { ...access, column }));
    return nest([cp], "serial", ifWhole(sides.columns, panel, direct, packed));
  });
}
