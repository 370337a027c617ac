/**
 * Programs as artifacts to keep: compiled for a target's guaranteed limits, with the current values
 * of the parameters as weights. Writes no files.
 */
import type { Artifact, Constant, TargetName } from "@kiln-ml/artifact";
import type { Program } from "@kiln-ml/compiler";
import type { OptionNames, Tensor } from "@kiln-ml/ir";
import type { DeviceArray } from "@kiln-ml/runtime/loader";
import { compileOnce } from "../cache/compile-once.ts";
import { arraysOf, type CodeOptions, codeOf } from "../devices/engine.ts";
import type { Session } from "../devices/session.ts";
import type { TuningTable } from "../tune/table.ts";
import type { InputSpec } from "./inputs.ts";

export interface ExportOptions {
  /** Types of the arguments, if `compile` was given none or others. */
  readonly inputs?: readonly InputSpec[];
  /** The target of the artifact, which need not be present here; that of the session by default. */
  readonly target?: TargetName;
  /** Whether values of parameters and data go along; default true. */
  readonly weights?: boolean;
  /** "program" by default. */
  readonly name?: string;
  /**
   * What a tuner found with the guaranteed limits. Its entry for the adapter whose name contains
   * `adapter` holds, or the only one.
   */
  readonly tuning?: TuningTable;
  /** A part of the name of the adapter whose choices hold. */
  readonly adapter?: string;
  /** What the device that is to run it has, such as `lanes-16` (native); nothing by default. */
  readonly features?: readonly string[];
}

export const exportOptions: OptionNames<ExportOptions> = {
  inputs: 1,
  target: 1,
  weights: 1,
  name: 1,
  tuning: 1,
  adapter: 1,
  features: 1,
};

/** Where the values of an artifact's states are. */
export interface StateSource {
  readonly session: Session;
  readonly states: readonly Tensor[];
}

const sources = new WeakMap<Artifact, StateSource>();

/** Of an artifact that was exported here without weights. */
export const sourceOf = (artifact: Artifact): StateSource | undefined => sources.get(artifact);

/** The artifact of a program, with the values that its states have in `session`. */
export async function exportProgram(
  session: Session,
  program: Program,
  code: CodeOptions,
  options: ExportOptions,
): Promise<Artifact> {
  code.observe?.("graph", { program });
  const target = options.target ?? session.target;
  const { tuning: _own, ...plain } = codeOf(code);
  const tuning = options.tuning && (await tuningOf(options.tuning, target, options.adapter));
  const { artifact, states } = await compileOnce(program, {
    ...plain,
    target,
    ...(tuning ? { tuning } : {}),
    ...(options.features ? { features: options.features } : {}),
    name: options.name ?? code.name ?? "program",
  });
  sources.set(artifact, { session, states: states as Tensor[] });
  if (options.weights === false) return artifact;
  const arrays = await arraysOf(session, states as Tensor[]);
  const weights: Record<string, Constant> = {};
  for (const [i, array] of arrays.entries())
    weights[artifact.signature.states[i]!.name] = await constantOf(array);
  return { ...artifact, weights };
}

/** What a table has for the guaranteed limits of a target. */
async function tuningOf(table: TuningTable, target: TargetName, adapter: string | undefined) {
  const { loadTarget } = await import("@kiln-ml/compiler/compile");
  const { tuningElsewhere } = await import("../tune/table.ts");
  const { defaultLimits: limits } = await loadTarget(target);
  return tuningElsewhere(table, { target, limits }, adapter);
}

/** The bytes of a device array. Every platform that runs JavaScript today is little-endian. */
export async function constantOf(array: DeviceArray): Promise<Constant> {
  const values = await array.data();
  const data = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { dtype: array.dtype, shape: array.shape, data };
}
