/**
 * A contraction of f16 by a GPU's matrix units: a workgroup computes a tile of the result, a subgroup some matrices of it, summed
 * in f32. Operands are brought as for other tiles, a step ahead; results go through workgroup memory, a matrix of each
 * subgroup at a time, to the invocations that store them. Refused where the device names no unit.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  modDim,
  mulDim,
  negDim,
  subDim,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import type { MatrixStep } from "../kernel/matrix.ts";
import { hasNativeHalf, type Job } from "../lower/job.ts";
import { decode, nest, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { call, constant, load, ref } from "../lower/value.ts";
import { walkOf } from "./gpu-depth.ts";
import {
  decoded,
  decodedQuads,
  insideLines,
  type Lines,
  lineOf,
  quadOf,
  sideName,
  sumDtype,
} from "./gpu-lines.ts";
import {
  type MatrixTiling,
  matrixTilingOf,
  outStride,
  pad,
  subgroupsOf,
  type Unit,
  unitOf,
} from "./gpu-matrix-unit.ts";
import type { Which } from "./gpu-tile.ts";
import { bringNext, type Loader, loaderOf, type Tile } from "./gpu-tile-load.ts";
import { results } from "./gpu-tile-store.ts";
import { storeSide } from "./side-sum.ts";
import { wideParams } from "./vector.ts";

interface Plan {
  readonly job: Job;
  readonly unit: Unit;
  readonly tiling: MatrixTiling;
  readonly tile: Tile;
  readonly rows: Lines;
  readonly columns: Lines;
  /** The number of the subgroup. */
  readonly subgroup: Dim;
}

/** Undefined where there is no unit, no operands for it, or too few results. */
export function gpuMatrix(job: Job, rows: Which): Scheduled | undefined {
  const c = job.group.contraction!;
  const unit = unitOf(job.features);
  if (!unit || !hasNativeHalf(job, c.a.operand.dtype)) return undefined;
  const [m, n] = (rows === "a" ? [c.m, c.n] : [c.n, c.m]).map(totalOf) as [Dim, Dim];
  const few = (d: Dim, least: number): boolean => typeof d === "number" && d < least;
  if (few(m, unit.m) || few(n, unit.n) || few(totalOf(c.k), unit.k)) return undefined;
  const tiling = matrixTilingOf([m, n, totalOf(c.batch)], unit, {
    invocations: job.limits.maxComputeInvocationsPerWorkgroup ?? 256,
    memory: job.limits.maxComputeWorkgroupStorageSize ?? 16384,
  });
  return tiling && scheduled(job, unit, tiling, rows);
}

function scheduled(job: Job, unit: Unit, tiling: MatrixTiling, which: Which): Scheduled {
  const c = job.group.contraction!;
  const invocations = subgroupsOf(tiling, unit) * unit.size;
  const [me, subgroup] = [
    makeLoop("me", invocations),
    makeLoop("subgroup", invocations / unit.size),
  ];
  const lane = makeLoop("lane", 4);
  const of = (side: Which, name: string, count: number) => {
    const loops = side === "a" ? c.m : c.n;
    const limit = totalOf(loops);
    const grid = makeLoop(name, ceilDiv(limit, count));
    const last = loops.at(-1);
    const inFours = last !== undefined && modDim(last.extent, 4) === 0;
    const sums = job.group.sideSums.filter((s) => s.side === side);
    const at = { tile: grid.at, place: 0, own: 4 };
    return {
      lines: { which: side, operand: c[side], loops, limit, count, ...at, inFours, sums },
      grid,
    };
  };
  const r = of(which, "tileRow", tiling.rows);
  const q = of(which === "a" ? "b" : "a", "tileColumn", tiling.columns);
  const { depth } = tiling;
  const walk = walkOf(job, depth);
  const tile = { job, lane, me: me.at, invocations, depth, room: false, walk };
  const plan = { job, unit, tiling, tile, rows: r.lines, columns: q.lines, subgroup: subgroup.at };
  const batch = makeLoop("batch", totalOf(c.batch));
  const body: Stmt[] = [
    { kind: "letInvocation", name: me.name },
    { kind: "letSubgroup", name: subgroup.name },
    ...decode(c.batch, batch.at),
    ...planBody(plan, lane),
  ];
  return {
    body: nest([batch, r.grid, q.grid], "workgroup", body),
    workgroupSize: invocations,
    wide: wideParams(body, lane.name),
  };
}

