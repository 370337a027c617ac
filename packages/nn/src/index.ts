/**
 * Layers, losses and initialisers, as builders of graphs. Imports the IR only.
 */
export { autocast, type ProductDtype } from "@kiln-ml/ir";
export * from "./activation.ts";
export * from "./adaptive-pool.ts";
export { type AttentionOptions, attention } from "./attention.ts";
export { BatchNorm1d, BatchNorm2d, BatchNorm3d, type BatchNormOptions } from "./batch-norm.ts";
export { Bilinear } from "./bilinear.ts";
export { type BuildInput, build } from "./build.ts";
export {
  type CellOptions,
  GRUCell,
  type GruCellOptions,
  LSTMCell,
  type LstmState,
  RNNCell,
} from "./cells.ts";
export { clone, mapParameters } from "./clone.ts";
export { type ConfigOptions, type ModuleConfig, toConfig } from "./config.ts";
export type { Json } from "./config-values.ts";
export {
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type ConvTransposeOptions,
} from "./conv-transpose.ts";
export { Conv1d, Conv2d, Conv3d, type ConvOptions } from "./convolution.ts";
export { type CrossEntropyOptions, crossEntropy, type NllOptions, nll } from "./cross-entropy.ts";
export { type CtcOptions, ctc } from "./ctc.ts";
export { DeformConv2d, type DeformConv2dOptions } from "./deform-conv.ts";
export { Dropout } from "./dropout.ts";
export { Embedding, type EmbeddingOptions } from "./embedding.ts";
export { type BagInputs, EmbeddingBag, type EmbeddingBagOptions } from "./embedding-bag.ts";
export { Flatten } from "./flatten.ts";
export { Fold, Unfold, type UnfoldOptions } from "./fold-layers.ts";
export { type FromConfigOptions, fromConfig } from "./from-config.ts";
export { GEGLU, GLU, SwiGLU } from "./gates.ts";
export { GlobalAvgPool, GlobalMaxPool, type GlobalPoolOptions } from "./global-pool.ts";
export {
  type Aggregation,
  GATConv,
  type GatOptions,
  GCNConv,
  GINConv,
  type GinOptions,
  type GraphLayerOptions,
  messagePassing,
  type PackedGraphs,
  packGraphs,
  SAGEConv,
  type SageOptions,
} from "./graph-layers.ts";
export { type ForwardHook, hook } from "./hooks.ts";
export * as init from "./init.ts";
export { type Initializer, seed, skipInit } from "./init.ts";
export {
  InstanceNorm1d,
  InstanceNorm2d,
  InstanceNorm3d,
  type InstanceNormOptions,
} from "./instance-norm.ts";
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
export { type LoraOptions, lora, mergeLora } from "./lora.ts";
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
export { LPPool1d, LPPool2d, LPPool3d, type LPPoolOptions } from "./lp-pool.ts";
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
export { Maxout, type MaxoutOptions } from "./maxout.ts";
export { accuracy } from "./metrics.ts";
export { type Layer, Module } from "./module.ts";
export {
  type KeyValueCache,
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
  type MultiHeadInputs,
} from "./multi-head-attention.ts";
export { GroupNorm, LayerNorm, type NormOptions, RmsNorm, type RmsNormOptions } from "./norm.ts";
export * from "./pad-layers.ts";
export type { Padding, PaddingMode, Sides } from "./padding.ts";
export { PixelShuffle, PixelUnshuffle } from "./pixel-shuffle.ts";
export {
  AvgPool1d,
  AvgPool2d,
  AvgPool3d,
  type AvgPoolOptions,
  MaxPool1d,
  MaxPool2d,
  MaxPool3d,
  type MaxPoolOptions,
  type PoolOptions,
} from "./pool.ts";
export * from "./positions.ts";
export { PReLU, type PReLUOptions, RReLU } from "./prelu.ts";
export type { QuantizedWeight } from "./quantized-weight.ts";
export {
  holdQuantized,
  type QuantizeWeightsOptions,
  quantizeWeights,
} from "./quantized-weights.ts";
export {
  GRU,
  type GruOptions,
  LSTM,
  type LstmOptions,
  type RecurrentArguments,
  type RecurrentInputs,
  type RecurrentOptions,
  type RecurrentResult,
  RNN,
} from "./recurrent.ts";
export type { Reduction } from "./reduction.ts";
export { LocalResponseNorm, type ResponseNormOptions } from "./response-norm.ts";
export { type RnntOptions, rnnt } from "./rnnt.ts";
export { Dense, type DenseOptions, Input, Lambda, Sequential } from "./sequential.ts";
export * from "./shrink.ts";
export {
  CosineSimilarity,
  type CosineSimilarityOptions,
  PairwiseDistance,
  type PairwiseDistanceOptions,
} from "./similarity.ts";
export { AlphaDropout, Dropout1d, Dropout2d, Dropout3d, GaussianNoise } from "./spatial-dropout.ts";
export { type Summary, type SummaryInput, type SummaryRow, summary } from "./summary.ts";
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
export * from "./transformer.ts";
export { Upsample } from "./upsample.ts";
export {
  removeWeightNorm,
  type SpectralNormOptions,
  spectralNorm,
  type WeightNormOptions,
  weightNorm,
} from "./weight-norms.ts";
