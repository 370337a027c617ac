/**
 * Artifacts with several entries on a device: programs by name over one table of states. Weights
 * come shard by shard and go to the device as they come, so that loading takes the weights and one
 * shard. A page that runs one program does without this file.
 */
import { ArtifactError, checkOptions, DeviceError, type OptionNames } from "@kiln-ml/artifact";
import {
  type EntriesManifest,
  type EntryFiles,
  filesAtUrl,
  filesInMemory,
  readManifestOf,
  readProgram,
  type ShardCache,
  type UrlReading,
} from "@kiln-ml/artifact/entries";
import type { Device, RunOptions } from "./device.ts";
import type { DeviceArray } from "./device-array.ts";
import type { Executable } from "./executable.ts";
import { load } from "./load.ts";
import type { Input } from "./signature.ts";
import { loadStates, type StatesProgress } from "./state-shards.ts";

export interface LoadEntriesOptions {
  /** The entries to load, and the states that these have; all by default. */
  readonly entries?: readonly string[];
  /** Arrays in the place of states that the artifact has, or that it has no values for, by name. */
  readonly states?: Readonly<Record<string, DeviceArray>>;
  /** Called as weights come, and when the programs are ready. */
  readonly onProgress?: (progress: EntriesProgress) => void;
  /** Ends it: the call rejects with the signal's reason, and what was loaded is freed. */
  readonly signal?: AbortSignal;
  /**
   * Keeps shards between visits: in the browser's cache of that name ("kiln-models" for true), or
   * in what is given, such as `folderCache` of `@kiln-ml/artifact/node`.
   */
  readonly cache?: boolean | string | ShardCache;
  /** false refuses kernels in JavaScript before they are imported. */
  readonly scripts?: boolean;
  /** In place of the global one, for URLs. */
  readonly fetch?: (url: URL, signal?: AbortSignal) => Promise<Response>;
}

export interface EntriesProgress extends StatesProgress {
  readonly phase: "fetch" | "ready";
}

const loadEntriesOptions: OptionNames<LoadEntriesOptions> = {
  entries: 1,
  states: 1,
  onProgress: 1,
  signal: 1,
  cache: 1,
  scripts: 1,
  fetch: 1,
};

/** Programs that are ready to run, and the states that they share. */
export class LoadedEntries {
  readonly name: string;
  /** Arrays that runs of any entry update in place, by name. */
  readonly states: ReadonlyMap<string, DeviceArray>;
  readonly #entries: ReadonlyMap<string, Executable>;
  readonly #own: readonly DeviceArray[];

  /** @internal Made by `loadEntries`. */
  constructor(
    name: string,
    entries: ReadonlyMap<string, Executable>,
    states: ReadonlyMap<string, DeviceArray>,
    own: readonly DeviceArray[],
  ) {
    this.name = name;
    this.states = states;
    this.#entries = entries;
    this.#own = own;
  }

