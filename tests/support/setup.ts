/**
 * Configures fast-check for every test file: failures show the inner error, and `FC_RUNS` multiplies the number of
 * runs (a nightly sets 20, a hurried author 0.1). No seed is fixed.
 */
import fc from "fast-check";

const factor = Number(process.env.FC_RUNS ?? 1);

/** n runs of a property, times `FC_RUNS`, at least one. */
export function runs(n: number): number {
  return Math.max(1, Math.round(n * factor));
}

fc.configureGlobal({ includeErrorInReport: true, numRuns: runs(100) });
