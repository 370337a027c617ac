/**
 * A contraction of f16 by a GPU's matrix units: a workgroup computes a tile of the result, a
 * subgroup some matrices of it, summed in f32. Operands are staged as for other tiles, a step
 * ahead; results go through workgroup memory, a matrix of each subgroup at a time, to the
 * invocations that store them. Refused where the device names no unit.
 *
 * Why results take that way: which element of a matrix an invocation holds is not told, so that an
 * epilogue must read them back by index; one matrix at a time needs little memory beside the
 * operands.
 */
import { addDim, type Condition, type Dim, floorDiv, modDim, mulDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isBelow, isFirst } from "../../kernel/conditions.ts";
import { load, ref } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { MatrixStep } from "../../kernel/matrix.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { sumDtype } from "../../lower/value.ts";
import { vectorisedParams } from "../vector.ts";
import { kOrderOf } from "./k-order.ts";
import {
  decoded,
  decodedQuads,
  insideLines,
  type Lines,
  lineOf,
  linesOf,
  quadOf,
  range,
  sideName,
  sumName,
  type Which,
} from "./lines.ts";
import {
  type MatrixTiling,
  type MatrixUnit,
  matrixTilingsOf,
  matrixUnitOf,
  nameOfMatrixTiling,
  outStride,
  pad,
  subgroupsOf,
} from "./matrix-unit.ts";
import { type Loader, loaderOf, stepped, type Tile } from "./tile-load.ts";
import { addReductions, finishReduction, isDynamic, results, zeroed } from "./tile-store.ts";
import { hasNativeHalf, workgroupLimitsOf } from "./workgroup-limits.ts";

interface Plan {
  readonly context: LoweringContext;
  readonly unit: MatrixUnit;
  readonly tiling: MatrixTiling;
  readonly tile: Tile;
  readonly rows: Lines;
  readonly columns: Lines;
  /** The number of the subgroup. */
  readonly subgroup: Dim;
}

/**
 * Its ways by name, the best first; none where there is no unit, no operands for it, or too few
 * results.
 */
export function gpuMatrix(context: LoweringContext, rows: Which): [string, () => Scheduled][] {
  const c = context.group.contraction!;
  const unit = matrixUnitOf(context.features);
  if (!unit || !hasNativeHalf(context, c.a.operand.dtype)) return [];
  const [m, n] = (rows === "a" ? [c.m, c.n] : [c.n, c.m]).map(totalOf) as [Dim, Dim];
  const few = (d: Dim, least: number): boolean => typeof d === "number" && d < least;
  if (few(m, unit.m) || few(n, unit.n) || few(totalOf(c.k), unit.k)) return [];
  const extents = [m, n, totalOf(c.batch), totalOf(c.k)] as const;
  const summed = (ofRows: boolean): boolean =>
    context.group.operandReductions.some((s) => (s.operand === rows) === ofRows);
  const tilings = matrixTilingsOf(extents, unit, workgroupLimitsOf(context), [
    summed(true),
    summed(false),
  ]);
  return tilings.map((tiling) => [
    nameOfMatrixTiling(tiling, unit),
    () => scheduled(context, unit, tiling, rows),
  ]);
}

function scheduled(
  context: LoweringContext,
  unit: MatrixUnit,
  tiling: MatrixTiling,
  which: Which,
): Scheduled {
  const c = context.group.contraction!;
  const invocations = subgroupsOf(tiling, unit) * unit.size;
  const [me, subgroup] = [
    makeLoop("me", invocations),
    makeLoop("subgroup", invocations / unit.size),
  ];
  const lane = makeLoop("lane", 4);
  const own = { own: 4, place: 0 };
  const r = linesOf(context, which, "tileRow", { count: tiling.bm, ...own });
  const other = which === "a" ? "b" : "a";
  const q = linesOf(context, other, "tileColumn", { count: tiling.bn, ...own });
  const { bk: depth } = tiling;
  const walk = kOrderOf(context, depth);
  const tile = { context, lane, me: me.at, invocations, depth, room: false, walk };
  const plan = {
    context,
    unit,
    tiling,
    tile,
    rows: r.lines,
    columns: q.lines,
    subgroup: subgroup.at,
  };
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
    vectorised: vectorisedParams(body, lane.name),
  };
}

const matrix = (does: MatrixStep): Stmt => ({ kind: "matrix", does });

