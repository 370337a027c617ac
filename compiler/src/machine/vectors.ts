/**
 * Register tiles of products on processors with vectors, by the elements of a vector: what C is
 * printed for. WebAssembly's own, of four, are in `schedule/simd/packed.ts`, with its engines.
 *
 * Sources: AMD64 and Intel 64 have 16 vector registers without AVX-512 and 32 with it (Intel SDM
 * vol. 1, 14 and 15); two FMAs start in a cycle and take four (uops.info, Zen 4 and 5, Skylake-X),
 * so that eight sums hide them; L1 holds 32 to 48 KB. A tile has room for its sums, one step of the
 * columns and a broadcast. 2026-11-29.
 */
export interface VectorTile {
  /** Rows, and vectors of columns. */
  readonly rows: number;
  readonly vectors: number;
  /** Steps of depth in a block: a panel of columns takes two thirds of L1. */
  readonly depth: number;
  /** A step of depth loads the columns and counts, which takes as long as so many rows. */
  readonly stepRows: number;
}

/** By the lanes of a vector; fitted on AVX-512 (Zen 5), 2026-11-29. */
export const vectorTiles: Readonly<Record<number, VectorTile>> = {
  8: { rows: 6, vectors: 2, depth: 320, stepRows: 1.5 },
  16: { rows: 12, vectors: 2, depth: 256, stepRows: 1.5 },
};
