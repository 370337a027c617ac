/**
 * A contraction in tiles on a GPU: a workgroup computes a tile of the result, an invocation a block of it in registers, its
 * columns as vectors of four. While one step of k is multiplied, the next is on its way from memory. Sums run in the order of k.
 */
import { addDim, floorDiv, modDim, mulDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import type { Job } from "../lower/job.ts";
import { decode, nest, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { load, ref } from "../lower/value.ts";
import { walkOf } from "./gpu-depth.ts";
import { acrossOf, type Lines, linesOf, range, sumName, type Which } from "./gpu-lines.ts";
import { roomOf, tileBytes } from "./gpu-room.ts";
import {
  apart,
  comesInFours,
  type Loader,
  loaderOf,
  runsAlongK,
  stepped,
  type Tile,
} from "./gpu-tile-load.ts";
import { addSides, blockOf } from "./gpu-tile-store.ts";
import { invocationsOf, memoryOf, type Tiling } from "./gpu-tiling.ts";
import { wideParams } from "./vector.ts";

interface Layout {
  readonly tile: Tile;
  readonly rows: Lines;
  readonly columns: Lines;
  readonly me: Loop;
  readonly batch: Loop;
  /** The tiles of the grid. */
  readonly tiles: readonly Loop[];
}

function layoutOf(job: Job, tiling: Tiling, rows: Which): Layout {
  const c = job.group.contraction!;
  const invocations = invocationsOf(tiling);
  const me = makeLoop("me", invocations);
  const perRow = tiling.columns / tiling.broad;
  const other = rows === "a" ? "b" : "a";
  const r = linesOf(job, rows, "tileRow", {
    count: tiling.rows,
    own: tiling.tall,
    place: floorDiv(me.at, perRow),
  });
  const q = linesOf(job, other, "tileColumn", {
    count: tiling.columns,
    own: tiling.broad,
    place: modDim(me.at, perRow),
  });
  const { depth } = tiling;
  const room = memoryOf(tiling, tileBytes, apart) <= roomOf(job).memory;
  const lane = makeLoop("lane", 4);
  return {
    tile: { job, lane, me: me.at, invocations, depth, room, walk: walkOf(job, depth) },
    rows: r.lines,
    columns: q.lines,
    me,
    batch: makeLoop("batch", totalOf(c.batch)),
    tiles: [r.grid, q.grid],
  };
}

/** How an operand is brought. */
export interface Manner {
  /** One element at a time. */
  readonly single: boolean;
  /** Whether its memory runs along k rather than along its lines. */
  readonly alongK: boolean;
}

export function mannersOf(job: Job, tiling: Tiling, rows: Which) {
  const { tile, ...lines } = layoutOf(job, tiling, rows);
  const of = (l: Lines): Manner => ({
    single: !comesInFours(tile, l),
    alongK: runsAlongK(tile, l),
  });
  return { rows: of(lines.rows), columns: of(lines.columns), guarded: tile.walk.guarded };
}

/** `rows` names the operand whose lines are the tile's rows. */
export function gpuTile(job: Job, tiling: Tiling, rows: Which): Scheduled {
  const layout = layoutOf(job, tiling, rows);
  const { tile, me, batch } = layout;
  const body: Stmt[] = [
    { kind: "letInvocation", name: me.name },
    ...decode(job.group.contraction!.batch, batch.at),
    ...tileBody(tile, layout.rows, layout.columns),
  ];
  return {
    body: nest([batch, ...layout.tiles], "workgroup", body),
    workgroupSize: tile.invocations,
    wide: wideParams(body, tile.lane.name),
  };
}

function tileBody(t: Tile, rows: Lines, columns: Lines): Stmt[] {
  const loaders = [rows, columns].map((l) => loaderOf(t, l)) as [Loader, Loader];
  const block = blockOf(t, rows, columns);
  const single = loaders.filter((l) => !l.wide);
  const wide = loaders.filter((l) => l.wide);
  const lanes: Stmt[] = [
    ...wide.flatMap((l) => l.held),
    ...block.sums,
    ...stepped(t, loaders, multiply(t, rows, columns, loaders)),
    ...block.keep,
    ...block.inLanes,
  ];
  return [
    ...loaders.map((l) => l.array),
    ...block.arrays,
    ...single.flatMap((l) => l.held),
    ...block.rowSums,
    ...nest([t.lane as Loop], "vector", lanes),
    ...block.after,
  ];
}

/** The products of one step of k, from workgroup memory. */
function multiply(t: Tile, rows: Lines, columns: Lines, [a, b]: readonly [Loader, Loader]): Stmt[] {
  const { dtype } = rows.operand.operand;
  const kQuad = makeLoop("kk", t.depth / 4);
  const body = [0, 1, 2, 3].flatMap((k): Stmt[] => {
    const row = (i: number): Expr => {
      const quad = addDim(mulDim(rows.place, rows.own / 4), Math.floor(i / 4));
      return load(a.name, dtype, a.index(quad, i % 4, kQuad.at, k));
    };
    const column = (j: number): Expr => {
      const quad = addDim(columns.place, j * acrossOf(columns));
      return load(b.name, dtype, b.index(quad, t.lane.at, kQuad.at, k));
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
      ...addSides(rows, range(rows.own), (i) => ref(`a${k}_${i}`, dtype)),
      ...addSides(columns, range(columns.own / 4), (j) => ref(`b${k}_${j}`, dtype)),
    ];
  });
  return nest([kQuad], rows.own * columns.own > 16 ? "unrolled" : "serial", body);
}