function planBody(p: Plan, lane: Loop): Stmt[] {
  const { tile: t, tiling, unit } = p;
  const loaders = [
    loaderOf(t, p.rows, { lines: tiling.wm * unit.m, pad }),
    loaderOf(t, p.columns, { lines: tiling.wn * unit.n, pad }),
  ] as const;
  const sums = range(tiling.wm).flatMap((i) => range(tiling.wn).map((j) => sumName(i, j)));
  const lanes: Stmt[] = [
    ...loaders.filter((l) => l.wide).flatMap((l) => l.held),
    ...stepped(t, loaders, [
      ...multiply(p, loaders),
      ...addOwn(p, p.rows, p.columns, loaders[0]),
      ...addOwn(p, p.columns, p.rows, loaders[1]),
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
      parts: subgroupsOf(tiling, unit),
    },
    ...sums.map((name) => matrix({ step: "zero", name, shape: unit })),
    ...loaders.filter((l) => !l.wide).flatMap((l) => l.held),
    ...[p.rows, p.columns].flatMap((l) =>
      l.sums.map((_, s) => zeroed(sideName(l, s, 0), sumDtype(l.operand.operand.dtype))),
    ),
    ...nest([lane], "vector", dynamic ? lanes : [...lanes, ...inLanes]),
    ...(dynamic ? drain(p, undefined) : []),
    ...finishOwn(p, p.rows, p.columns),
    ...finishOwn(p, p.columns, p.rows),
  ];
}

/** The first row and column of a subgroup's results in the tile. */
function cornerOf({ tiling, unit }: Plan, subgroup: Dim): [Dim, Dim] {
  const perRow = tiling.bn / (tiling.wn * unit.n);
  return [
    mulDim(floorDiv(subgroup, perRow), tiling.wm * unit.m),
    mulDim(modDim(subgroup, perRow), tiling.wn * unit.n),
  ];
}

function multiply(p: Plan, [a, b]: readonly [Loader, Loader]): Stmt[] {
  const { tiling, unit: shape } = p;
  const perRow = tiling.bn / (tiling.wn * shape.n);
  // Of each operand a subgroup has a part to itself, so that all else is constant.
  const parts = { left: floorDiv(p.subgroup, perRow), right: modDim(p.subgroup, perRow) };
  const from = (l: Loader, side: "left" | "right", name: string, line: number, k: number): Stmt => {
    const index = l.plain(parts[side], line, k);
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
  return range(tiling.bk / shape.k).flatMap((u) => {
    const k = u * shape.k;
    return [
      ...range(tiling.wn).map((j) => from(b, "right", `b${u}_${j}`, j * shape.n, k)),
      ...range(tiling.wm).flatMap((i) => [
        from(a, "left", `a${u}_${i}`, i * shape.m, k),
        ...range(tiling.wn).map((j) =>
          matrix({
            step: "multiply",
            name: sumName(i, j),
            left: `a${u}_${i}`,
            right: `b${u}_${j}`,
          }),
        ),
      ]),
    ];
  });
}

/**
 * A matrix of each subgroup at a time to workgroup memory, and from there to the group's results,
 * four columns at a time.
 */
function drain(p: Plan, lane: Dim | undefined): Stmt[] {
  const { tiling, unit } = p;
  return range(tiling.wm).flatMap((i) =>
    range(tiling.wn).flatMap((j): Stmt[] => [
      matrix({
        step: "store",
        name: sumName(i, j),
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
    return [inside(results(p.context, by, value(lane)), mulDim(quad, 4))];
  }
  const s = makeLoop(`s${i}_${j}_${u}`, 4);
  const column = addDim(mulDim(quad, 4), s.at);
  const by = new Map([...byRow, ...decoded(p.columns.loops, column)]);
  return nest([s], "serial", [inside(results(p.context, by, value(s.at)), column)]);
}

/** That an invocation sums a line, in the first tile across. */
const sumsLine = (p: Plan, l: Lines, across: Lines): Condition[] => [
  isFirst(across.tile),
  isBelow(p.tile.me, l.count),
];

/**
 * What a step adds to the sums of an operand's lines: an invocation has a line, and reads it from
 * the tile.
 */
function addOwn(p: Plan, l: Lines, across: Lines, loader: Loader): Stmt[] {
  if (l.sums.length === 0) return [];
  const kk = makeLoop(`k${l.which}`, p.tiling.bk);
  const { me } = p.tile;
  const { lines } = loader;
  const index = loader.plain(floorDiv(me, lines), modDim(me, lines), kk.at);
  const body = addReductions(l, [0], () => load(loader.name, l.operand.operand.dtype, index));
  return [{ kind: "if", when: sumsLine(p, l, across), then: nest([kk], "serial", body) }];
}

const finishOwn = (p: Plan, l: Lines, across: Lines): Stmt[] =>
  l.sums.map((_, s) => {
    const held = sideName(l, s, 0);
    return finishReduction(p.context, l, {
      s,
      line: lineOf(l, p.tile.me),
      sum: ref(held, sumDtype(l.operand.operand.dtype)),
      name: `${held}Sum`,
      when: sumsLine(p, l, across),
    });
  });
