/**
 * wasm: what was found best with relaxed SIMD on V8 (Node 20) by `bench --cpu` on two cores of a
 * server with AVX-512; `schedule/simd` asks. Caches are the usual ones: 32 KB of L1, 256 KB to 1 MB
 * of L2 a core, lines of 64 bytes.
 */

import type { Machine } from "./machine.ts";

/**
 * A thread. Launch: a call from JavaScript takes 3–5 ns; arguments and the choice of the range make
 * it more. Rates: a matmul of 1024, 31.6 GFLOP/s with plain instructions and 37.4 with relaxed
 * ones; a triad beyond the caches, 12–14 GB/s for long rows and less in between (2026-11).
 */
export const thread: Machine = { name: "wasm", launch: 0.1e-6, flops: 30e9, bytes: 10e9 };

/** Loops of maps, rows and scans (2026-11). */
export const loops = {
  /** Inner loops of at most this many iterations are written out. */
  unrolled: 16,
  /** Expressions that written out loops have, all iterations together. */
  mostParts: 200,
  /** Elements of a map that one unit of work has: its hand-over costs nothing beside them. */
  mapBlock: 4096,
};

/**
 * Square of a transposing map that is walked as one: a cache line of the side that jumps, and its
 * lines in L1 (2026-11).
 */
export const squares = { jump: 16, run: 64 };

/** Columns summed side by side (2026-11). */
export const columns = {
  /** Rows that are summed before their sum is added to the total, and those added at once. */
  rows: 64,
  together: 4,
  /** Columns of a block; of so many in all, the wider one. */
  width: 512,
  many: 4096,
  wide: 1024,
};

/** Sums in f32, docs/decisions/double-accumulation-and-rounding.md (2026-11). */
export const sums = {
  /** Terms that one accumulator takes in one after the other. */
  chain: 64,
  /**
   * Elements of a loop in lanes: of one sum, which has up to 32 accumulators, and where several
   * share the registers.
   */
  oneInLanes: 2048,
  someInLanes: 1024,
};

/** Products by packed panels, docs/decisions/wasm-target.md (2026-11). */
export const packed = {
  /** Steps of depth in a block: panels of this depth fit the first cache. */
  depth: 320,
  /** Rows of a block: of the second cache, and of the first where little is done with a block. */
  rows: 256,
  shallow: 32,
  shallowRows: 64,
  columns: 64,
  /**
   * Panels packed together where their lines lie side by side: as many streams as the first cache
   * has room for in one place.
   */
  panelsTogether: 8,
  /** Rows that lie in a unit's private memory have at most this many elements. */
  privateRows: 1 << 16,
  /** A tile of five rows takes as long as this many of one of four. */
  longer: 1.17,
};

/** Split-K of products with small results (2026-11). */
export const splitK = {
  mostParts: 16,
  /** The sums of a part fit the second cache. */
  mostSums: 1 << 17,
  /** The depth that a part has at least. */
  leastDepth: 512,
};

/** Products without packing: few rows, both operands along K (2026-11). */
export const dots = {
  mostRows: 4,
  /**
   * Terms whose sum is kept in lanes: of one product, which has up to 32 accumulators, and of
   * several.
   */
  depthOfOne: 4096,
  depthOfMany: 2048,
  /** Runs along memory that are shorter do not pay for adding up the lanes. */
  leastRun: 16,
  columns: 64,
  /** Sums in flight, about: of all columns where they are no more, else a power of two. */
  sumsInFlight: 9,
};

/**
 * Products of one left operand in one kernel: sums of one column of each, as many as one product of
 * four rows has; depth and layout are what `dots` and `inBlocks` take (2026-11).
 */
export const siblings = { sums: 4, columns: 1, depth: dots.leastRun, alongDepth: true };

/** Products of weights in blocks, docs/decisions/quantised-weights.md (2026-11). */
export const inBlocks = {
  /** Steps that a lane adds up in one block, and blocks that it adds up: errors grow with both. */
  mostInBlock: 2048,
  mostBlocks: 1024,
  /** Columns of a unit of work. */
  columns: 64,
};

/** Windows of one channel, walked tap by tap (2026-11). */
export const windows = { mostTaps: 49, leastRow: 4 };

/** Units of work that threads share (2026-11). */
export const workItems = {
  /** Units that a kernel should have at least, to keep some threads busy. */
  least: 16,
  /** Outer loops become units of their own if the inner ones still have this many lines. */
  leastLines: 16,
  /** What a symbolic extent is taken to be at least. */
  usual: 256,
  /** Blocks are halved down to so many rows and columns. */
  leastRows: 64,
  leastColumns: 32,
};

/** Prefetches of rows that are read in another order than they lie in (2026-11). */
export const prefetches = {
  /** Elements of a page, of 4 bytes each. */
  page: 1024,
  /**
   * Of shorter rows several share a page, and prefetches cost more than they save; a later one that
   * is longer is lost before it is used.
   */
  shortest: 512,
  longest: 8192,
  /** Matrices of fewer elements stay in cache altogether. */
  leastElements: 1 << 18,
};
