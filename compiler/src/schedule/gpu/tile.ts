/**
 * A contraction in block tiles on a GPU: a workgroup computes BM × BN results, an invocation TM ×
 * TN of them in registers, its columns as vectors of four. While one step of K is multiplied, the
 * next is on its way from memory to registers. Sums run in the order of K.
 *
 * Why this shape: arithmetic bounds a large product, if registers feed it: 8 × 16 results an
 * invocation read 24 numbers for 128 FMAs. Fetching a step ahead in registers needs no second
 * buffer, so that tiles can be larger; it took 4096³ from 39 to 49 TFLOP/s on an H200. The last
 * step fetches its own elements again, which costs less than a test.
 */
import { addDim, floorDiv, modDim, mulDim, subDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isAtLeast0, isBelow } from "../../kernel/conditions.ts";
import { load, ref } from "../../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { fromIndex, sumDtype } from "../../lower/value.ts";
import { tileLoops } from "../../machine/products.ts";
import { invocationsOf, memoryOf, type Tiling } from "../../machine/tile.ts";
import { vectorisedParams } from "../vector.ts";
import { type Region, type Regions, tilesOf } from "./edge-tiles.ts";
import { kOrderOf } from "./k-order.ts";
import { joinKSlices, type KSlices, kSlicesOf, ofFirst } from "./k-slices.ts";
import { acrossOf, type Lines, linesOf, range, sumName, type Which } from "./lines.ts";
import {
  apart,
  comesInFours,
  type Loader,
  loaderOf,
  runsAlongK,
  stepped,
  type Tile,
} from "./tile-load.ts";
import { addReductions, blockOf } from "./tile-store.ts";
import type { Cut } from "./tiling.ts";
import { tileBytes, workgroupLimitsOf } from "./workgroup-limits.ts";

/** What all tiles of a kernel share. */
interface Shared {
  readonly context: LoweringContext;
  readonly me: Loop;
  readonly lane: Loop;
  /** Whether workgroup memory has room for lines that stand apart. */
  readonly room: boolean;
  /** The operand whose lines are the rows. */
  readonly rows: Which;
}

function sharedOf(context: LoweringContext, { tiling, mixed }: Cut, rows: Which): Shared {
  const memory = mixed ? mixed.memory(apart) : memoryOf(tiling, tileBytes, apart);
  const room = memory <= workgroupLimitsOf(context).memory;
  return {
    context,
    me: makeLoop("me", invocationsOf(tiling)),
    lane: makeLoop("lane", 4),
    room,
    rows,
  };
}

interface Layout {
  readonly tile: Tile;
  readonly rows: Lines;
  readonly columns: Lines;
  /** The tiles of the grid. */
  readonly tiles: readonly [Loop, Loop];
  readonly slices: KSlices;
}

/** Tiles of the whole result, or of a part. */
function layoutOf(
  { context, me, lane, room, rows }: Shared,
  tiling: Tiling,
  part?: Region,
): Layout {
  const { bk: depth } = tiling;
  const invocations = me.extent as number;
  const slices = kSlicesOf(me.at, invocations, tiling.slices ?? 1);
  const perRow = tiling.bn / tiling.tn;
  const other = rows === "a" ? "b" : "a";
  const r = linesOf(
    context,
    rows,
    "tileRow",
    // A tile with one row of invocations has no more rows than there are.
    {
      count: tiling.bm,
      own: part ? Math.min(tiling.tm, part.rows.limit - part.rows.from) : tiling.tm,
      place: floorDiv(slices.place, perRow),
    },
    part?.rows,
  );
  const q = linesOf(
    context,
    other,
    "tileColumn",
    { count: tiling.bn, own: tiling.tn, place: modDim(slices.place, perRow) },
    part?.columns,
  );
  return {
    tile: { context, lane, me: me.at, invocations, depth, room, walk: kOrderOf(context, depth) },
    rows: r.lines,
    columns: q.lines,
    tiles: [r.grid, q.grid],
    slices,
  };
}

/** How an operand is brought. */
export interface AccessMode {
  /** One element at a time. */
  readonly single: boolean;
  /** Whether its memory runs along k rather than along its lines. */
  readonly alongK: boolean;
}

export function accessModesOf(context: LoweringContext, tiling: Tiling, rows: Which) {
  const { tile, ...lines } = layoutOf(
    sharedOf(context, { tiling, mixed: undefined }, rows),
    tiling,
  );
  const of = (l: Lines): AccessMode => ({
    single: !comesInFours(tile, l),
    alongK: runsAlongK(tile, l),
  });
  return { rows: of(lines.rows), columns: of(lines.columns), guarded: tile.walk.guarded };
}

/** `rows` names the operand whose lines are the tile's rows. */
export function gpuTile(context: LoweringContext, cut: Cut, rows: Which): Scheduled {
  const { batch: loops } = context.group.contraction!;
  const batch = makeLoop("batch", totalOf(loops));
  const shared = sharedOf(context, cut, rows);
  const { grid, body: tiles } = cut.mixed ? mixed(shared, cut.mixed) : alike(shared, cut.tiling);
  const body: Stmt[] = [
    { kind: "letInvocation", name: shared.me.name },
    ...decode(loops, batch.at),
    ...tiles,
  ];
  return {
    body: nest([batch, ...grid], "workgroup", body),
    workgroupSize: shared.me.extent as number,
    vectorised: vectorisedParams(body, shared.lane.name),
  };
}

