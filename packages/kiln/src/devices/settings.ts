/**
 * What the command line sets for a whole process. Kept under a global symbol, so that a script which imports its own
 * copy of the package sees it too.
 */
import type { KernelTiming } from "@kiln-ml/runtime/loader";
import type { TuningTable } from "../tune/table.ts";
import type { TargetOption } from "./session.ts";
import type { ThreadCount } from "./wasm-support.ts";

interface Settings {
  target?: TargetOption;
  /** Threads of the wasm device, if it is opened from here on. */
  threads?: ThreadCount;
  /** Accept an adapter that runs on the CPU. */
  softwareAdapter?: boolean;
  /** What a tuner found, for functions that are given no table. */
  tuning?: TuningTable;
  /** False turns fusion off everywhere. */
  fusion?: boolean;
  /** Called after each run with the time of every kernel; runs are slower with it. */
  profile?: (program: string, timings: readonly KernelTiming[]) => void;
}

const key = Symbol.for("kiln-ml.settings");
const shared = globalThis as { [key]?: Settings };
shared[key] ??= {};

export const settings: Settings = shared[key];
