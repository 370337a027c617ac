/**
 * What a device's matrix units take, by the names of its features, and how a contraction is cut for them: the results of a
 * workgroup, those of a subgroup, and the steps of k brought at a time.
 */
import { ceilDiv, type Dim, maxOfDim } from "@kiln-ml/ir";
import type { MatrixShape } from "../kernel/matrix.ts";
import type { Room } from "./gpu-room.ts";

export interface Unit extends MatrixShape {
  /** Invocations of a subgroup. */
  readonly size: number;
}

/** `subgroup-matrix-f16-f32-MxNxK-of-S`: f16 in, f32 out, subgroups always of S invocations. */
const named = /^subgroup-matrix-f16-f32-(\d+)x(\d+)x(\d+)-of-(\d+)$/;

/** The largest unit that the features name. */
export function unitOf(features: readonly string[]): Unit | undefined {
  const units = features.flatMap((f): Unit[] => {
    const [m, n, k, size] = (named.exec(f) ?? []).slice(1).map(Number);
    if (!m || !n || !k || !size || [m, n, k].some((v) => v % 4 !== 0)) return [];
    return [{ m, n, k, size }];
  });
  const volume = (u: Unit): number => u.m * u.n * u.k;
  return units.sort((a, b) => volume(b) - volume(a))[0];
}

export interface MatrixTiling {
  /** Results of a workgroup. */
  readonly rows: number;
  readonly columns: number;
  /** Matrices of a subgroup, down and across. */
  readonly down: number;
  readonly across: number;
  readonly depth: number;
}

/** Elements between the ends of neighbouring lines of a tile, so that they meet different banks. */
export const pad = 8;

export const subgroupsOf = (t: MatrixTiling, u: Unit): number =>
  (t.rows / (t.down * u.m)) * (t.columns / (t.across * u.n));

/** Elements between the rows of a result on its way out. */
export const outStride = (u: Unit): number => u.n + 4;

/** Bytes of workgroup memory at most: a tile's lines are in either order. */
function memoryOf(t: MatrixTiling, u: Unit): number {
  const tile = (lines: number): number =>
    Math.max((lines + 1) * (t.depth + pad), (t.depth + 1) * (lines + pad)) * 2;
  return tile(t.rows) + tile(t.columns) + subgroupsOf(t, u) * u.m * outStride(u) * 4;
}

/** In matrices: workgroups of 8 subgroups, of 4, and small ones; and a guess at the share of the rate of each. */
const choices: readonly (readonly [
  down: number,
  across: number,
  high: number,
  wide: number,
  rate: number,
])[] = [
  [4, 2, 2, 4, 1],
  [4, 2, 1, 4, 0.85],
  [2, 2, 2, 4, 0.8],
  [2, 2, 2, 2, 0.65],
  [2, 1, 1, 2, 0.4],
  [1, 1, 1, 2, 0.25],
  [1, 1, 1, 1, 0.1],
];

/** Workgroups that keep a large card busy. */
const busy = 128;
const usual = 1024;

const fits = (t: MatrixTiling, u: Unit, room: Room): boolean => {
  const invocations = subgroupsOf(t, u) * u.size;
  const each = (lines: number): boolean => ((lines * t.depth) / 4) % invocations === 0;
  return (
    invocations <= room.invocations &&
    memoryOf(t, u) <= room.memory &&
    each(t.rows) &&
    each(t.columns) &&
    (u.m * u.n) % (4 * u.size) === 0
  );
};

/** Tilings that cost more than this many times the least are not worth a trial. */
const hopeless = 4;

/** How a choice among tilings is written: the results of a workgroup, those of a subgroup, the steps of k. */
export const nameOfMatrixTiling = ({ rows, columns, down, across, depth }: MatrixTiling, u: Unit) =>
  `matrix units ${rows}x${columns} ${down * u.m}x${across * u.n} ${depth}`;

/** Tilings for results of some rows by some columns, `batch` times, that of least cost first; none if none fits. */
export function matrixTilingsOf(
  extents: readonly [rows: Dim, columns: Dim, batch: Dim],
  u: Unit,
  room: Room,
): MatrixTiling[] {
  const sizes = extents.map((d) => (typeof d === "number" ? d : Math.min(maxOfDim(d), usual)));
  const [rows, columns, times] = sizes as [number, number, number];
  const costs: { tiling: MatrixTiling; cost: number }[] = [];
  for (const [down, across, high, wide, rate] of choices)
    for (const depth of [2 * u.k, u.k]) {
      const tiling = { rows: high * down * u.m, columns: wide * across * u.n, down, across, depth };
      if (!fits(tiling, u, room)) continue;
      const tiles =
        (ceilDiv(rows, tiling.rows) as number) *
        (ceilDiv(columns, tiling.columns) as number) *
        times;
      const rounds = Math.max(1, tiles / busy);
      const share = depth === u.k ? rate * 0.9 : rate;
      costs.push({ tiling, cost: (rounds * tiling.rows * tiling.columns) / share });
    }
  costs.sort((a, b) => a.cost - b.cost);
  return costs.filter((c) => c.cost <= hopeless * costs[0]!.cost).map((c) => c.tiling);
}