interface Tiles {
  readonly grid: readonly Loop[];
  readonly body: readonly Stmt[];
}

function alike(shared: Shared, tiling: Tiling): Tiles {
  const layout = layoutOf(shared, tiling);
  return { grid: layout.tiles, body: tileBody(layout) };
}

/** One workgroup after the other has a tile of the first part, of the second, and so on. */
function mixed(shared: Shared, { regions: parts }: Regions): Tiles {
  const counts = parts.map(tilesOf);
  const before = counts.map((_, i) => counts.slice(0, i).reduce((a, b) => a + b, 0));
  const grid = makeLoop("spot", before.at(-1)! + counts.at(-1)!);
  const bodies = parts.map((part, i): Of<"if"> => {
    const layout = layoutOf(shared, part.tiling, part);
    const spot = subDim(grid.at, before[i]!);
    const own = makeLoop("tile", counts[i]!);
    return {
      kind: "if",
      when: [isAtLeast0(spot), isBelow(spot, counts[i]!)],
      then: [
        // Not an index that stands for the other, of which it is not known that it is 0 or more.
        { kind: "letDynamic", name: own.name, value: fromIndex(spot, "i32") },
        ...decode(layout.tiles, own.at),
        ...tileBody(layout),
      ],
    };
  });
  return { grid: [grid], body: withArrays(bodies) };
}

/**
 * Bodies of which each has arrays of its own, with arrays that are large enough for each of them.
 */
function withArrays(bodies: readonly Of<"if">[]): Stmt[] {
  const arrays = new Map<string, Of<"array">>();
  const rest = bodies.map((body): Stmt => {
    const then = body.then.filter((s) => {
      if (s.kind !== "array") return true;
      const size = Math.max(s.size as number, (arrays.get(s.name)?.size ?? 0) as number);
      arrays.set(s.name, { ...s, size });
      return false;
    });
    return { ...body, then };
  });
  return [...arrays.values(), ...rest];
}

function tileBody({ tile: t, rows, columns, slices }: Layout): Stmt[] {
  const loaders = [rows, columns].map((l) => loaderOf(t, l)) as [Loader, Loader];
  // Also where operands are brought as f16. A half's parts are not rounded before they are joined.
  const { dtype } = t.context.group.anchor!;
  const sums = slices.count > 1 ? sumDtype(dtype) : dtype;
  const block = blockOf(t, rows, columns, sums);
  const single = loaders.filter((l) => !l.wide);
  const wide = loaders.filter((l) => l.wide);
  const lanes: Stmt[] = [
    ...wide.flatMap((l) => l.held),
    ...block.sums,
    ...stepped(t, loaders, multiply(t, rows, columns, loaders, slices)),
    ...joinKSlices(t, [rows, columns], loaders, slices, sums),
    ...ofFirst(slices, [...block.keep, ...block.inLanes]),
  ];
  return [
    ...loaders.map((l) => l.array),
    ...block.arrays,
    ...single.flatMap((l) => l.held),
    ...block.rowSums,
    ...nest([t.lane as Loop], "vector", lanes),
    ...ofFirst(slices, block.after),
  ];
}

/** The products of one step of k, from workgroup memory. */
function multiply(
  t: Tile,
  rows: Lines,
  columns: Lines,
  [a, b]: readonly [Loader, Loader],
  slices: KSlices,
): Stmt[] {
  const { dtype } = rows.operand.operand;
  const kk = makeLoop("kk", t.depth / 4 / slices.count);
  const kQuad = addDim(mulDim(kk.at, slices.count), slices.own);
  const body = [0, 1, 2, 3].flatMap((k): Stmt[] => {
    const row = (i: number): Expr => {
      const line = addDim(mulDim(rows.place, rows.own), i);
      return load(a.name, dtype, a.index(floorDiv(line, 4), modDim(line, 4), kQuad, k));
    };
    const column = (j: number): Expr => {
      const quad = addDim(columns.place, j * acrossOf(columns));
      return load(b.name, dtype, b.index(quad, t.lane.at, kQuad, k));
    };
    return [
      ...range(columns.own / 4).map(
        (j): Stmt => ({ kind: "let", name: `b${k}_${j}`, value: column(j) }),
      ),
      ...range(rows.own).flatMap((i): Stmt[] => [
        { kind: "let", name: `a${k}_${i}`, value: row(i) },
        ...range(columns.own / 4).map(
          (j): Stmt => ({
            kind: "fma",
            name: sumName(i, j),
            a: ref(`a${k}_${i}`, dtype),
            b: ref(`b${k}_${j}`, dtype),
          }),
        ),
      ]),
      ...addReductions(rows, range(rows.own), (i) => ref(`a${k}_${i}`, dtype)),
      ...addReductions(columns, range(columns.own / 4), (j) => ref(`b${k}_${j}`, dtype)),
    ];
  });
  const repeated = rows.own * columns.own > tileLoops.written || kk.extent === 1;
  return nest([kk], repeated ? "unrolled" : "serial", body);
}
