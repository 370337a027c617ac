/**
 * PyTorch's `.pt` and `.pth` files, of any of their three forms, without running what they pickle.
 */

import { checkOptions, type OptionNames } from "@kiln-ml/artifact";
import {
  beginReading,
  plainBytes,
  type Reading,
  type ReadOptions,
  readOptions,
} from "../reading.ts";
import { isTar } from "../tar.ts";
import { readZip } from "../zip.ts";
import { type Flat, flatten, valueAt } from "./flatten.ts";
import { knownNames, torchMakers } from "./makers.ts";
import { buildNumpy } from "./numpy.ts";
import { readStreamForm } from "./stream-form.ts";
import { readTarForm } from "./tar-form.ts";
import { type HostOf, readZipForm } from "./zip-form.ts";

export interface TorchOptions extends ReadOptions {
  /** Reads only what stands under this key, or under these, one below the other: `"state_dict"`. */
  readonly topLevelKey?: string | readonly string[];
  /**
   * What to do about names that are not known to be harmless: `refuse` the file, the default, or `skip` them. Objects of
   * such a name become `{ opaque: name }`, and the tensors in their state are read. Nothing runs in either case.
   */
  readonly unknown?: "refuse" | "skip";
  /** False for files whose writer left checksums out; true by default. */
  readonly checksums?: boolean;
}

export const torchOptions: OptionNames<TorchOptions> = {
  ...readOptions,
  topLevelKey: 1,
  unknown: 1,
  checksums: 1,
};

/**
 * Tensors by name, nested names joined by dots, and everything else as plain data.
 *
 * f64, f32, f16, bf16, i32, i8, u8 and bool as they are; i64 narrows to i32, u64 to u32, i16 and u16 widen to i32. A view of
 * a storage that is not contiguous is gathered. Throws ArtifactError, with the offset, for a damaged or hostile file, a
 * value that does not fit, a dtype that Kiln does not have, and a name that is not known.
 */
export function readTorch(from: Uint8Array | ArrayBuffer, options: TorchOptions = {}): Flat {
  checkOptions("readTorch", options, torchOptions);
  const bytes = plainBytes(from);
  const reading = beginReading("torch", bytes.length, options);
  const { fail } = reading;
  const makers = torchMakers(fail);
  const hostOf: HostOf = (persistent) => ({
    makers,
    known: knownNames,
    persistent,
    build: buildNumpy,
    unknown: options.unknown ?? "refuse",
  });
  const value = pickledValue(bytes, hostOf, reading, options.checksums ?? true);
  const { topLevelKey: keys = [] } = options;
  const below = valueAt(value, typeof keys === "string" ? [keys] : keys, reading);
  return flatten(below, bytes.length, reading);
}

function pickledValue(bytes: Uint8Array, hostOf: HostOf, reading: Reading, checked: boolean) {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b)
    return readZipForm(readZip(bytes, reading), hostOf, reading, checked);
  if (isTar(bytes)) return readTarForm(bytes, hostOf, reading);
  if (bytes[0] !== 0x80)
    return reading.fail("neither a zip, a tar nor a pickle: not a PyTorch file", 0);
  return readStreamForm(bytes, hostOf, reading);
}
