/**
 * Finds the fastest of the compiler's choices for a program on the device of a session. First how sums are split, since that
 * decides which kernels there are, then each kernel's own. Loaded, like all of tuning, only when somebody asks for it.
 */
import type { Artifact } from "@kiln-ml/artifact";
import {
  type Compiled,
  compileProgram,
  type Decision,
  loadTarget,
  type Program,
  type Tuning,
} from "@kiln-ml/compiler";
import { checkOptions, DeviceError, GraphError, type OptionNames } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime/loader";
import { keepProgram } from "../cache/compile-once.ts";
import { compileOptionsOf, dimsAt } from "../compile/automatic.ts";
import type { CodeOptions } from "../devices/engine.ts";
import { nominalDims } from "../devices/placement.ts";
import type { Session } from "../devices/session.ts";
import { Awake } from "./awake.ts";
import { type TunedKernel, tuneChoice } from "./choice.ts";
import { placeOf, type TunedChoice, type TuningTable, tuningAt } from "./table.ts";
import type { Timing } from "./turns.ts";

export type { TriedOption, TunedKernel } from "./choice.ts";

export interface TuneOptions {
  /** How often each option is timed; the median counts. Default 7. */
  readonly rounds?: number;
  /** How many options of a choice are timed at most: the compiler's own, and those it thinks next best. Default 10. */
  readonly most?: number;
  /**
   * Milliseconds of work before each choice is timed, at least, since a card at rest lowers its clock; it goes on until times are
   * steady. Default 100, and 1000 before the first on a device; on a CPU a tenth of it.
   */
  readonly warmUp?: number;
  /** Kernels as `artifact()` exports them, for the limits that every WebGPU device has. */
  readonly guaranteedLimits?: boolean;
  /** Choices that were found before: they are taken, and not timed again. */
  readonly known?: TuningTable;
  /** Called as soon as a choice is timed. */
  readonly observe?: (kernel: TunedKernel) => void;
}

/** What a tuner found: every choice with its times, and the table that `compile` takes as `tuning`. */
export interface Tuned {
  readonly kernels: readonly TunedKernel[];
  readonly table: TuningTable;
}

type Dims = Readonly<Record<string, number>>;
/** Of the arguments, in order. */
type Extents = readonly (readonly number[])[];

const tuneOptions: OptionNames<TuneOptions> = {
  rounds: 1,
  most: 1,
  warmUp: 1,
  guaranteedLimits: 1,
  known: 1,
  observe: 1,
};

export async function tuneProgram(
  session: Session,
  program: Program,
  code: CodeOptions,
  extents: Extents,
  options: TuneOptions,
): Promise<Tuned> {
  checkOptions("tune", options, tuneOptions);
  for (const name of ["rounds", "most"] as const) {
    const { [name]: count = 1 } = options;
    if (!Number.isInteger(count) || count < 1)
      throw new GraphError(`tune: ${name} must be an integer of 1 or more, got ${count}`);
  }
  await loadTarget(session.target);
  const { device } = session;
  const { observe: _observe, tuning: _tuning, ...plain } = code;
  const { cache, ...compiled } = await compileOptionsOf(session, plain);
  const { limits: _limits, features: _features, ...guaranteed } = compiled;
  const how = options.guaranteedLimits ? guaranteed : compiled;
  const standard = compileProgram(program, { ...how, tuning: {} });
  const { artifact } = standard;
  await keepProgram(program, artifact, how, cache);
  const tuner = new Tuner(
    device,
    { ...nominalDims(artifact), ...dimsAt(artifact, extents) },
    options,
  );
  let last = { table: "{}", compiled: standard };
  try {
    // A table that is as it was leads to the same program.
    const compile = (tuning: Tuning): Compiled => {
      const table = JSON.stringify(tuning);
      if (last.table !== table)
        last = { table, compiled: compileProgram(program, { ...how, tuning }) };
      return last.compiled;
    };
    await tuner.all("node", compile);
    const { limits } = await tuner.all("kernel", compile);
    const kernels = [...tuner.found.values()];
    const choices = kernels.map((k): [string, TunedChoice] => [
      k.key,
      { choice: k.best, ms: k.bestMs, standard: k.standard, standardMs: k.standardMs },
    ]);
    const entry = { ...placeOf(device, limits), kernels: Object.fromEntries(choices) };
    return { kernels, table: { format: "kiln-tuning", entries: [entry] } };
  } finally {
    tuner.dispose();
  }
}

class Tuner {
  readonly found = new Map<string, TunedKernel>();
  readonly #device: Device;
  readonly #dims: Dims;
  readonly #options: TuneOptions;
  /** Milliseconds of warm-up of a device that is known. */
  readonly #rest: number;
  #awake: Awake | undefined;

  constructor(device: Device, dims: Dims, options: TuneOptions) {
    this.#device = device;
    this.#dims = dims;
    this.#options = options;
    this.#rest = options.warmUp ?? (device.kind === "webgpu" ? 100 : 10);
  }

  /** Times the choices of one sort, with what was found so far and what was known. */
  async all(wanted: Decision["of"], compile: (tuning: Tuning) => Compiled): Promise<Artifact> {
    const { known, observe, most = 10 } = this.#options;
    const before = known ? this.#knownFrom(known, compile({}).artifact) : {};
    const after = [...this.found.values()].map((k) => [k.key, k.best]);
    const { decisions, artifact } = compile({ ...before, ...Object.fromEntries(after) });
    for (const decision of decisions) {
      const { key, of, options } = decision;
      if (of !== wanted || options.length < 2 || Object.hasOwn(before, key)) continue;
      if (this.found.has(key)) continue;
      const some = { ...decision, options: options.slice(0, most) };
      const kernel = await tuneChoice(this.#device, some, this.#dims, await this.#timing());
      // Options that it refused are none that are wrong.
      const lost = this.#device.driver.failure();
      if (lost !== null) throw new DeviceError(`tune: ${lost}`);
      if (!kernel) continue;
      this.found.set(key, kernel);
      observe?.(kernel);
    }
    return artifact;
  }

  #knownFrom(known: TuningTable, { limits }: Artifact): Tuning {
    const found = tuningAt(known, placeOf(this.#device, limits));
    return "tuning" in found ? found.tuning : {};
  }

  async #timing(): Promise<Timing> {
    const { rounds = 7, warmUp } = this.#options;
    const lead = this.#rest / 50;
    if (warmUp === 0) return { rounds, warmUp, lead };
    this.#awake ??= await Awake.open(this.#device);
    const { known, check: awake } = this.#awake;
    return { rounds, warmUp: warmUp ?? (known ? this.#rest : 10 * this.#rest), lead, awake };
  }

  dispose(): void {
    this.#awake?.dispose();
  }
}
