/**
 * Several entries → files: programs without weights, states in shards of a bounded size, and the
 * manifest that binds them. A state whose initial values are all zeros, such as an empty cache, is
 * in no shard. One file after the other, so that a writer holds the weights and one shard.
 */
import type { Constant } from "./artifact.ts";
import { crc32Text } from "./crc32.ts";
import { encodeArtifact } from "./encode.ts";
import {
  type ArtifactEntries,
  bytesOfState,
  checkEntries,
  checkProgram,
  programFolder,
  shardName,
  type Weight,
} from "./entries.ts";
import { ArtifactError, checkOptions, type OptionNames } from "./errors.ts";
import { checkVersion, type FileEntry, printManifest } from "./manifest.ts";
import { writeSafetensors } from "./safetensors.ts";
import { manifestName, show } from "./schema.ts";

export interface EntriesOptions {
  /** The most bytes of weights in a file, default 64 MiB; a larger tensor has a file to itself. */
  readonly shardBytes?: number;
}

const entriesOptions: OptionNames<EntriesOptions> = { shardBytes: 1 };
const defaultShardBytes = 2 ** 26;

type File = readonly [name: string, bytes: Uint8Array];

/** The folder form of several entries, as `entryFiles` gives it. */
export const encodeEntries = (
  all: ArtifactEntries,
  options: EntriesOptions = {},
): Map<string, Uint8Array> => new Map(entryFiles(all, options));

/**
 * The files of several entries, the manifest last: a folder `ENTRY.TARGET` for each program, and
 * `weights-00001.safetensors` and so on. Throws ArtifactError, naming the field, for what breaks a
 * rule of the types.
 */
export function* entryFiles(all: ArtifactEntries, options: EntriesOptions = {}): Generator<File> {
  const { shardBytes = defaultShardBytes } = checkOptions("entryFiles", options, entriesOptions);
  if (!(shardBytes > 0))
    throw new ArtifactError(
      `entryFiles: shardBytes must be a number above 0, got ${show(shardBytes)}`,
    );
  checkVersion(all.version);
  checkWeights(all);
  const shards = shardsOf(all, shardBytes);
  const entries = [];
  for (const [name, programs] of Object.entries(all.entries)) {
    const rows = [];
    for (const program of programs) {
      checkProgram(name, program, all.states);
      const files = encodeArtifact({ ...program, weights: {} });
      const manifest = files.get(manifestName)!;
      rows.push({ target: program.target, bytes: manifest.length, crc32: crc32Text(manifest) });
      for (const [file, bytes] of files)
        yield [`${programFolder(name, program.target)}/${file}`, bytes];
    }
    entries.push({ name, programs: rows });
  }
  const listed: FileEntry[] = [];
  for (const [i, tensors] of shards.entries()) {
    const bytes = writeSafetensors(tensors);
    listed.push({ name: shardName(i), bytes: bytes.length, crc32: crc32Text(bytes) });
    yield [shardName(i), bytes];
  }
  const states = all.states.map((s) => {
    const at = shards.findIndex((tensors) => Object.hasOwn(tensors, s.name));
    const has = Object.hasOwn(all.weights, s.name);
    return { ...s, ...(at >= 0 ? { from: at } : has ? { from: "zeros" } : {}) };
  });
  const { version, name } = all;
  const manifest: unknown = { version, name, entries, states, shards: listed };
  checkEntries(manifest);
  yield [manifestName, printManifest(manifest)];
}

/** Weights belong to states, and have what their shapes need. */
function checkWeights({ states, weights }: ArtifactEntries): void {
  const rows = new Map(states.map((s) => [s.name, s]));
  for (const [name, w] of Object.entries(weights)) {
    const s = rows.get(name);
    const want = s && `${s.dtype}[${s.shape}]`;
    if (s && w === "zeros") continue;
    if (w === "zeros") throw new ArtifactError(`entryFiles: there is no state ${show(name)}`);
    if (want !== `${w.dtype}[${w.shape}]` || w.data.length !== bytesOfState(w))
      throw new ArtifactError(
        `entryFiles: the weights of ${show(name)} are ${w.dtype}[${w.shape}] of ${w.data.length} bytes, the state is ${want ?? "not there"}`,
      );
  }
}

/** States that are not zeros, in the order of the table, file by file. */
function shardsOf({ states, weights }: ArtifactEntries, most: number): Record<string, Constant>[] {
  const shards: Record<string, Constant>[] = [];
  let filled = most;
  for (const { name } of states) {
    const w = Object.hasOwn(weights, name) ? weightOf(weights[name]!) : "zeros";
    if (w === "zeros") continue;
    if (filled + w.data.length > most) {
      shards.push({});
      filled = 0;
    }
    shards.at(-1)![name] = w;
    filled += w.data.length;
  }
  return shards;
}

/** Zeros where every bit is one; −0 is kept. */
export function weightOf(weight: Weight): Weight {
  if (weight === "zeros") return weight;
  const { data } = weight;
  for (let i = 0; i < data.length; i++) if (data[i]) return weight;
  return "zeros";
}
