/**
 * States of several entries, from shards to a device: one shard in memory at a time, checked before
 * any of it is used, and kept between visits under a name that its contents decide.
 */
import { ArtifactError, DeviceError, DtypeError, ShapeError } from "@kiln-ml/artifact";
import {
  bytesOfState,
  cacheKey,
  type EntriesManifest,
  type EntryFiles,
  isWhole,
  readShard,
  type ShardCache,
  type StateEntry,
} from "@kiln-ml/artifact/entries";
import type { Device } from "./device.ts";
import type { DeviceArray } from "./device-array.ts";
import { hostArrayOf, sizeOf } from "./host-array.ts";
import { uploadConstant } from "./states.ts";

/** Bytes of shards that have come, and that will have. */
export interface StatesProgress {
  readonly loaded: number;
  readonly total: number;
}

interface Source {
  readonly files: EntryFiles;
  readonly manifest: EntriesManifest;
  readonly device: Device;
  /** The states that programs have. */
  readonly used: ReadonlySet<string>;
}

interface How {
  readonly given: Readonly<Record<string, DeviceArray>>;
  readonly signal: AbortSignal | undefined;
  readonly cache: boolean | string | ShardCache | undefined;
  readonly tell: (progress: StatesProgress) => void;
  /** Where a source puts the bytes that come, between two whole shards. */
  readonly telling: { chunk?: (bytes: number) => void };
}

/** Arrays for the states in use; `own` are those that were made here. */
export async function loadStates(
  { files, manifest, device, used }: Source,
  { given, signal, cache, tell, telling }: How,
) {
  const rows = manifest.states.filter((s) => used.has(s.name));
  checkGiven(rows, given, manifest.name, device);
  const wanted = rows.filter((s) => !Object.hasOwn(given, s.name));
  const shards = [...new Set(wanted.flatMap((s) => (typeof s.from === "number" ? s.from : [])))];
  const total = shards.reduce((n, i) => n + manifest.shards[i]!.bytes, 0);
  const states = new Map(Object.entries(given).filter(([name]) => used.has(name)));
  const own: DeviceArray[] = [];
  let loaded = 0;
  const put = (name: string, made: () => DeviceArray): void => {
    own.push(made());
    states.set(name, own.at(-1)!);
  };
  try {
    for (const s of wanted) if (s.from === "zeros") put(s.name, () => zeros(device, s));
    const kept = cached(files, manifest, cacheOf(cache));
    for (const i of shards) {
      signal?.throwIfAborted();
      let part = 0;
      telling.chunk = (bytes) => {
        part += bytes;
        tell({ loaded: loaded + part, total });
      };
      const tensors = await readShard(kept, manifest, i, signal);
      for (const s of wanted)
        if (s.from === i) put(s.name, () => uploadConstant(device, tensors[s.name]!, s.name));
      loaded += manifest.shards[i]!.bytes;
      tell({ loaded, total });
    }
  } catch (error) {
    for (const array of own) array.dispose();
    throw error instanceof DeviceError ? short(error, manifest.name, wanted, own) : error;
  } finally {
    delete telling.chunk;
  }
  return { states, own, progress: { loaded, total } };
}

/** What a device lacked memory for, and how much it takes. */
function short(
  error: DeviceError,
  name: string,
  wanted: readonly StateEntry[],
  own: readonly DeviceArray[],
): DeviceError {
  const total = wanted.reduce((n, s) => n + bytesOfState(s), 0);
  const had = own.reduce((n, a) => n + bytesOfState(a), 0);
  return new DeviceError(
    `loadEntries: the states of ${name} take ${total} bytes, of which ${had} were loaded: ${error.message}`,
    { cause: error },
  );
}

function checkGiven(
  rows: readonly StateEntry[],
  given: Readonly<Record<string, DeviceArray>>,
  name: string,
  device: Device,
): void {
  const odd = Object.keys(given).find((n) => !rows.some((s) => s.name === n));
  if (odd !== undefined)
    throw new ArtifactError(
      `loadEntries: ${name} has no state ${JSON.stringify(odd)} in these entries`,
    );
  const missing = rows.filter((s) => s.from === undefined && !Object.hasOwn(given, s.name));
  if (missing.length)
    throw new ArtifactError(
      `loadEntries: ${name} carries no values for ${missing.map((s) => s.name).join(", ")}\n  give arrays for them: { states: { … } }`,
    );
  const owners = new Map<DeviceArray, string>();
  for (const { name: state, dtype, shape } of rows) {
    const array = Object.hasOwn(given, state) ? given[state] : undefined;
    if (!array) continue;
    array.check(`loadEntries: state ${state}`);
    if (array.device !== device)
      throw new DeviceError(
        `loadEntries: state ${state} is on another device\n  upload it to the device that loads the entries`,
      );
    // Entries that have one of the two each would write into the other's.
    const owner = owners.get(array);
    if (owner !== undefined)
      throw new DeviceError(
        `loadEntries: state ${state} is the array of ${owner} too\n  give each state an array of its own`,
      );
    owners.set(array, state);
    if (array.dtype !== dtype)
      throw new DtypeError(`loadEntries: state ${state} must be ${dtype}, got ${array.dtype}`);
    if (`${array.shape}` !== `${shape}`)
      throw new ShapeError(
        `loadEntries: state ${state} must have shape [${shape}], got [${array.shape}]`,
      );
  }
}

function zeros(device: Device, { name, dtype, shape }: StateEntry): DeviceArray {
  const Host = hostArrayOf(dtype);
  const size = sizeOf(shape);
  let host: InstanceType<typeof Host>;
  try {
    host = new Host(size);
  } catch {
    throw new DeviceError(
      `state ${name} has ${size * Host.BYTES_PER_ELEMENT} bytes, more than there is memory for`,
    );
  }
  return device.upload(host, dtype, shape);
}

/**
 * Reads shards where they are kept; one that is not, or is damaged there, from where it comes from.
 */
function cached(
  files: EntryFiles,
  { shards }: EntriesManifest,
  cache: ShardCache | undefined,
): EntryFiles {
  if (!cache) return files;
  return {
    async read(name, most, signal) {
      const shard = shards.find((s) => s.name === name)!;
      const known = await cache.get(cacheKey(shard)).catch(() => undefined);
      if (known && isWhole(known, shard)) return known;
      const bytes = await files.read(name, most, signal);
      // A cache that is full is no reason to fail.
      if (isWhole(bytes, shard)) await cache.put(cacheKey(shard), bytes).catch(() => {});
      return bytes;
    },
  };
}

/** The cache that an option means. */
function cacheOf(cache: boolean | string | ShardCache | undefined): ShardCache | undefined {
  if (typeof cache === "object") return cache;
  // Node has none, nor has a page that was not served safely.
  if (!cache || typeof caches === "undefined") return undefined;
  const store = caches.open(typeof cache === "string" ? cache : "kiln-models");
  // The browser's cache has requests for keys.
  const at = (key: string): string => `https://kiln.invalid/${key}`;
  return {
    async get(key) {
      const found = await (await store).match(at(key));
      return found && new Uint8Array(await found.arrayBuffer());
    },
    put: async (key, bytes) => (await store).put(at(key), new Response(bytes as BodyInit)),
  };
}
