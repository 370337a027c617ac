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
import { makeLoop } from "../../fuse/group.ts";
import { constant, load, ref } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { byBlocks, mayBeMany } from "../compensate.ts";
import { isAffine } from "./affine.ts";
import type { Sides } from "./contraction.ts";
import { type Depth, depthOf, outermost, overBlocks, type Part } from "./lines.ts";
import type { Operand } from "./operand.ts";
import { packPanel } from "./pack.ts";
import { blockDepth, tileOf } from "./packed.ts";
import { type Added, results, type Tile, tileSums, widthOf } from "./tile.ts";
import { around, arrayOf, type Block, dtypeOf, inBlock } from "./work-items.ts";

const mostParts = 16;
/** The sums of a part fit the second cache. */
const mostSums = 1 << 17;
/** The depth that a part has at least. */
const leastDepth = 512;

interface Plan {
  readonly context: LoweringContext;
  readonly sides: Sides;
  readonly depth: Depth;
  readonly tile: Tile;
  /** The whole result, rounded up to tiles. */
  readonly block: Block;
  readonly sums: string;
  readonly add: Added;
}

export function splitPhases(
  context: LoweringContext,
  operands: { a: Operand; b: Operand },
  sides: Sides,
) {
  const [m, n] = [sides.rows.total, sides.columns.total];
  if (!isStatic(m) || !isStatic(n) || around(context, sides).length > 0 || m * n === 0)
    return undefined;
  const tile = tileOf(m, n);
  const block = { rows: roundUp(m, tile.rows), columns: roundUp(n, widthOf(tile)) };
  const depth = depthOf(context, [operands.a, operands.b], blockDepth);
  if (block.rows * block.columns > mostSums || minOfDim(depth.total) < (leastDepth * mostParts) / 2)
    return undefined;
  const { extent, step } = outermost(depth);
  const blocks = ceilDiv(extent, step);
  const most = Math.min(mostParts, Math.max(1, maxOfDim(blocks)));
  const size = mulDim(ceilDiv(blocks, most), step);
  const parts = isStatic(size) ? ceilDiv(extent, size) : most;
  const sums = context.buffers.scratch(
    "sums",
    dtypeOf(context),
    mulDim(parts, block.rows * block.columns),
  );
  const blocksOfPart = { depth: ceilDiv(depth.total, parts), most: depth.most };
  const rest = mayBeMany(dtypeOf(context), blocksOfPart)
    ? context.buffers.scratch(
        "sumsLeft",
        dtypeOf(context),
        mulDim(parts, block.rows * block.columns),
      )
    : "";
  const plan: Plan = { context, sides, depth, tile, block, sums, add: { ...blocksOfPart, rest } };
  const part = makeLoop("part", parts);
  const range = (p: Dim): Part => ({
    start: mulDim(p, size),
    end: minDim(extent, mulDim(addDim(p, 1), size)),
  });
  const body = [...partArrays(plan), ...partSums(plan, part.at, range(part.at))];
  return [nest([part], "parallel", body), joined(plan, parts)];
}

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

const partArrays = ({ context, depth, tile, block }: Plan): Stmt[] => [
  arrayOf(context, "packedRows", block.rows * depth.most),
  arrayOf(context, "packedColumns", widthOf(tile) * depth.most),
];

/** Where the sums of a part begin. */
const baseOf = ({ block }: Plan, part: Dim): Dim => mulDim(part, block.rows * block.columns);

/** All sums of one part of depth. */
function partSums(plan: Plan, at: Dim, part: Part): Stmt[] {
  const { context, sides, depth, tile, block, sums, add } = plan;
  const dtype = dtypeOf(context);
  const width = widthOf(tile);
  const [rp, cp] = [makeLoop("p", block.rows / tile.rows), makeLoop("q", block.columns / width)];
  const rowBase = mulDim(rp.at, depth.most * tile.rows);
  const base = baseOf(plan, at);
  const clear = (array: string): Stmt[] => {
    const zero = makeLoop("z", block.rows * block.columns);
    return nest([zero], "simd", [
      { kind: "store", to: array, index: addDim(base, zero.at), value: constant(dtype, 0) },
    ]);
  };
  const blocks = overBlocks(
    depth,
    ({ run, length }) => {
      const rows = { name: "packedRows", width: tile.rows, base: rowBase };
      const columns = { name: "packedColumns", width, base: 0 };
      const tiles = tileSums(tile, dtype, length, {
        row: (k, r) => load(rows.name, dtype, addDim(addDim(rowBase, mulDim(k, tile.rows)), r)),
        column: (k, s) => load(columns.name, dtype, addDim(mulDim(k, width), s)),
        sums,
        base: addDim(base, inBlock(mulDim(rp.at, tile.rows), mulDim(cp.at, width), block)),
        pitch: block.columns,
        add,
      });
      const first = { row: mulDim(rp.at, tile.rows), column: mulDim(cp.at, width) };
      return [
        ...nest([rp], "serial", packPanel(context, sides.rows, { ...rows, first: first.row }, run)),
        ...nest([cp], "serial", [
          ...packPanel(context, sides.columns, { ...columns, first: first.column }, run),
          ...nest([rp], "serial", tiles),
        ]),
      ];
    },
    part,
  );
  return [...clear(sums), ...byBlocks(dtype, add, clear(add.rest), []), ...blocks];
}

/** The sums of all parts added up, and the group's results. */
function joined(plan: Plan, parts: Dim): Stmt[] {
  const { context, sides, block, sums } = plan;
  const dtype = dtypeOf(context);
  const row = makeLoop("row", sides.rows.total);
  const s = makeLoop("s", sides.columns.total);
  const part = makeLoop("part", parts);
  const index = addDim(baseOf(plan, part.at), inBlock(row.at, s.at, block));
  const rename = new Map([...sides.rows.at(row.at), ...sides.columns.at(s.at)]);
  const body: Stmt[] = [
    { kind: "acc", name: "sum", dtype, init: constant(dtype, 0), widened: false },
    ...nest([part], "serial", [
      { kind: "accumulate", name: "sum", reducer: "sum", value: load(sums, dtype, index) },
    ]),
    ...results(context, rename, ref("sum", dtype)),
  ];
  return nest([row], "parallel", nest([s], isAffine(body, s.name) ? "simd" : "serial", body));
}
