/**
 * An artifact with several entries, such as the prefill and the decode of a language model:
 * programs over one table of states, whose values are there once, in shards. `manifest.json` has
 * the table, the shards and the programs, each of which is an artifact without weights in a folder
 * of its own. Says what form that has; `encode-entries.ts` writes it.
 */
import type { Artifact, Constant, StateSpec } from "./artifact.ts";
import { ArtifactError } from "./errors.ts";
import { checksum, dtype, type FileEntry, readSealed } from "./manifest.ts";
import {
  type Check,
  count,
  distinct,
  flag,
  identifier,
  isCount,
  list,
  manifestName,
  oneOf,
  record,
  refuse,
  show,
  tensorName,
  text,
} from "./schema.ts";
import { filedTargets, packedBytes, type TargetName } from "./targets.ts";

/** The initial values of a state; zeros take no room. */
export type Weight = Constant | "zeros";

/** Programs that share states. */
export interface ArtifactEntries {
  readonly version: number;
  readonly name: string;
  /** What the programs have between runs, each once. */
  readonly states: readonly StateSpec[];
  /**
   * The programs of each entry, one a target, without weights; their states are rows of `states`,
   * by name.
   */
  readonly entries: Readonly<Record<string, readonly Artifact[]>>;
  /** Initial values of states, by name; absent where the host provides them. */
  readonly weights: Readonly<Record<string, Weight>>;
}

/** Where files of several entries are read from, one at a time. */
export interface EntryFiles {
  /**
   * The bytes of a file of at most `most` bytes. Rejects with ArtifactError where there is none.
   */
  read(name: string, most: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** What a script exports, where pages forbid functions from text. */
  script?(name: string): Promise<Readonly<Record<string, unknown>>>;
}

/** Keeps shards between visits, under a name that their contents decide. */
export interface ShardCache {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, bytes: Uint8Array): Promise<void>;
}

/** A program's manifest, which lies in the folder `ENTRY.TARGET`. */
export interface ProgramEntry {
  readonly target: TargetName;
  readonly bytes: number;
  readonly crc32: string;
}

/** `from` is the number of a shard, or "zeros"; absent where the host provides the values. */
export interface StateEntry extends StateSpec {
  readonly from?: number | "zeros";
}

/** What `manifest.json` of several entries states. */
export interface EntriesManifest {
  readonly version: number;
  readonly name: string;
  readonly entries: readonly {
    readonly name: string;
    readonly programs: readonly ProgramEntry[];
  }[];
  readonly states: readonly StateEntry[];
  readonly shards: readonly FileEntry[];
}

export const shardName = (i: number): string =>
  `weights-${String(i + 1).padStart(5, "0")}.safetensors`;

/** The name of a file in a cache: what it is called and what is in it. */
export const cacheKey = ({ name, bytes, crc32 }: FileEntry): string => `${crc32}-${bytes}-${name}`;

/** The folder of a program. */
export const programFolder = (entry: string, target: TargetName): string => `${entry}.${target}`;

const from: Check = (value, at) => {
  if (value !== "zeros" && !isCount(value)) refuse(at, `is ${show(value)}, not a shard or "zeros"`);
};
const extents = list(count, 32);

const form = record(
  {
    version: count,
    name: tensorName,
    entries: list(
      record({
        name: identifier,
        programs: list(
          record({ target: oneOf(...filedTargets), bytes: count, crc32: checksum }),
          16,
        ),
      }),
      256,
    ),
    states: list(
      record({ name: tensorName, dtype, shape: extents, trainable: flag, written: flag }, { from }),
    ),
    shards: list(
      record({
        name: text(/^weights-\d+\.safetensors$/, "a shard"),
        bytes: count,
        crc32: checksum,
      }),
    ),
  },
  { crc32: checksum },
);

/** Throws ArtifactError unless `value` is a manifest of several entries that fits itself. */
export function checkEntries(value: unknown): asserts value is EntriesManifest {
  form(value, "");
  const { entries, states, shards } = value as EntriesManifest;
  if (entries.length === 0) refuse("entries", "is empty");
  // File systems may not tell upper from lower case.
  distinct(
    entries.map((e) => e.name.toLowerCase()),
    "entries",
  );
  const have = (programs: readonly ProgramEntry[]) => programs.map((p) => p.target).sort();
  for (const [i, { programs }] of entries.entries()) {
    distinct(have(programs), `entries[${i}].programs`);
    if (programs.length === 0 || `${have(programs)}` !== `${have(entries[0]!.programs)}`)
      refuse(`entries[${i}].programs`, "is not for the targets that those of the first entry are");
  }
  distinct(
    states.map((s) => s.name),
    "states",
  );
  for (const [i, s] of states.entries()) {
    // An extent of 0 makes it empty, but the others must still multiply without overflow.
    if (!isCount(bytesOfState({ dtype: s.dtype, shape: s.shape.map((d) => d || 1) })))
      refuse(`states[${i}].shape`, `is ${show(s.shape)}, whose bytes exceed 2^53 - 1`);
    if (typeof s.from === "number" && s.from >= shards.length)
      refuse(`states[${i}].from`, `is ${s.from} of ${shards.length} shards`);
  }
  for (const [i, { name }] of shards.entries())
    if (name !== shardName(i)) refuse(`shards[${i}].name`, `is ${show(name)}, not ${shardName(i)}`);
}

/** Bytes of a state's values in files. */
export const bytesOfState = ({ dtype: kind, shape }: Pick<StateSpec, "dtype" | "shape">): number =>
  shape.reduce((n, d) => n * d, packedBytes(kind));

/**
 * The manifest of several entries. Throws ArtifactError for another version, damage, a manifest of
 * one program, and what does not fit itself.
 */
export function readEntriesManifest(bytes: Uint8Array): EntriesManifest {
  const value = readSealed(bytes);
  if (!isEntries(value))
    throw new ArtifactError(
      `${manifestName}: has one program, not several entries\n  load it with load, or openModel`,
    );
  checkEntries(value);
  return value;
}

/** Whether what a manifest says is of several entries. */
export const isEntries = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "entries");

/** Throws ArtifactError where a program's states are not rows of the table. */
export function checkProgram(
  entry: string,
  { signature }: Pick<Artifact, "signature">,
  table: readonly StateSpec[],
): void {
  const rows = new Map(table.map((s) => [s.name, s]));
  const said = (s: StateSpec) => `${s.dtype}[${s.shape}]${s.trainable ? ", trainable" : ""}`;
  for (const s of signature.states) {
    const row = rows.get(s.name) ?? refuse("states", `has no ${show(s.name)}, which ${entry} has`);
    if (said(row) !== said(s))
      refuse("states", `says ${show(s.name)} is ${said(row)}, ${entry} ${said(s)}`);
    if (s.written && !row.written)
      refuse("states", `says ${show(s.name)} is not written, which ${entry} writes`);
  }
}
