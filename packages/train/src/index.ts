/**
 * Training loops over compiled steps: `fit`, `evaluate`, `predict`, callbacks and metrics. Nothing here reads files or knows Node;
 * `node.ts` does. Imports graph builders, and no compiler: `kiln-ml/train` plugs that in.
 */
export type { Batch, Batches } from "./batches.ts";
export { type EarlyStoppingOptions, earlyStopping } from "./callbacks/early-stopping.ts";
export { type NanGuardOptions, nanGuard } from "./callbacks/nan-guard.ts";
export { evaluate, type Predicted, type PredictOptions, predict } from "./evaluate.ts";
export { fit, type Surroundings, surround } from "./fit.ts";
export {
  type ArgumentType,
  type Backend,
  type Compiled,
  type FrontDoor,
  type Named,
  type ProgramFacts,
  plug,
} from "./front.ts";
export {
  type CompileSettings,
  type FitSettings,
  type Samples,
  Sequential,
  type SequentialOptions,
  summaryOf,
} from "./keras.ts";
export type { HostSums, Metric, MetricValue, Sums } from "./meter.ts";
export * as metrics from "./metrics/index.ts";
export type { EvaluateOptions, FitOptions, Loss, Step, StepResult } from "./options.ts";
export {
  type FoundRate,
  findLearningRate,
  type RateFinderOptions,
  type RatePoint,
} from "./rate-finder.ts";
export type { Callback, EpochRecord, History, Logs, Run } from "./run.ts";
export { Trainer, type TrainerOptions, TrainingModule } from "./trainer.ts";
