/**
 * js: what was found best on V8 (Node 20) by `bench --cpu` on two cores of a server with AVX-512;
 * `schedule/serial` asks. Kernels run on one thread.
 */

import type { Machine } from "./machine.ts";

/**
 * A thread. Launch: a call of a compiled function with typed arrays. Rates: a matmul of 1024 with a
 * register tile, and a triad beyond the caches (2026-11).
 */
export const engine: Machine = { name: "js", launch: 0.3e-6, flops: 3.5e9, bytes: 4e9 };

/** Maps (2026-11). */
export const maps = {
  /** Elements from which on a map is large. */
  large: 4096,
  /**
   * Elements an iteration of a large map has that has fewer ops than `cheap`, as a costly op is.
   */
  repeated: 4,
  cheap: 12,
};

/** Sums and scans of columns (2026-11). */
export const columns = {
  /** Columns at once: two cache lines of f32. Sums are kept in double, as scalar ones of js are. */
  width: 32,
};

/** Products (2026-11). */
export const products = {
  /** Columns of b staged at once: 64 columns of 1,024 elements are 256 KB, the usual L2. */
  columnBlock: 64,
  /**
   * All of a is staged once if it has at most this many elements; otherwise 4 rows at a time, again
   * for each block.
   */
  wholeLimit: 1 << 22,
};