  /** The names of the entries. */
  get entries(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** One program. Throws ArtifactError for a name of none. */
  entry(name: string): Executable {
    const found = this.#entries.get(name);
    if (found) return found;
    throw new ArtifactError(
      `entry: ${this.name} has no ${JSON.stringify(name)}\n  its entries are ${this.entries.join(", ")}`,
    );
  }

  /** Runs an entry once, as `Executable.run` does. */
  async run(name: string, inputs: readonly Input[], options?: RunOptions): Promise<DeviceArray[]> {
    return this.entry(name).run(inputs, options);
  }

  /** Frees the programs, and the states that loading made. */
  dispose(): void {
    for (const entry of this.#entries.values()) entry.dispose();
    for (const array of this.#own) array.dispose();
  }
}

/**
 * Makes the entries of an artifact ready to run on a device, with one array for each state that
 * they share.
 *
 * @param from The URL of a folder, its files by name, or what `openEntries` of
 *   `@kiln-ml/artifact/node` gives.
 * @example
 *   const model = await loadEntries("/story/", createWasmDevice());
 *   const [scores] = await model.run("decode", [tokens, positions, keys, last]);
 *
 * Rejects with ArtifactError for what cannot be had, is damaged, or has no values for a state;
 * DeviceError for a device of no target that it is compiled for, or without memory for its states.
 */
export async function loadEntries(
  from: string | URL | ReadonlyMap<string, Uint8Array> | EntryFiles,
  device: Device,
  options: LoadEntriesOptions = {},
): Promise<LoadedEntries> {
  const { signal, onProgress, cache } = checkOptions("loadEntries", options, loadEntriesOptions);
  device.check("loadEntries");
  const telling: { chunk?: (bytes: number) => void } = {};
  const files = filesOf(from, options, (bytes) => telling.chunk?.(bytes));
  const manifest = await readManifestOf(files, signal);
  const names = chosen(manifest, options.entries);
  checkTarget(manifest, device, options);
  const tell = (progress: StatesProgress) => onProgress?.({ phase: "fetch", ...progress });
  const programs = await Promise.all(
    names.map((n) => programOf(files, manifest, n, device, signal)),
  );
  const used = new Set(programs.flatMap((p) => p.artifact.signature.states.map((s) => s.name)));
  const { states, own, progress } = await loadStates(
    { files, manifest, device, used },
    { given: options.states ?? {}, signal, cache, tell, telling },
  );
  const entries = new Map<string, Executable>();
  try {
    for (const [i, { artifact, kernels }] of programs.entries()) {
      signal?.throwIfAborted();
      const arrays = artifact.signature.states.map((s) => states.get(s.name)!);
      const how = kernels ? { states: arrays, kernels } : { states: arrays };
      entries.set(names[i]!, await load(artifact, device, how));
    }
    signal?.throwIfAborted();
    onProgress?.({ phase: "ready", ...progress });
  } catch (error) {
    for (const entry of entries.values()) entry.dispose();
    for (const array of own) array.dispose();
    throw error;
  }
  return new LoadedEntries(manifest.name, entries, states, own);
}

function filesOf(
  from: string | URL | ReadonlyMap<string, Uint8Array> | EntryFiles,
  { fetch }: LoadEntriesOptions,
  told: NonNullable<UrlReading["told"]>,
): EntryFiles {
  if (typeof from !== "string" && !(from instanceof URL))
    return "read" in from ? from : filesInMemory(from);
  const page = (globalThis as { location?: { href: string } }).location?.href;
  try {
    return filesAtUrl(new URL(from, page), fetch ? { fetch, told } : { told });
  } catch {
    throw new ArtifactError(
      `loadEntries: ${from} is not a URL\n  in Node, openEntries of @kiln-ml/artifact/node takes paths`,
    );
  }
}

function chosen(
  { name, entries }: EntriesManifest,
  asked: readonly string[] | undefined,
): readonly string[] {
  const known = entries.map((e) => e.name);
  const odd = asked?.find((n) => !known.includes(n));
  if (odd !== undefined)
    throw new ArtifactError(
      `loadEntries: ${name} has no entry ${JSON.stringify(odd)}\n  its entries are ${known.join(", ")}`,
    );
  return asked ? [...new Set(asked)] : known;
}

function checkTarget(
  { name, entries }: EntriesManifest,
  { target, kind }: Device,
  { scripts = true }: LoadEntriesOptions,
): void {
  const targets = entries[0]!.programs.map((p) => p.target);
  if (!targets.includes(target))
    throw new DeviceError(
      `loadEntries: ${name} is compiled for ${targets.join(", ")}, the ${kind} device runs ${target}\n  compile it for this target too, or open a device of another`,
    );
  if (!scripts && target === "js")
    throw new ArtifactError(
      `loadEntries: ${name} has kernels in JavaScript, which scripts: false refuses\n  compile it for wasm or webgpu`,
    );
}

/** The program of an entry for the device's target; of wasm, the module that the device runs. */
async function programOf(
  files: EntryFiles,
  { entries, states }: EntriesManifest,
  name: string,
  { target, features }: Device,
  signal: AbortSignal | undefined,
) {
  const row = entries.find((e) => e.name === name)!.programs.find((p) => p.target === target)!;
  const relaxed = features.has("relaxed-simd");
  return readProgram(files, name, row, states, { signal, relaxed });
}
