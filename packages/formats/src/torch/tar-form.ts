/**
 * The first form of PyTorch files, up to version 0.1.9: a tar of `storages`, `tensors` and `pickle`, in which the last
 * refers to tensors by number.
 */
import { readPickle } from "../pickle/machine.ts";
import { describe, Global, type PickleHost, type PickleValue } from "../pickle/values.ts";
import { quoted, type Reading } from "../reading.ts";
import { readTar, type TarEntry } from "../tar.ts";
import { type TorchDtype, torchStorages } from "./names.ts";
import { part } from "./persistent.ts";
import { plainHost } from "./stream-form.ts";
import { Storage, TorchTensor } from "./tensor.ts";
import type { HostOf } from "./zip-form.ts";

/** The value that the archive pickles. */
export function readTarForm(bytes: Uint8Array, hostOf: HostOf, reading: Reading): PickleValue {
  const { fail } = reading;
  const files = readTar(bytes, reading);
  const entry = (name: string): TarEntry =>
    files.get(name) ?? fail(`the tar has no ${quoted(name)}: not a PyTorch file`, 0);
  const members = [entry("storages"), entry("tensors"), entry("pickle")] as const;
  const host = hostOf((_, offset) => fail("a storage has a persistent id", offset));
  const storages = readStorages(new Cursor(members[0], host, reading));
  const tensors = readTensors(new Cursor(members[1], host, reading), storages);
  const persistent: PickleHost["persistent"] = (id, offset) => {
    // A container comes as a list with its source text.
    if (Array.isArray(id)) return id[0] ?? null;
    const key = String(typeof id === "object" ? describe(id) : id);
    return (
      tensors.get(key) ?? storages.get(key) ?? fail(`there is no tensor ${quoted(key)}`, offset)
    );
  };
  const { bytes: pickle, offset } = members[2];
  return readPickle({ bytes: pickle, base: offset }, hostOf(persistent), reading).value;
}

/** A member that holds pickles and numbers by turns. */
class Cursor {
  readonly bytes: Uint8Array;
  readonly base: number;
  readonly host: PickleHost;
  readonly reading: Reading;
  at = 0;

  constructor({ bytes, offset }: TarEntry, host: PickleHost, reading: Reading) {
    this.bytes = bytes;
    this.base = offset;
    this.host = host;
    this.reading = reading;
  }

  fail = (what: string): never => this.reading.fail(what, this.base + this.at);

  pickle(host = this.host): PickleValue {
    const { bytes, base, at: start } = this;
    const { value, end } = readPickle({ bytes, base, start }, host, this.reading);
    this.at = end;
    return value;
  }

  count(): number {
    const value = this.pickle(plainHost(this.reading));
    // Each of what is counted takes more than a byte.
    if (
      !Number.isSafeInteger(value) ||
      (value as number) < 0 ||
      (value as number) > this.bytes.length
    )
      return this.fail(`a count is ${describe(value)}`);
    return value as number;
  }

  take(size: number): Uint8Array {
    if (!(this.at + size <= this.bytes.length))
      this.fail(`${size} bytes are needed, ${this.bytes.length - this.at} are left`);
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  /** Signed integers of 64 bits, which must be counts. */
  longs(length: number): number[] {
    const bytes = this.take(8 * length);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length }, (_, i) => {
      const value = Number(view.getBigInt64(8 * i, true));
      return Number.isSafeInteger(value) && value >= 0 ? value : this.fail(`${value} is no count`);
    });
  }
}

const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0;

const keyOf = (value: PickleValue | undefined): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : undefined;

/** Each storage: (key, location, type), a count, its elements; then views: (key, root, offset, count). */
function readStorages(from: Cursor): Map<string, Storage> {
  const storages = new Map<string, Storage>();
  for (let left = from.count(); left > 0; left--) {
    const args = from.pickle();
    const [key, , type] = Array.isArray(args) ? args : [];
    const name = keyOf(key) ?? from.fail("a storage has no key");
    const dtype: TorchDtype | undefined =
      type instanceof Global ? torchStorages.get(type.name) : undefined;
    if (!dtype) return from.fail(`storage ${quoted(name)} has no known type`);
    if (storages.has(name)) from.fail(`storage ${quoted(name)} stands twice`);
    const [count] = from.longs(1) as [number];
    const offset = from.base + from.at;
    const bytes = from.take(count * dtype.bytes);
    storages.set(name, new Storage(dtype, count, () => ({ bytes, offset, bigEndian: false })));
  }
  const views = from.pickle();
  for (const view of Array.isArray(views) ? views : from.fail("the views are not a list")) {
    const [key, root, start, count] = Array.isArray(view) ? view : [];
    const whole = storages.get(keyOf(root) ?? "");
    const fits = whole && isCount(start) && isCount(count) && start + count <= whole.count;
    const name = keyOf(key);
    if (!fits || name === undefined) return from.fail("a view does not lie in its storage");
    storages.set(name, part(whole, start, count));
  }
  return storages;
}

/** Each tensor: (key, storage, type), its rank in 8 bytes, sizes, strides, offset. */
function readTensors(
  from: Cursor,
  storages: ReadonlyMap<string, Storage>,
): Map<string, TorchTensor> {
  const tensors = new Map<string, TorchTensor>();
  for (let left = from.count(); left > 0; left--) {
    const args = from.pickle();
    const [key, root] = Array.isArray(args) ? args : [];
    const name = keyOf(key) ?? from.fail("a tensor has no key");
    const storage = storages.get(keyOf(root) ?? "");
    if (!storage) return from.fail(`tensor ${quoted(name)} has no storage`);
    const offset = from.base + from.at;
    // Of the eight bytes only the first four are the rank.
    const bytes = from.take(8);
    const rank = new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
    if (rank < 0 || rank > 32) from.fail(`tensor ${quoted(name)} has the rank ${rank}`);
    const [size, stride] = [from.longs(rank), from.longs(rank)];
    const [start] = from.longs(1) as [number];
    tensors.set(name, new TorchTensor(storage.dtype, storage, { start, size, stride }, offset));
  }
  return tensors;
}
