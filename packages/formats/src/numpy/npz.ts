/**
 * NumPy's `.npz`: a zip of `.npy` files, one an array.
 */
import { type Constant, checkOptions, type OptionNames } from "@kiln-ml/artifact";
import { zipSync } from "fflate";
import {
  beginReading,
  checkName,
  plainBytes,
  type Reading,
  type ReadOptions,
  readOptions,
} from "../reading.ts";
import { bytesOfEntry, readZip, type ZipEntry } from "../zip.ts";
import { readArrayAt, writeNpy } from "./npy.ts";

/**
 * The arrays of an `.npz` file by name, without the `.npy` that each has there.
 *
 * Throws ArtifactError as `readNpy` does, and for what is no zip of arrays or inflates past the limit.
 */
export function readNpz(
  from: Uint8Array | ArrayBuffer,
  options: ReadOptions = {},
): Record<string, Constant> {
  checkOptions("readNpz", options, readOptions);
  const bytes = plainBytes(from);
  const reading = beginReading("npz", bytes.length, options);
  return readArrays(readZip(bytes, reading), reading);
}

/** The arrays of a zip whose entries are known. */
export function readArrays(
  entries: ReadonlyMap<string, ZipEntry>,
  reading: Reading,
): Record<string, Constant> {
  const { fail } = reading;
  const arrays = new Map<string, Constant>();
  for (const entry of entries.values()) {
    const name = entry.name.replace(/\.npy$/, "");
    if (name === entry.name) fail(`zip entry "${name}" is not an .npy file`, entry.offset);
    checkName(name, fail, entry.offset);
    if (!reading.select(name)) continue;
    const inner: Reading = { ...reading, fail: (what, at) => fail(`"${entry.name}": ${what}`, at) };
    const bytes = bytesOfEntry(entry, reading);
    // Offsets in a deflated entry are those in the entry.
    const base = entry.method === "stored" ? entry.offset : 0;
    const { array, end } = readArrayAt({ bytes, start: 0, base, name }, inner);
    if (end < bytes.length) inner.fail("bytes stand after the array", base + end);
    arrays.set(name, array);
  }
  return Object.fromEntries(arrays);
}

export interface NpzOptions {
  /** Deflates the arrays; false by default, as `numpy.savez` has it. */
  readonly compress?: boolean;
}

/** The earliest that zip can say, so that equal arrays are equal files. */
const noTime = new Date(1980, 0, 1);

const npzOptions: OptionNames<NpzOptions> = { compress: 1 };

/** An `.npz` file of `arrays`. Throws ArtifactError as `writeNpy` does. */
export function writeNpz(
  arrays: Readonly<Record<string, Constant>>,
  options: NpzOptions = {},
): Uint8Array {
  checkOptions("writeNpz", options, npzOptions);
  const files = Object.entries(arrays).map(([name, array]) => [`${name}.npy`, writeNpy(array)]);
  return zipSync(Object.fromEntries(files), { level: options.compress ? 6 : 0, mtime: noTime });
}
