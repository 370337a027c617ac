/**
 * The front door: the IR as users need it, layers, optimizers, data, and `compile`, which runs functions of tensors as
 * programs. The command line and files are apart from it, so that a page may import this.
 */
import "./move.ts";
import "./tensor-data.ts";

export type { Artifact, TargetName } from "@kiln-ml/artifact";
export * as data from "@kiln-ml/data";
export * from "@kiln-ml/ir";
export * as nn from "@kiln-ml/nn";
export * as optim from "@kiln-ml/optim";
export type { Check } from "./check.ts";
export { type CompiledFunction, compile, exportArtifact, type Feeds } from "./compile.ts";
export type { CompileOptions } from "./compile-options.ts";
export type { ExportOptions } from "./export.ts";
export type { Feed, ShapedArray, TensorLike } from "./feed.ts";
export type { InputSpec, InputType } from "./inputs.ts";
export { type HostSnapshot, restore, snapshot, to } from "./move.ts";
export {
  defaultTarget,
  type Session,
  sessionFor,
  setDefaultTarget,
  setThreads,
  type TargetOption,
  useDevice,
} from "./session.ts";
export {
  type LoadStateOptions,
  loadState,
  type StateReport,
  type StateSource,
  stateBytes,
} from "./state.ts";
export { asStatic, type Static } from "./static.ts";
export type { TriedOption, Tuned, TunedKernel, TuneOptions } from "./tune.ts";
export type { TunedChoice, TuningEntry, TuningTable } from "./tuning.ts";
export type { ThreadCount } from "./wasm-support.ts";
export { type LoadWeightsOptions, loadWeights } from "./weights.ts";
