/**
 * Layers, losses and initialisers, as builders of graphs. Imports the IR only.
 */
export { autocast, type ProductDtype } from "@kiln-ml/ir";
export * from "./activation.ts";
export { type AttentionOptions, attention, MultiHeadAttention } from "./attention.ts";
export { BatchNorm1d, BatchNorm2d, type BatchNormOptions } from "./batch-norm.ts";
export { Conv1d, Conv2d, type ConvOptions, type Padding } from "./convolution.ts";
export { type CrossEntropyOptions, crossEntropy, type NllOptions, nll } from "./cross-entropy.ts";
export { type CtcOptions, ctc } from "./ctc.ts";
export { Dropout } from "./dropout.ts";
export { Embedding } from "./embedding.ts";
export { Flatten } from "./flatten.ts";
export * as init from "./init.ts";
export { type Initializer, seed } from "./init.ts";
export { KeyStream } from "./key-stream.ts";
export {
  type GaussianNllOptions,
  gaussianNll,
  type KlDivOptions,
  klDiv,
  type LpOptions,
  lp,
  type PoissonNllOptions,
  poissonNll,
} from "./likelihood-losses.ts";
export { Linear, type LinearOptions } from "./linear.ts";
export {
  type BceOptions,
  bce,
  bceWithLogits,
  huber,
  type LossOptions,
  l1,
  mse,
  smoothL1,
} from "./losses.ts";
export {
  cosineEmbedding,
  hingeEmbedding,
  type MarginOptions,
  type MultiLabelSoftMarginOptions,
  type MultiMarginOptions,
  marginRanking,
  multiLabelSoftMargin,
  multiMargin,
  softMargin,
  type TripletMarginOptions,
  tripletMargin,
} from "./margin-losses.ts";
export { accuracy } from "./metrics.ts";
export { type Layer, Module } from "./module.ts";
export { GroupNorm, LayerNorm, type NormOptions, RmsNorm } from "./norm.ts";
export { AdaptiveAvgPool2d, AvgPool2d, MaxPool2d, type PoolOptions } from "./pool.ts";
export {
  GRU,
  LSTM,
  type RecurrentInputs,
  type RecurrentOptions,
  type RecurrentResult,
  RNN,
} from "./recurrent.ts";
export type { Reduction } from "./reduction.ts";
export { Dense, type DenseOptions, Input, Lambda, Sequential } from "./sequential.ts";
export {
  type DiceOptions,
  dice,
  type FocalOptions,
  focal,
  gramMatrix,
  gramMatrixLoss,
  type InfoNceOptions,
  infoNce,
} from "./task-losses.ts";
