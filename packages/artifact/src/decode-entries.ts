/**
 * Files → several entries, one file after the other: the manifest, which binds the others by size
 * and checksum; programs as `decodeArtifact` takes them; shards of weights. Allocates no more than
 * the file at hand.
 */
import type { Artifact, Constant } from "./artifact.ts";
import { crc32Text } from "./crc32.ts";
import { decodeWithout, filesOf } from "./decode.ts";
import {
  type ArtifactEntries,
  checkProgram,
  type EntriesManifest,
  type EntryFiles,
  type ProgramEntry,
  programFolder,
  readEntriesManifest,
  type StateEntry,
  type Weight,
} from "./entries.ts";
import { ArtifactError } from "./errors.ts";
import { scriptName } from "./kernel-module.ts";
import { isScript, omittedBy } from "./load-from-url.ts";
import { type FileEntry, maxManifestBytes } from "./manifest.ts";
import { readSafetensors } from "./safetensors.ts";
import { manifestName, show } from "./schema.ts";
import { isSame } from "./targets.ts";

/** Files that are in memory. */
export const filesInMemory = (files: ReadonlyMap<string, Uint8Array>): EntryFiles => ({
  async read(name, most) {
    const bytes = files.get(name);
    if (!bytes) throw new ArtifactError(`${name}: the file is missing`);
    if (bytes.length > most)
      throw new ArtifactError(`${name}: ${bytes.length} bytes, more than ${most}`);
    return bytes;
  },
});

/** The manifest of several entries among files. Rejects with ArtifactError. */
export const readManifestOf = async (
  files: EntryFiles,
  signal?: AbortSignal,
): Promise<EntriesManifest> =>
  readEntriesManifest(await files.read(manifestName, maxManifestBytes, signal));

/**
 * The entries in files, all at once: what `entryFiles` wrote. `loadEntries` of
 * `@kiln-ml/runtime/entries` takes weights to a device shard by shard instead. Rejects with
 * ArtifactError for files that are missing, altered, or do not fit.
 */
export async function decodeEntries(
  from: EntryFiles | ReadonlyMap<string, Uint8Array>,
): Promise<ArtifactEntries> {
  const files = "read" in from ? from : filesInMemory(from);
  const manifest = await readManifestOf(files);
  const { version, name, states } = manifest;
  const entries: Record<string, Artifact[]> = {};
  for (const { name: entry, programs } of manifest.entries) {
    const made: Artifact[] = [];
    for (const row of programs) made.push((await readProgram(files, entry, row, states)).artifact);
    entries[entry] = made;
  }
  const weights: Record<string, Weight> = {};
  for (const i of manifest.shards.keys())
    Object.assign(weights, await readShard(files, manifest, i));
  for (const { name: state, from } of states) if (from === "zeros") weights[state] = "zeros";
  const table = states.map(({ from: _, ...spec }) => spec);
  return { version, name, states: table, entries, weights };
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** As the option of `loadFromUrl`. */
  readonly relaxed?: boolean;
}

export interface ReadProgram {
  readonly artifact: Artifact;
  /** What its script exports, where the files can be imported. */
  readonly kernels?: Readonly<Record<string, unknown>>;
}

/** One program of an entry. Rejects with ArtifactError, naming the file in the whole. */
export async function readProgram(
  files: EntryFiles,
  entry: string,
  row: ProgramEntry,
  states: readonly StateEntry[],
  options: ReadOptions = {},
): Promise<ReadProgram> {
  const { signal } = options;
  const omitted = omittedBy(options);
  const folder = `${programFolder(entry, row.target)}/`;
  const manifest = await files.read(`${folder}${manifestName}`, row.bytes, signal);
  checkFile(`${folder}${manifestName}`, manifest, row);
  const own = new Map([[manifestName, manifest]]);
  for (const { name, bytes } of filesOf(manifest))
    if (!omitted.includes(name)) own.set(name, await files.read(folder + name, bytes, signal));
  const artifact = decodeWithout(omitted, own);
  if (!isSame(artifact.target, row.target))
    throw new ArtifactError(`${folder}${manifestName}: is for another target than ${row.target}`);
  checkProgram(entry, artifact, states);
  if (!files.script || !isScript(row.target)) return { artifact };
  return { artifact, kernels: await files.script(folder + scriptName) };
}

/** The values in shard `i`: those that the table says, and no others. */
export async function readShard(
  files: EntryFiles,
  { states, shards }: EntriesManifest,
  i: number,
  signal?: AbortSignal,
): Promise<Readonly<Record<string, Constant>>> {
  const { name, bytes: size, crc32 } = shards[i]!;
  const bytes = await files.read(name, size, signal);
  checkFile(name, bytes, { bytes: size, crc32 });
  const { tensors } = readSafetensors(bytes, name);
  const found = Object.keys(tensors).sort();
  const want = states.flatMap((s) => (s.from === i ? s.name : [])).sort();
  const said = (names: readonly string[]) => names.map((n) => show(n)).join(", ") || "nothing";
  if (said(found) !== said(want))
    throw new ArtifactError(`${name}: has ${said(found)}, the manifest says ${said(want)}`);
  for (const s of states) {
    if (s.from !== i) continue;
    const [have, wanted] = [tensors[s.name]!, s].map((t) => `${t.dtype}[${t.shape}]`);
    if (have !== wanted)
      throw new ArtifactError(`${name}: ${show(s.name)} is ${have}, the manifest says ${wanted}`);
  }
  return tensors;
}

/** Whether bytes are those that a manifest lists. */
export const isWhole = (bytes: Uint8Array, row: Pick<FileEntry, "bytes" | "crc32">): boolean =>
  bytes.length === row.bytes && crc32Text(bytes) === row.crc32;

/** Throws ArtifactError where bytes are not those that a manifest lists. */
function checkFile(name: string, bytes: Uint8Array, row: Pick<FileEntry, "bytes" | "crc32">): void {
  if (bytes.length !== row.bytes)
    throw new ArtifactError(`${name}: ${bytes.length} bytes, the manifest says ${row.bytes}`);
  const actual = crc32Text(bytes);
  if (actual !== row.crc32)
    throw new ArtifactError(`${name}: checksum ${actual}, the manifest says ${row.crc32}`);
}
