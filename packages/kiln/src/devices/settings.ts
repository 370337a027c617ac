/**
 * What the command line sets for a whole process. Kept under a global symbol, so that a script which imports its own
 * copy of the package sees it too.
 */
import type { TargetName } from "@kiln-ml/artifact";
import type { Device, KernelTiming } from "@kiln-ml/runtime/loader";
import type { Store } from "../cache/store.ts";
import type { TuningTable } from "../tune/table.ts";
import type { TargetOption } from "./session.ts";
import type { ThreadCount } from "./wasm-support.ts";

/** What is known of a program that a function compiled. */
export interface CompiledProgram {
  /** The structure of its arguments. */
  readonly key: string;
  /** Extents of all axes of the arguments, and symbols of those that may change. */
  readonly pattern: readonly (number | string)[];
  readonly traced: { readonly premises: readonly (() => boolean)[] };
}

/** How far a program has come on its way to an artifact. */
export interface CompileStage {
  /** The name of the function that was compiled. */
  readonly program: string;
  /** The stage that is done, "inline" to "emit". */
  readonly stage: string;
}

interface Settings {
  target?: TargetOption;
  /** Threads of the wasm device, if it is opened from here on. */
  threads?: ThreadCount;
  /** The script of those threads, in a page whose policy allows no others. */
  threadScript?: string | URL;
  /** Devices that the program opened itself, which models of artifacts run on as well. */
  used?: Map<TargetName, Device>;
  /** Accept an adapter that runs on the CPU. */
  softwareAdapter?: boolean;
  /** What a tuner found, for functions that are given no table. */
  tuning?: TuningTable;
  /** False compiles every program, whatever is kept. */
  cache?: boolean;
  /** Where programs are kept; null where nowhere. */
  store?: Store | null;
  /** False turns fusion off everywhere. */
  fusion?: boolean;
  /**
   * Called after each stage of a program that is compiled, whoever asked for it, with the time that
   * it took in milliseconds.
   */
  compiling?: (stage: CompileStage, ms: number) => void;
  /** Called with each program that a function compiles, and those that it had; the last of them again if only its device changed. */
  compiled?: (name: string, made: CompiledProgram, earlier: readonly CompiledProgram[]) => void;
  /** Called after each run with the time of every kernel; runs are slower with it. */
  profile?: (program: string, timings: readonly KernelTiming[]) => void;
}

const key = Symbol.for("kiln-ml.settings");
const shared = globalThis as { [key]?: Settings };
shared[key] ??= {};

export const settings: Settings = shared[key];