const matrix = (does: MatrixStep): Stmt => ({ kind: "matrix", does });
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const sumOf = (i: number, j: number): string => `c${i}_${j}`;

function planBody(p: Plan, lane: Loop): Stmt[] {
  const { tile: t, tiling, unit } = p;
  const loaders = [p.rows, p.columns].map((l) => loaderOf(t, l, pad)) as [Loader, Loader];
  const step = makeLoop("step", t.walk.steps);
  const before = makeLoop("before", subDim(t.walk.steps, 1));
  const sums = range(tiling.down).flatMap((i) => range(tiling.across).map((j) => sumOf(i, j)));
  const lanes: Stmt[] = [
    ...loaders.filter((l) => l.wide).flatMap((l) => l.held),
    ...loaders.flatMap((l) => l.bring(0)),
    ...nest([step], "serial", [
      ...loaders.flatMap((l) => l.put),
      { kind: "barrier" },
      ...bringNext(t, step, before, loaders),
      ...multiply(p, loaders),
      ...addSides(p, p.rows, p.columns, loaders[0]),
      ...addSides(p, p.columns, p.rows, loaders[1]),
      { kind: "barrier" },
    ]),
  ];
  const inLanes = p.columns.inFours ? drain(p, lane.at) : undefined;
  const dynamic = inLanes === undefined || isDynamic(inLanes);
  return [
    ...loaders.map((l) => l.array),
    {
      kind: "array",
      name: "out",
      dtype: "f32",
      size: subgroupsOf(tiling, unit) * unit.m * outStride(unit),
      space: "shared",
      width: 4,
    },
    ...sums.map((name) => matrix({ step: "zero", name, shape: unit })),
    ...loaders.filter((l) => !l.wide).flatMap((l) => l.held),
    ...[p.rows, p.columns].flatMap((l) => l.sums.map((_, s) => zeroed(l, s))),
    ...nest([lane], "vector", dynamic ? lanes : [...lanes, ...inLanes]),
    ...(dynamic ? drain(p, undefined) : []),
    ...finishSides(p, p.rows, p.columns),
    ...finishSides(p, p.columns, p.rows),
  ];
}

/** The first row and column of a subgroup's results in the tile. */
function cornerOf({ tiling, unit }: Plan, subgroup: Dim): [Dim, Dim] {
  const perRow = tiling.columns / (tiling.across * unit.n);
  return [
    mulDim(floorDiv(subgroup, perRow), tiling.down * unit.m),
    mulDim(modDim(subgroup, perRow), tiling.across * unit.n),
  ];
}

function multiply(p: Plan, [a, b]: readonly [Loader, Loader]): Stmt[] {
  const { tiling, unit: shape } = p;
  const [row, column] = cornerOf(p, p.subgroup);
  const from = (l: Loader, side: "left" | "right", name: string, line: Dim, k: number): Stmt => {
    const index = l.alongK ? addDim(mulDim(line, l.stride), k) : addDim(line, k * l.stride);
    const turned = l.alongK === (side === "right");
    return matrix({
      step: "load",
      name,
      side,
      shape,
      from: l.name,
      index,
      stride: l.stride,
      turned,
    });
  };
  return range(tiling.depth / shape.k).flatMap((u) => {
    const k = u * shape.k;
    return [
      ...range(tiling.across).map((j) =>
        from(b, "right", `b${u}_${j}`, addDim(column, j * shape.n), k),
      ),
      ...range(tiling.down).flatMap((i) => [
        from(a, "left", `a${u}_${i}`, addDim(row, i * shape.m), k),
        ...range(tiling.across).map((j) =>
          matrix({ step: "multiply", name: sumOf(i, j), left: `a${u}_${i}`, right: `b${u}_${j}` }),
        ),
      ]),
    ];
  });
}

/** A matrix of each subgroup at a time to workgroup memory, and from there to the group's results, four columns at a time. */
function drain(p: Plan, lane: Dim | undefined): Stmt[] {
  const { tiling, unit } = p;
  return range(tiling.down).flatMap((i) =>
    range(tiling.across).flatMap((j): Stmt[] => [
      matrix({
        step: "store",
        name: sumOf(i, j),
        to: "out",
        index: mulDim(p.subgroup, unit.m * outStride(unit)),
        stride: outStride(unit),
      }),
      { kind: "barrier" },
      ...range((unit.m * unit.n) / 4 / unit.size).flatMap((u) => storeQuad(p, [i, j], u, lane)),
      { kind: "barrier" },
    ]),
  );
}

