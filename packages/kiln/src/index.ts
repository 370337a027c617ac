/**
 * The front door: the IR as users need it, layers, optimizers, data, and `compile`, which runs
 * functions of tensors as programs. The command line and files are apart from it, so that a page
 * may import this.
 */
import "./devices/move.ts";
import "./eager/tensor-data.ts";

export type { Artifact, TargetName } from "@kiln-ml/artifact";
export * as data from "@kiln-ml/data";
export type { Inspection } from "@kiln-ml/inspector";
export * as nn from "@kiln-ml/nn";
export * as optim from "@kiln-ml/optim";
export type { Check } from "./compile/check.ts";
export { type CompiledFunction, compile, exportArtifact, type Feeds } from "./compile/compile.ts";
export type { CompileOptions } from "./compile/compile-options.ts";
export type { ExportOptions } from "./compile/export.ts";
export {
  type EntryFunction,
  type ExportEntriesOptions,
  exportEntries,
} from "./compile/export-entries.ts";
export type { Feed, ShapedArray, TensorLike } from "./compile/feed.ts";
export type { InputSpec, InputType } from "./compile/inputs.ts";
export { asStatic, type Static } from "./compile/static.ts";
export type { TapListener } from "./compile/traced.ts";
export type {
  EngineInput,
  ExternalArray,
  ExternalDevice,
  ExternalEngine,
  ExternalProgram,
} from "./devices/external.ts";
export { type HostSnapshot, restore, snapshot, to } from "./devices/move.ts";
export {
  defaultTarget,
  type Session,
  sessionFor,
  setDefaultTarget,
  setThreads,
  type TargetOption,
  useDevice,
} from "./devices/session.ts";
export { versionOf } from "./devices/storage.ts";
export type { ThreadCount } from "./devices/wasm-support.ts";
export { errorPage } from "./error-page.ts";
export type { InspectOptions } from "./inspect/inspect.ts";
export { type OutputError, outputErrors } from "./quantize/output-errors.ts";
export {
  type KeptWeight,
  type PlainFunction,
  type QuantizedFunctions,
  type QuantizedWeightReport,
  type QuantizeFunctionsOptions,
  quantizeFunctions,
  type WeightFormat,
} from "./quantize/quantize-functions.ts";
export { type TensorErrors, tensorErrors } from "./quantize/tensor-errors.ts";
export {
  type LoadStateOptions,
  loadState,
  type StateReport,
  type StateSource,
  stateBytes,
} from "./state/state.ts";
export { type LoadWeightsOptions, loadWeights } from "./state/weights.ts";
export * from "./tensors.ts";
export type { TunedChoice, TuningEntry, TuningTable } from "./tune/table.ts";
export type { TriedOption, Tuned, TunedKernel, TuneOptions } from "./tune/tune.ts";
