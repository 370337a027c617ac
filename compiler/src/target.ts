/**
 * What a target is to the compiler: limits of fusion, schedules and a printer. `targets/index.ts`
 * loads them.
 */
import type { KernelText, Limits, Modules, TargetName } from "@kiln-ml/artifact";
import type { FusionLimits } from "./fuse/state.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { Schedule } from "./lower/lower.ts";
import type { Pass } from "./pass.ts";

export interface EmitOptions {
  /** Round f32 at every op, or only when a value is stored. */
  readonly rounding: "each-op" | "on-store";
  readonly features: readonly string[];
}

export interface Target {
  readonly name: TargetName;
  fusionLimits(limits: Limits, features: readonly string[]): FusionLimits;
  /** Graph passes of its own, after those of all targets. */
  readonly passes: readonly Pass[];
  readonly schedule: Schedule;
  emit(kernel: Kernel, options: EmitOptions): KernelText;
  /** What a kernel cannot be called, where its name stands in the text. */
  readonly reserved?: ReadonlySet<string>;
  /** What the kernels become together, on a target that needs that. */
  link?(kernels: readonly KernelText[]): Modules;
  /** Whether a kernel can begin anywhere in a buffer. */
  readonly startsAnywhere: boolean;
  /** Limits to compile for where the caller names none. */
  readonly defaultLimits: Limits;
}