/** The `u`th four results of an invocation; without lanes one after the other. */
function storeQuad(p: Plan, [i, j]: readonly [number, number], u: number, lane: Dim | undefined) {
  const { unit, tile: t } = p;
  const quads = (unit.m * unit.n) / 4;
  const flat = addDim(t.me, u * t.invocations);
  const [subgroup, within] = [floorDiv(flat, quads), modDim(flat, quads)];
  const [r, q] = [floorDiv(within, unit.n / 4), modDim(within, unit.n / 4)];
  const [top, left] = cornerOf(p, subgroup);
  const row = lineOf(p.rows, addDim(addDim(top, i * unit.m), r));
  const quad = quadOf(p.columns, addDim(addDim(floorDiv(left, 4), (j * unit.n) / 4), q));
  const at = addDim(
    addDim(mulDim(subgroup, unit.m * outStride(unit)), mulDim(r, outStride(unit))),
    mulDim(q, 4),
  );
  const value = (d: Dim) => load("out", "f32", addDim(at, d));
  const inside = (then: readonly Stmt[], column: Dim): Stmt => ({
    kind: "if",
    when: [insideLines(p.rows, row), insideLines(p.columns, column)],
    then,
  });
  const byRow = decoded(p.rows.loops, row);
  if (lane !== undefined) {
    const by = new Map([...byRow, ...decodedQuads(p.columns.loops, quad, lane)]);
    return [inside(results(p.job, by, value(lane)), mulDim(quad, 4))];
  }
  const s = makeLoop(`s${i}_${j}_${u}`, 4);
  const column = addDim(mulDim(quad, 4), s.at);
  const by = new Map([...byRow, ...decoded(p.columns.loops, column)]);
  return nest([s], "serial", [inside(results(p.job, by, value(s.at)), column)]);
}

const isDynamic = (body: readonly Stmt[]): boolean =>
  body.some((s) => s.kind === "letDynamic" || (s.kind === "if" && isDynamic(s.then)));

const zeroed = (l: Lines, s: number): Stmt => {
  const dtype = sumDtype(l.operand.operand.dtype);
  return { kind: "acc", name: sideName(l, s, 0), dtype, init: constant(dtype, 0), wide: true };
};

const isFirst = (d: Dim): Condition => ({ value: negDim(d), test: "nonnegative" });

/** That an invocation sums a line, in the first tile across. */
const sumsLine = (p: Plan, l: Lines, across: Lines): Condition[] => [
  isFirst(across.tile),
  { value: subDim(l.count - 1, p.tile.me), test: "nonnegative" },
];

/** What a step adds to the sums of an operand's lines: an invocation has a line, and reads it from the tile. */
function addSides(p: Plan, l: Lines, across: Lines, loader: Loader): Stmt[] {
  if (l.sums.length === 0) return [];
  const { dtype } = l.operand.operand;
  const wide = sumDtype(dtype);
  const kk = makeLoop(`k${l.which}`, p.tiling.depth);
  const { me } = p.tile;
  const index = loader.alongK
    ? addDim(mulDim(me, loader.stride), kk.at)
    : addDim(mulDim(kk.at, loader.stride), me);
  const term = call("convert", wide, load(loader.name, dtype, index));
  const body = l.sums.map((_, s): Stmt => {
    const name = sideName(l, s, 0);
    return { kind: "set", name, value: call("add", wide, ref(name, wide), term) };
  });
  return [{ kind: "if", when: sumsLine(p, l, across), then: nest([kk], "serial", body) }];
}

function finishSides(p: Plan, l: Lines, across: Lines): Stmt[] {
  const line = lineOf(l, p.tile.me);
  const { dtype } = l.operand.operand;
  return l.sums.map((side, s): Stmt => {
    const name = sideName(l, s, 0);
    const value = call("convert", dtype, ref(name, sumDtype(dtype)));
    return {
      kind: "if",
      when: [...sumsLine(p, l, across), insideLines(l, line)],
      then: [
        { kind: "let", name: `${name}Sum`, value },
        ...decode(l.loops, line),
        ...storeSide(p.job, side, `${name}Sum`),
      ],
    };
  });
}
