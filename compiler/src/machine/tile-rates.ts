/**
 * What share of a card's rate each tile of a product reaches: the residual of the cost models of
 * `schedule/gpu`, which know waves, occupancy and register pressure.
 */

/**
 * Tilings and the share of the f32 rate of `card` that they reached on a large product there
 * (NVIDIA H200, docs/decisions/gpu-contraction.md; 2026-11).
 */
// biome-ignore format: one tiling a row
export const tileRates = [
  [{ bm: 128, bn: 128, tm: 8, tn: 16, bk: 16 }, 1],
  [{ bm: 64, bn: 256, tm: 8, tn: 16, bk: 16 }, 0.98],
  [{ bm: 64, bn: 128, tm: 8, tn: 16, bk: 16 }, 0.98],
  [{ bm: 128, bn: 128, tm: 8, tn: 8, bk: 16 }, 0.96],
  [{ bm: 64, bn: 128, tm: 8, tn: 8, bk: 16 }, 0.945],
  [{ bm: 128, bn: 64, tm: 8, tn: 8, bk: 16 }, 0.94],
  [{ bm: 64, bn: 64, tm: 8, tn: 8, bk: 16 }, 0.86],
  [{ bm: 128, bn: 128, tm: 16, tn: 8, bk: 16 }, 0.91],
  [{ bm: 64, bn: 64, tm: 8, tn: 4, bk: 16 }, 0.87],
  [{ bm: 32, bn: 128, tm: 8, tn: 4, bk: 16 }, 0.84],
  [{ bm: 128, bn: 32, tm: 8, tn: 4, bk: 16 }, 0.82],
  [{ bm: 64, bn: 128, tm: 8, tn: 16, bk: 8 }, 0.82],
  [{ bm: 128, bn: 128, tm: 8, tn: 16, bk: 8 }, 0.8],
  [{ bm: 128, bn: 256, tm: 8, tn: 16, bk: 16 }, 0.8],
  [{ bm: 64, bn: 64, tm: 4, tn: 8, bk: 32 }, 0.76],
  [{ bm: 32, bn: 64, tm: 4, tn: 4, bk: 16 }, 0.6],
  [{ bm: 32, bn: 32, tm: 4, tn: 4, bk: 16 }, 0.48],
  [{ bm: 16, bn: 64, tm: 4, tn: 4, bk: 16 }, 0.48],
  [{ bm: 16, bn: 16, tm: 4, tn: 4, bk: 16 }, 0.15],
] as const;

/** A tiling that every device takes, to try what operands are like (2026-11). */
export const trialTile = { bm: 64, bn: 64, tm: 4, tn: 8, bk: 16 };

/**
 * Matrices of a subgroup, down and across; subgroups of a workgroup, likewise; steps of k in units;
 * and the share of its f16 rate that a large product reached so (NVIDIA H200; 2026-11).
 */
// biome-ignore format: one tiling a row
export const matrixRates: readonly (readonly [
  wm: number,
  wn: number,
  subgroupsDown: number,
  subgroupsAcross: number,
  steps: number,
  rate: number,
])[] = [
  [4, 4, 2, 4, 2, 1],
  [4, 4, 2, 2, 2, 0.94],
  [4, 4, 4, 2, 2, 0.96],
  [4, 4, 2, 2, 1, 0.83],
  [2, 4, 2, 2, 2, 0.73],
  [2, 4, 4, 2, 2, 0.67],
  [4, 2, 2, 4, 2, 0.66],
  [4, 4, 1, 2, 2, 0.63],
  [2, 2, 2, 2, 4, 0.58],
  [2, 2, 2, 4, 2, 0.52],
  [2, 2, 2, 2, 2, 0.5],
  [2, 1, 2, 2, 4, 0.41],
  [2, 2, 1, 2, 4, 0.4],
  [2, 1, 1, 2, 4, 0.31],
  [1, 1, 2, 2, 4, 0.29],
  [2, 1, 1, 2, 2, 0.27],
  [1, 1, 1, 2, 2, 0.2],
  [1, 1, 1, 1, 2, 0.1],
  [1, 1, 1, 1, 1, 0.1],
];
