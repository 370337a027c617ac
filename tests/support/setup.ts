/**
 * Configures every test file. Wasm programs run on guarded memory. Of fast-check failures show the
 * inner error, and `FC_RUNS` multiplies the number of runs (a nightly sets 20, a hurried author
 * 0.1); no seed is fixed.
 */
import fc from "fast-check";
import "./guarded-session.ts";
import { asFound } from "./as-found.ts";

const factor = Number(process.env.FC_RUNS ?? 1);

/** n runs of a property, times `FC_RUNS`, at least one. */
export function runs(n: number): number {
  return Math.max(1, Math.round(n * factor));
}

fc.configureGlobal({ includeErrorInReport: true, numRuns: runs(100) });

/** For the worker, after each file. */
export const restore = asFound();
