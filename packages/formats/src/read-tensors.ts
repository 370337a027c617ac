/**
 * Any file of tensors, told apart by its first bytes. Formats that are known but not read are refused by name.
 */
import { type Constant, checkOptions } from "@kiln-ml/artifact";
import { npyMagic, readNpy } from "./numpy/npy.ts";
import { readArrays } from "./numpy/npz.ts";
import { beginReading, plainBytes, type Reading } from "./reading.ts";
import { readSafetensors } from "./safetensors.ts";
import { isTar } from "./tar.ts";
import type { Plain } from "./torch/flatten.ts";
import { readTorch, type TorchOptions, torchOptions } from "./torch/read.ts";
import { torchFolder } from "./torch/zip-form.ts";
import { readZip } from "./zip.ts";

export interface TensorFile {
  readonly format: "safetensors" | "torch" | "npy" | "npz";
  /** The one array of an `.npy` file is called `array`. */
  readonly tensors: Record<string, Constant>;
  /** What a PyTorch file holds besides, or the metadata of a safetensors file. */
  readonly other: Plain;
}

/** Formats that are told apart to be refused. */
const others: readonly (readonly [string, readonly number[]])[] = [
  ["GGUF", [0x47, 0x47, 0x55, 0x46]],
  ["HDF5", [0x89, 0x48, 0x44, 0x46]],
  ["gzip", [0x1f, 0x8b]],
];

const begins = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((b, i) => bytes[i] === b);

/**
 * The tensors of a safetensors, PyTorch, `.npy` or `.npz` file. The options for PyTorch files do nothing for others.
 *
 * Throws ArtifactError as the reader of the format does, and for a file of another format.
 */
export function readTensors(
  from: Uint8Array | ArrayBuffer,
  options: TorchOptions = {},
): TensorFile {
  checkOptions("readTensors", options, torchOptions);
  const bytes = plainBytes(from);
  const reading = beginReading("tensors", bytes.length, options);
  const named = { ...options, file: reading.file };
  const { topLevelKey: _key, unknown: _unknown, checksums: _checksums, ...plain } = named;
  // First, as the length that a safetensors file begins with can look like anything.
  if (isSafetensors(bytes)) {
    const { tensors, metadata } = readSafetensors(bytes, plain);
    return { format: "safetensors", tensors, other: metadata };
  }
  if (begins(bytes, npyMagic))
    return { format: "npy", tensors: { array: readNpy(bytes, plain) }, other: {} };
  if (begins(bytes, [0x50, 0x4b])) return readArchive(bytes, named, reading);
  for (const [name, magic] of others)
    if (begins(bytes, magic)) reading.fail(`${name} files are not read`, 0);
  // A pickle of protocol 2 and later, or the first form.
  if (bytes[0] === 0x80 || isTar(bytes)) return { format: "torch", ...readTorch(bytes, named) };
  return reading.fail("not a safetensors, PyTorch, .npy or .npz file", 0);
}

/** The length of a header that fits in the file, and the header, which is a JSON object. */
function isSafetensors(bytes: Uint8Array): boolean {
  if (bytes.length < 10 || bytes[8] !== 0x7b) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return view.getUint32(4, true) === 0 && view.getUint32(0, true) <= bytes.length - 8;
}

function readArchive(bytes: Uint8Array, options: TorchOptions, reading: Reading): TensorFile {
  const entries = readZip(bytes, reading);
  if (torchFolder(entries) !== undefined) return { format: "torch", ...readTorch(bytes, options) };
  const names = [...entries.keys()];
  if (!names.every((name) => name.endsWith(".npy")))
    reading.fail("a zip that is neither a PyTorch file nor one of .npy files", 0);
  return { format: "npz", tensors: readArrays(entries, reading), other: {} };
}
