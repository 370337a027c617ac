/**
 * File formats of others: safetensors, PyTorch and NumPy files, read and written.
 */
export type { Constant } from "@kiln-ml/artifact";
export type { ReadOptions } from "./reading.ts";
export type { Flat as TorchFile, OpaqueMarker, Plain } from "./torch/flatten.ts";
export { readTorch, type TorchOptions } from "./torch/read.ts";
