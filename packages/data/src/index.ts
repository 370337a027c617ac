/**
 * Data sets and loaders: plain arrays and items in, batches of typed arrays out. Imports the IR's
 * errors and generator only.
 */
export { type AudioLike, type FromAudioOptions, fromAudio, type Sound } from "./audio.ts";
export * as augment from "./augment/index.ts";
export { batchShapeOf, setBatchShape } from "./batch-shape.ts";
export {
  type Batch,
  type Collate,
  type Field,
  type Graph,
  type PackedGraphs,
  type PadOptions,
  packGraphs,
  pad,
  type Stacked,
  stack,
} from "./collate.ts";
export {
  concat,
  filter,
  map,
  type ShuffleOptions,
  shuffleBuffer,
  skip,
  take,
  type WindowOptions,
  window,
  zip,
} from "./combine.ts";
export { type Classes, type Column, type CsvOptions, readCsv, Table } from "./csv.ts";
export {
  type Dataset,
  type Fields,
  fromArrays,
  type NumericArray,
  split,
  subset,
} from "./dataset.ts";
export { type EdfOptions, readEdf, type Signal } from "./edf.ts";
export { type Fold, type FoldOptions, kFold, stratifiedSplit } from "./folds.ts";
export { type Idx, type IdxOptions, readIdx } from "./idx.ts";
export {
  cropImage,
  decodeImage,
  encodePng,
  type Picture,
  type PictureOptions,
  resizeImage,
} from "./image.ts";
export { type Items, itemsOf, type Source } from "./items.ts";
export {
  type CollatingOptions,
  DataLoader,
  type LoaderOptions,
  type LoaderState,
} from "./loader.ts";
export { type Digit, type Mnist, mnistFromDigits, mnistFromIdx } from "./mnist.ts";
export { permutation } from "./permutation.ts";
export {
  type FromPixelsOptions,
  fromPixels,
  type PictureValue,
  type PixelBytes,
  type PixelLayout,
  type PixelSource,
  type PixelTensor,
  type ToPixelsOptions,
  toPixels,
} from "./pixels.ts";
export {
  type BatchSampler,
  type BucketOptions,
  bucketByLength,
  byGroup,
  type Label,
  type Sampler,
  type SamplerOptions,
  stratified,
  type WeightedOptions,
  weighted,
  withReplacement,
} from "./samplers.ts";
export { serveBatches } from "./serve.ts";
export { fromTensors, type NamedArray } from "./tensors.ts";
export { type JsonLinesOptions, readJsonLines } from "./text.ts";
export { readWav, type Wave, type WavOptions } from "./wav.ts";
export type { WorkerLike, Workers } from "./worker-crew.ts";
