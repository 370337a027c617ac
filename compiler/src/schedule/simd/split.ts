/**
 * Split-K: a contraction with a small result and great depth, such as the gradient of a
 * convolution's weights. Depth is split in parts, a work item each, which packs both operands a
 * block at a time and keeps sums of the whole result; then the parts' sums are added up in order.
 *
 * Why this shape: a result of a tile or two leaves all threads but one idle. Each operand is read
 * once, and the sums of a part (at most 2^17, half a megabyte) stay in L2. At most 16 parts of at
 * least 512 terms: more would store and read again more sums than they save. How many parts there
 * are depends on the extents alone, so that results have the same bits on any number of threads.
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
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { constant, load, ref } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { packed, splitK } from "../../machine/wasm.ts";
import { mayBeMany } from "../compensate.ts";
import { isAffine } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import { type Depth, depthOf, outermost, type Part } from "./lines.ts";
import type { Operand } from "./operand.ts";
import { lanesIn } from "./pack.ts";
import { type Plan, tileOf, tiles } from "./packed.ts";
import { results, widthOf } from "./tile.ts";
import { around, arrayOf, clearSums, dtypeOf, inBlock, type Sums } from "./work-items.ts";

export function splitPhases(
  context: LoweringContext,
  operands: { a: Operand; b: Operand },
  sides: Sides,
) {
  const [m, n] = [sides.rows.total, sides.columns.total];
  if (!isStatic(m) || !isStatic(n) || around(context, sides).length > 0 || m * n === 0)
    return undefined;
  const tile = tileOf(m, n, lanesIn(context));
  const block = { rows: roundUp(m, tile.rows), columns: roundUp(n, widthOf(tile)) };
  const depth = depthOf(context, [operands.a, operands.b], packed.depth);
  if (
    block.rows * block.columns > splitK.mostSums ||
    minOfDim(depth.total) < (splitK.leastDepth * splitK.mostParts) / 2
  )
    return undefined;
  const plan: Plan = { context, sides, depth, tile, block };
  const { parts, range } = partsOf(depth);
  const dtype = dtypeOf(context);
  const size = block.rows * block.columns;
  const scratch = (name: string): string =>
    context.buffers.scratch(name, dtype, mulDim(parts, size));
  const name = scratch("sums");
  const blocksOfPart = { depth: ceilDiv(depth.total, parts), most: depth.most };
  const rest = mayBeMany(dtype, blocksOfPart) ? scratch("sumsLeft") : "";
  const part = makeLoop("part", parts);
  const sums: Sums = { name, base: mulDim(part.at, size), add: { ...blocksOfPart, rest } };
  const base = (panel: Dim): Dim => mulDim(panel, depth.most * tile.rows);
  const whole = { row: 0, column: 0, height: block.rows, breadth: block.columns };
  const body = [
    arrayOf(context, "packedRows", base(block.rows / tile.rows)),
    arrayOf(context, "packedColumns", widthOf(tile) * depth.most),
    ...clearSums(context, block, sums),
    ...tiles(plan, whole, { name: "packedRows", base }, sums, range(part.at)),
  ];
  return [nest([part], "parallel", body), joined(plan, sums, part)];
}

/** How many parts depth is split in, and the blocks of one. */
function partsOf(depth: Depth): { parts: Dim; range(part: Dim): Part } {
  const { extent, step } = outermost(depth);
  const blocks = ceilDiv(extent, step);
  const most = Math.min(splitK.mostParts, Math.max(1, maxOfDim(blocks)));
  const size = mulDim(ceilDiv(blocks, most), step);
  const startOf = (part: Dim): Dim => mulDim(part, size);
  return {
    parts: isStatic(size) ? ceilDiv(extent, size) : most,
    range: (part) => ({ start: startOf(part), end: minDim(extent, startOf(addDim(part, 1))) }),
  };
}

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** The sums of all parts added up, and the group's results. */
function joined({ context, sides, block }: Plan, sums: Sums, part: Loop): Stmt[] {
  const dtype = dtypeOf(context);
  const row = makeLoop("row", sides.rows.total);
  const s = makeLoop("s", sides.columns.total);
  const index = addDim(sums.base, inBlock(row.at, s.at, block));
  const rename = new Map([...sides.rows.at(row.at), ...sides.columns.at(s.at)]);
  const body: Stmt[] = [
    { kind: "acc", name: "sum", dtype, init: constant(dtype, 0), widened: false },
    ...nest([part], "serial", [
      { kind: "accumulate", name: "sum", reducer: "sum", value: load(sums.name, dtype, index) },
    ]),
    ...results(context, rename, ref("sum", dtype)),
  ];
  return nest([row], "parallel", nest([s], isAffine(body, s.name) ? "simd" : "serial", body));
}
