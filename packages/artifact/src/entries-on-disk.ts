/**
 * Artifacts with several entries on disk, for Node: written shard by shard, and read file by file,
 * so that a loader never holds more than one shard; and a folder that keeps what came from
 * elsewhere.
 */
import { mkdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { decodeEntries, filesInMemory } from "./decode-entries.ts";
import { type EntriesOptions, encodeEntries, entryFiles } from "./encode-entries.ts";
import type { ArtifactEntries, EntryFiles, ShardCache } from "./entries.ts";
import { ArtifactError } from "./errors.ts";
import { readMember, whereIs, writeFolder } from "./folder-on-disk.ts";
import { openInside, readWhole } from "./open-file.ts";
import { packFiles, unpackFiles } from "./pack.ts";
import { writeFileAtomic } from "./replace-file.ts";

/**
 * Writes an artifact with several entries: one file if `path` ends in `.kiln`, else a folder, as
 * `writeArtifact` does. Throws ArtifactError if it cannot be encoded, and the file system's errors.
 */
export async function writeEntries(
  path: string,
  all: ArtifactEntries,
  options: EntriesOptions = {},
): Promise<void> {
  const target = resolve(path);
  if (target.endsWith(".kiln"))
    return writeFileAtomic(target, packFiles(encodeEntries(all, options)));
  return writeFolder(target, entryFiles(all, options));
}

/**
 * The files that `writeEntries` wrote, to be read one by one: what `loadEntries` of
 * `@kiln-ml/runtime/entries` takes. Throws ArtifactError, and the file system's errors.
 */
export async function openEntries(path: string): Promise<EntryFiles> {
  const found = await whereIs(path, "openEntries");
  const isFolder = (await stat(found)).isDirectory();
  if (!isFolder) return filesInMemory(unpackFiles(await readWhole(found)));
  return {
    async read(name, most, signal) {
      signal?.throwIfAborted();
      return readMember(found, name, { most });
    },
  };
}

/** All that `writeEntries` wrote, at once. Throws as `openEntries` does. */
export const readEntries = async (path: string): Promise<ArtifactEntries> =>
  decodeEntries(await openEntries(path));

/** A folder that keeps shards between processes. What is there and damaged is had anew. */
export function folderCache(path: string): ShardCache {
  const folder = resolve(path);
  const nameOf = (key: string): string => {
    if (/^[\w.-]+$/.test(key)) return key;
    throw new ArtifactError(`folderCache: ${JSON.stringify(key)} is no name of a file`);
  };
  return {
    async get(key) {
      await mkdir(folder, { recursive: true });
      const file = openInside(folder, nameOf(key));
      try {
        return file && (await file.read(0, file.size));
      } finally {
        file?.close();
      }
    },
    put: (key, bytes) => writeFileAtomic(join(folder, nameOf(key)), bytes),
  };
}
