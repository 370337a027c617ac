/**
 * Persistent ids: how a PyTorch pickle refers to storages, whose bytes stand outside it. Storages are made once each.
 */
import { describe, Global, type PickleValue } from "../pickle/values.ts";
import { type Fail, quoted } from "../reading.ts";
import { type TorchDtype, torchStorages } from "./names.ts";
import { Storage, type StorageBytes } from "./tensor.ts";

/** A storage by its key; `locate` finds its bytes, of which `count` elements of `dtype` are needed. */
export type Locate = (
  key: string,
  dtype: TorchDtype,
  count: number,
  offset: number,
) => StorageBytes;

interface Known {
  readonly storage: Storage;
  readonly key: string;
  readonly views: Map<string, Storage>;
}

/** The storages of a pickle. */
export class Storages {
  readonly byKey = new Map<string, Known>();
  readonly #locate: Locate;
  readonly #fail: Fail;

  constructor(locate: Locate, fail: Fail) {
    this.#locate = locate;
    this.#fail = fail;
  }

  /** ("storage", type, key, location, count) and, in old files, a view of it: (key, offset, count). */
  resolve = (id: PickleValue, offset: number): PickleValue => {
    const fail = (what: string): never => this.#fail(what, offset);
    if (!Array.isArray(id)) return fail(`a persistent id is ${describe(id)}`);
    // A module and its source text: the module is all that is wanted.
    if (id[0] === "module" && id.length === 4) return id[1] ?? null;
    const [tag, type, key, , count, view] = id;
    if (tag !== "storage" || id.length < 5)
      return fail(`a persistent id is a list of ${id.length}, not a storage's`);
    const dtype = type instanceof Global ? torchStorages.get(type.name) : undefined;
    if (!dtype) return fail(`a storage is of the type ${describe(type ?? null)}`);
    if (typeof key !== "string" && typeof key !== "number" && typeof key !== "bigint")
      return fail(`a storage has the key ${describe(key ?? null)}`);
    if (!Number.isSafeInteger(count) || (count as number) < 0)
      return fail(`a storage has ${describe(count ?? null)} as its number of elements`);
    const known = this.#add(String(key), dtype, count as number, offset);
    return view === undefined || view === null ? known.storage : this.#view(known, view, offset);
  };

  #add(key: string, dtype: TorchDtype, count: number, offset: number): Known {
    const known = this.byKey.get(key);
    if (known) {
      if (known.storage.dtype !== dtype || known.storage.count !== count)
        this.#fail(`storage ${quoted(key)} has two types or sizes`, offset);
      return known;
    }
    let found: StorageBytes | undefined;
    const locate = () => (found ??= this.#locate(key, dtype, count, offset));
    const added = { storage: new Storage(dtype, count, locate), key, views: new Map() };
    this.byKey.set(key, added);
    return added;
  }

  #view({ storage, key, views }: Known, view: PickleValue, offset: number): Storage {
    const [, start, count] = Array.isArray(view) ? view : [];
    const fits =
      Number.isSafeInteger(start) &&
      Number.isSafeInteger(count) &&
      (start as number) >= 0 &&
      (count as number) >= 0 &&
      (start as number) + (count as number) <= storage.count;
    if (!fits) return this.#fail(`a view does not lie in storage ${quoted(key)}`, offset);
    const id = `${start as number}/${count as number}`;
    const made = views.get(id) ?? part(storage, start as number, count as number);
    views.set(id, made);
    return made;
  }
}

/** Elements `start` to `start + count` of a storage. */
export const part = ({ dtype, locate }: Storage, start: number, count: number): Storage =>
  new Storage(dtype, count, () => {
    const { bytes, offset, bigEndian } = locate();
    const from = start * dtype.bytes;
    return {
      bytes: bytes.subarray(from, from + count * dtype.bytes),
      offset: offset + from,
      bigEndian,
    };
  });
