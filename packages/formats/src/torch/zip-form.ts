/**
 * PyTorch files since version 1.6: a zip archive of `data.pkl` and one entry a storage, `data/KEY`, in one folder.
 */

import { readPickle } from "../pickle/machine.ts";
import type { PickleHost, PickleValue } from "../pickle/values.ts";
import { quoted, type Reading } from "../reading.ts";
import { bytesOfEntry, type ZipEntry } from "../zip.ts";
import { Storages } from "./persistent.ts";

/** The folder of `data.pkl`, with its slash; undefined if there is none. */
export function torchFolder(entries: ReadonlyMap<string, ZipEntry>): string | undefined {
  for (const name of entries.keys()) {
    const [, folder] = /^([^/]*\/)?data\.pkl$/.exec(name) ?? [];
    if (/^([^/]*\/)?data\.pkl$/.test(name)) return folder ?? "";
  }
  return undefined;
}

export type HostOf = (persistent: PickleHost["persistent"]) => PickleHost;

/** The value that the archive pickles. `checked`: entries must match their checksums. */
export function readZipForm(
  entries: ReadonlyMap<string, ZipEntry>,
  hostOf: HostOf,
  reading: Reading,
  checked: boolean,
): PickleValue {
  const { fail } = reading;
  const folder = torchFolder(entries) ?? fail('the zip has no entry "data.pkl"');
  const bytesOf = (name: string) => {
    const entry = entries.get(folder + name);
    return entry && { bytes: bytesOfEntry(entry, reading, checked), offset: entry.offset };
  };
  const order = bytesOf("byteorder");
  const bigEndian = order !== undefined && new TextDecoder().decode(order.bytes) === "big";
  const pickle = bytesOf("data.pkl");
  if (!pickle) return fail('the zip has no entry "data.pkl"');
  const storages = new Storages((key, dtype, count, offset) => {
    const found = bytesOf(`data/${key}`);
    if (!found) return fail(`the zip has no entry for storage ${quoted(key)}`, offset);
    if (found.bytes.length !== count * dtype.bytes)
      fail(
        `storage ${quoted(key)} has ${found.bytes.length} bytes, its ${count} elements take ${count * dtype.bytes}`,
        found.offset,
      );
    return { ...found, bigEndian };
  }, fail);
  const stored = entries.get(`${folder}data.pkl`)?.method === "stored";
  // Offsets in a deflated pickle are those in the pickle.
  const base = stored ? pickle.offset : 0;
  return readPickle({ bytes: pickle.bytes, base }, hostOf(storages.resolve), reading).value;
}
