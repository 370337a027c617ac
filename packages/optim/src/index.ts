/**
 * Optimizers and learning-rate schedules, as builders of graphs. Imports the IR only.
 */
export { Adam, type AdamOptions, AdamW } from "./adam.ts";
export { clipByGlobalNorm, clipByValue, globalNorm } from "./clip.ts";
export { GradScaler, type GradScalerOptions } from "./grad-scaler.ts";
export type { ParamGroup } from "./members.ts";
export { type ApplyOptions, type Move, Optimizer, type OptimizerOptions } from "./optimizer.ts";
export { polyak } from "./polyak.ts";
export { RMSProp, type RmsPropOptions } from "./rmsprop.ts";
export type { Rate, Schedule } from "./schedule.ts";
export * as schedule from "./schedule.ts";
export { SGD, type SgdOptions } from "./sgd.ts";
