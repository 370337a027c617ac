/**
 * PyTorch files before version 1.6: pickles one after the other — a magic number, the protocol, facts of the machine,
 * the value, the keys of its storages — and then each storage, as a count and its elements, little-endian.
 */
import { readPickle } from "../pickle/machine.ts";
import { describe, type PickleHost, type PickleValue } from "../pickle/values.ts";
import { quoted, type Reading } from "../reading.ts";
import { Storages } from "./persistent.ts";
import type { StorageBytes } from "./tensor.ts";
import type { HostOf } from "./zip-form.ts";

const magic = 0x1950a86a20f9469cfc6cn;
const protocol = 1001;

/** A pickle of plain values: no name is known, nothing is persistent. */
export const plainHost = (reading: Reading): PickleHost => ({
  makers: new Map(),
  known: new Set(),
  persistent: (_, offset) => reading.fail("a pickle of plain values has a persistent id", offset),
  unknown: "refuse",
});

/** The value that the file pickles. */
export function readStreamForm(bytes: Uint8Array, hostOf: HostOf, reading: Reading): PickleValue {
  const { fail } = reading;
  const plain = plainHost(reading);
  let at = 0;
  const next = (host: PickleHost): PickleValue => {
    const { value, end } = readPickle({ bytes, start: at }, host, reading);
    at = end;
    return value;
  };
  const first = next(plain);
  if (first !== magic)
    fail(
      `a pickle that holds ${describe(first)}, not PyTorch's magic number: not a PyTorch file`,
      0,
    );
  const version = next(plain);
  if (version !== protocol) fail(`the protocol is ${describe(version)}, not ${protocol}`, at);
  next(plain);
  let found: ReadonlyMap<string, StorageBytes> = new Map();
  const storages = new Storages(
    (key, _, __, offset) =>
      found.get(key) ?? fail(`the file does not list storage ${quoted(key)}`, offset),
    fail,
  );
  const value = next(hostOf(storages.resolve));
  const keys = next(plain);
  if (!Array.isArray(keys)) return fail(`the keys of storages are ${describe(keys)}`, at);
  found = readStorages(keys, bytes, at, storages, reading);
  return value;
}

function readStorages(
  keys: readonly PickleValue[],
  bytes: Uint8Array,
  start: number,
  storages: Storages,
  { fail }: Reading,
): ReadonlyMap<string, StorageBytes> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Map<string, StorageBytes>();
  let at = start;
  for (const key of keys) {
    const name = typeof key === "object" ? describe(key) : String(key);
    const storage = storages.byKey.get(name)?.storage;
    if (!storage)
      return fail(`the file lists storage ${quoted(name)}, which nothing refers to`, at);
    if (found.has(name)) fail(`the file lists storage ${quoted(name)} twice`, at);
    if (at + 8 > bytes.length) fail(`the file ends before storage ${quoted(name)}`, at);
    const count = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
    if (count !== storage.count)
      fail(`storage ${quoted(name)} has ${count} elements, the pickle says ${storage.count}`, at);
    const offset = at + 8;
    const size = count * storage.dtype.bytes;
    if (!(offset + size <= bytes.length))
      fail(`storage ${quoted(name)} has ${size} bytes, ${bytes.length - offset} are left`, at);
    found.set(name, { bytes: bytes.subarray(offset, offset + size), offset, bigEndian: false });
    at = offset + size;
  }
  return found;
}
