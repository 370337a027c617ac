/**
 * Optimizers and learning-rate schedules, as builders of graphs. Imports the IR only.
 */
export { Adafactor, type AdafactorOptions } from "./adafactor.ts";
export { Adadelta, type AdadeltaOptions, AdaGrad, type AdaGradOptions } from "./adagrad.ts";
export { Adam, type AdamOptions, AdamW, type AdamWOptions } from "./adam.ts";
export {
  Adamax,
  type AdamaxOptions,
  NAdam,
  type NAdamOptions,
  RAdam,
  type RAdamOptions,
} from "./adam-kin.ts";
export { Adan, type AdanOptions } from "./adan.ts";
export { clipByGlobalNorm, clipByNorm, clipByValue, globalNorm } from "./clip.ts";
export { GradScaler, type GradScalerOptions } from "./grad-scaler.ts";
export { LAMB, type LambOptions } from "./lamb.ts";
export { LBFGS, type LbfgsOptions } from "./lbfgs.ts";
export { Lion, type LionOptions } from "./lion.ts";
export { Lookahead, type LookaheadOptions, SWA, type SwaOptions } from "./lookahead.ts";
export { adam, adamW, type OptimizerMaker, rmsProp, sgd } from "./makers.ts";
export type { ParamGroup } from "./members.ts";
export { Muon, type MuonOptions } from "./muon.ts";
export { type ApplyOptions, Optimizer, type OptimizerOptions, type Update } from "./optimizer.ts";
export { ReduceOnPlateau, type ReduceOnPlateauOptions } from "./plateau.ts";
export { polyak } from "./polyak.ts";
export { RMSProp, type RmsPropOptions } from "./rmsprop.ts";
export type { Rate, Schedule } from "./schedule.ts";
export * as schedule from "./schedules.ts";
export { SGD, type SgdOptions } from "./sgd.ts";
