/**
 * What a device's matrix units take, by the names of its features, and how a contraction is cut
 * for them: the results of a workgroup, those of a subgroup, and the terms of K staged at a time.
 *
 * What bounds a choice: workgroup memory for both operands and for the results on their way out,
 * the registers of a multiprocessor, and a step that takes as long as a million products at
 * full rate however few it has, because its elements have to come. Rates were measured on one
 * card.
 */
import { type Dim, maxOfDim } from "@kiln-ml/ir";
import type { MatrixShape } from "../../kernel/matrix.ts";
import { matrixModel as model } from "../../machine/products.ts";
import { matrixRates } from "../../machine/tile-rates.ts";
import { card } from "../../machine/webgpu.ts";
import { partSize } from "./tile-load.ts";
import type { WorkgroupLimits } from "./workgroup-limits.ts";

export interface MatrixUnit extends MatrixShape {
  /** Invocations of a subgroup. */
  readonly size: number;
}

/** `subgroup-matrix-f16-f32-MxNxK-of-S`: f16 in, f32 out, subgroups always of S invocations. */
const named = /^subgroup-matrix-f16-f32-(\d+)x(\d+)x(\d+)-of-(\d+)$/;

/** The largest unit that the features name. */
export function matrixUnitOf(features: readonly string[]): MatrixUnit | undefined {
  const found = features.flatMap((f): MatrixUnit[] => {
    const [m, n, k, size] = (named.exec(f) ?? []).slice(1).map(Number);
    if (!m || !n || !k || !size || [m, n, k].some((v) => v % 4 !== 0)) return [];
    return [{ m, n, k, size }];
  });
  const volume = (u: MatrixUnit): number => u.m * u.n * u.k;
  return found.sort((a, b) => volume(b) - volume(a))[0];
}

export interface MatrixTiling {
  /** Results of a workgroup. */
  readonly bm: number;
  readonly bn: number;
  /** Matrices of a subgroup, down and across. */
  readonly wm: number;
  readonly wn: number;
  readonly bk: number;
}

/** Elements between the ends of neighbouring lines of a tile, so that they meet different banks. */
export const pad = 8;

export const subgroupsOf = (t: MatrixTiling, u: MatrixUnit): number =>
  (t.bm / (t.wm * u.m)) * (t.bn / (t.wn * u.n));

/** Elements between the rows of a result on its way out. */
export const outStride = (u: MatrixUnit): number => u.n + 4;

/** Bytes of workgroup memory at most: a tile's lines are in either order. */
function memoryOf(t: MatrixTiling, u: MatrixUnit): number {
  const tile = (all: number, lines: number): number => {
    const sizes = [true, false].map((alongK) => partSize({ lines, pad }, t.bk, alongK));
    return (all / lines) * Math.max(...sizes) * 2;
  };
  const tiles = tile(t.bm, t.wm * u.m) + tile(t.bn, t.wn * u.n);
  return tiles + subgroupsOf(t, u) * u.m * outStride(u) * 4;
}

/** Whether sums of the lines of rows, and of columns, run beside the product. */
export type Summed = readonly [rows: boolean, columns: boolean];

const fits = (
  t: MatrixTiling,
  u: MatrixUnit,
  room: WorkgroupLimits,
  [ofRows, ofColumns]: Summed,
): boolean => {
  const invocations = subgroupsOf(t, u) * u.size;
  // An invocation sums one line.
  const each = (lines: number, summed: boolean): boolean =>
    ((lines * t.bk) / 4) % invocations === 0 && (!summed || lines <= invocations);
  return (
    invocations <= room.invocations &&
    memoryOf(t, u) <= room.memory &&
    each(t.bm, ofRows) &&
    each(t.bn, ofColumns) &&
    (u.m * u.n) % (4 * u.size) === 0
  );
};

/** Tilings that cost more than this many times the least are not worth a trial. */
const hopeless = 4;

/**
 * How a choice among tilings is written: the results of a workgroup, those of a subgroup, the steps
 * of k.
 */
export const nameOfMatrixTiling = ({ bm, bn, wm, wn, bk }: MatrixTiling, u: MatrixUnit) =>
  `matrix units ${bm}x${bn} ${wm * u.m}x${wn * u.n} ${bk}`;

/**
 * Tilings for results of some rows by some columns, `batch` times, sums of `k`: that of least cost
 * first; none if none fits.
 */
export function matrixTilingsOf(
  extents: readonly [rows: Dim, columns: Dim, batch: Dim, k: Dim],
  u: MatrixUnit,
  room: WorkgroupLimits,
  summed: Summed,
): MatrixTiling[] {
  const sizes = extents.map((d) =>
    typeof d === "number" ? d : Math.min(maxOfDim(d), model.usual),
  );
  const costs: { tiling: MatrixTiling; cost: number }[] = [];
  for (const [wm, wn, subgroupsDown, subgroupsAcross, steps, rate] of matrixRates) {
    const [bm, bn] = [subgroupsDown * wm * u.m, subgroupsAcross * wn * u.n];
    const tiling = { bm, bn, wm, wn, bk: steps * u.k };
    if (fits(tiling, u, room, summed)) costs.push({ tiling, cost: costOf(tiling, u, sizes, rate) });
  }
  costs.sort((a, b) => a.cost - b.cost);
  return costs.filter((c) => c.cost <= hopeless * costs[0]!.cost).map((c) => c.tiling);
}

/**
 * Products at the full rate that would take as long. Workgroups resident on one multiprocessor
 * wait together.
 */
function costOf(t: MatrixTiling, u: MatrixUnit, sizes: readonly number[], rate: number): number {
  const [rows, columns, times, k] = sizes as [number, number, number, number];
  const tiles = Math.ceil(rows / t.bm) * Math.ceil(columns / t.bn) * times;
  const invocations = subgroupsOf(t, u) * u.size;
  const held = (t.wm * t.wn * u.m * u.n) / u.size + model.otherRegisters;
  const most = Math.max(1, Math.floor(card.registers / (held * invocations)));
  const each = Math.max(1, tiles / model.units);
  const together = Math.min(each, most);
  const step = Math.max(model.latency, (together * t.bm * t.bn * t.bk) / rate);
  return (each / together) * Math.ceil(k / t.bk) * step;
}
