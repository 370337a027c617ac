/**
 * When a sum is worth several kernels: what passes ask that split work for targets with many
 * processors. The work of a launch, and what fills a card like that of `webgpu.ts`.
 */

/** Sums and extremes of one line, docs/decisions/gpu-contraction.md (2026-11). */
export const longSums = {
  /** Reductions of fewer elements are one workgroup's work. */
  leastElements: 1 << 18,
  /** With more results than this the device is busy anyway. */
  mostResults: 64,
  /** Fewer parts gain nothing. */
  leastParts: 16,
  mostParts: 1024,
};

/** Sums of columns, tried on an H200 (2026-11). */
export const columnSums = {
  /** A sum of fewer elements takes less time than another kernel does. */
  leastElements: 1 << 20,
  /**
   * Results that keep the device busy: of an invocation each, and of a workgroup each where the
   * last axis is reduced too.
   */
  busyColumns: 1 << 18,
  busyRows: 1 << 12,
  /** An eighth of that is enough to leave a reduction as it is. */
  slack: 8,
};

/**
 * Sums of terms that have factors in common, counted (2026-11): fewer elements take less time than
 * a launch, whichever way they are read.
 */
export const factoredSums = { leastElements: 1 << 12 };

/**
 * Sums of products, docs/decisions/gpu-contraction.md (2026-11). How many parts take the least time
 * is for `seconds.ts` to say.
 */
export const products = {
  /** Sums of fewer products are over before a second kernel would begin. */
  leastLength: 1024,
  /** The products of a part at least, and the parts at most. */
  leastPart: 128,
  mostParts: 64,
  /** Of few lines: workgroups that keep a device busy, and the products of a part of a line. */
  busyLines: 320,
  partOfLines: 256,
};

/** Lines of scans, tried on an H200 (2026-11). */
export const longScans = {
  /** Shorter lines are one workgroup's work. */
  leastLength: 1 << 16,
  /** So many lines keep a device busy. */
  busyLines: 64,
  mostParts: 1024,
};
