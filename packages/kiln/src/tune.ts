/**
 * Finds the fastest of the compiler's choices for a program on the device of a session. First how sums are split, since that
 * decides which kernels there are, then each kernel's own. Loaded, like all of tuning, only when somebody asks for it.
 */
import type { Artifact } from "@kiln-ml/artifact";
import { compileProgram, type Decision, loadTarget, type Program } from "@kiln-ml/compiler";
import { compileOptionsOf } from "./automatic.ts";
import type { CodeOptions } from "./engine.ts";
import type { Session } from "./session.ts";
import { type Timing, type TunedKernel, tuneChoice } from "./tune-choice.ts";
import { placeOf, type TunedChoice, type TuningTable } from "./tuning.ts";

export type { TriedOption, TunedKernel } from "./tune-choice.ts";

export interface TuneOptions {
  /** How often each option is timed; the median counts. Default 7. */
  readonly rounds?: number;
  /** How many options of a choice are timed at most: the compiler's own, and those it thinks next best. */
  readonly most?: number;
  /**
   * Milliseconds of work before each choice is timed, since a card at rest lowers its clock. Default 300, and before the first
   * 1000; on a CPU a tenth of it.
   */
  readonly warmUp?: number;
  /** Kernels as `artifact()` exports them, for the limits that every WebGPU device has. */
  readonly guaranteedLimits?: boolean;
  /** Called as soon as a choice is timed. */
  readonly observe?: (kernel: TunedKernel) => void;
}

/** What a tuner found: every choice with its times, and the table that `compile` takes as `tuning`. */
export interface Tuned {
  readonly kernels: readonly TunedKernel[];
  readonly table: TuningTable;
}

type Dims = Readonly<Record<string, number>>;

export async function tuneProgram(
  session: Session,
  program: Program,
  code: CodeOptions,
  dims: Dims,
  options: TuneOptions,
): Promise<Tuned> {
  await loadTarget(session.target);
  const { device } = session;
  const { observe: _observe, tuning: _tuning, ...plain } = code;
  const compiled = await compileOptionsOf(session, plain);
  const { limits: _limits, features: _features, ...guaranteed } = compiled;
  const base = options.guaranteedLimits ? guaranteed : compiled;
  const found = new Map<string, TunedKernel>();
  const rest = options.warmUp ?? (device.kind === "webgpu" ? 300 : 30);
  let warmUp = options.warmUp ?? 3 * rest;
  const tuneAll = async (wanted: Decision["of"]): Promise<Artifact> => {
    const tuning = Object.fromEntries([...found.values()].map((k) => [k.key, k.best]));
    const { decisions, artifact } = compileProgram(program, { ...base, tuning });
    for (const decision of decisions) {
      if (decision.of !== wanted || decision.options.length < 2 || found.has(decision.key))
        continue;
      const timing: Timing = { rounds: options.rounds ?? 7, warmUp, lead: Math.min(rest / 100, 3) };
      const some = { ...decision, options: decision.options.slice(0, options.most) };
      const kernel = await tuneChoice(device, some, dims, timing);
      warmUp = rest;
      if (!kernel) continue;
      found.set(decision.key, kernel);
      options.observe?.(kernel);
    }
    return artifact;
  };
  await tuneAll("node");
  const { limits } = await tuneAll("kernel");
  const kernels = [...found.values()];
  const choices = kernels.map((k): [string, TunedChoice] => [
    k.key,
    { choice: k.best, ms: k.bestMs, standard: k.standard, standardMs: k.standardMs },
  ]);
  const entry = { ...placeOf(device, limits), kernels: Object.fromEntries(choices) };
  return { kernels, table: { format: "kiln-tuning", entries: [entry] } };
}
