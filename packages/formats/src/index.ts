/**
 * File formats of others: safetensors, PyTorch and NumPy files, read and written.
 */
export type { Constant } from "@kiln-ml/artifact";
export { readNpy, readNpyList, writeNpy } from "./numpy/npy.ts";
export { type NpzOptions, readNpz, writeNpz } from "./numpy/npz.ts";
export { fromPytorch } from "./pytorch-names.ts";
export { readTensors, type TensorFile } from "./read-tensors.ts";
export type { ReadOptions } from "./reading.ts";
export { type RenameRule, remapTensors, rename, type Tensors } from "./remap.ts";
export {
  type OpenOptions,
  type OpenSafetensors,
  openSafetensors,
  readSafetensors,
  type SafetensorsFile,
  type TensorInfo,
  writeSafetensors,
} from "./safetensors.ts";
export { openSource, type RangeSource, type SourceLike, type UrlSourceOptions } from "./source.ts";
export type { Flat as TorchFile, OpaqueMarker, Plain } from "./torch/flatten.ts";
export { readTorch, type TorchOptions } from "./torch/read.ts";
