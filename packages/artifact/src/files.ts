/**
 * Artifacts on disk, for Node. Written whole or not at all, and read with nothing taken on trust: a
 * folder's files must lie inside of it. The main entry of the package does not contain this file.
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Artifact } from "./artifact.ts";
import { decodeArtifact, filesOf } from "./decode.ts";
import { encodeArtifact } from "./encode.ts";
import { isEntries } from "./entries.ts";
import { ArtifactError } from "./errors.ts";
import { readMember, whereIs, writeFolder } from "./folder-on-disk.ts";
import { readSealed } from "./manifest.ts";
import { readWhole } from "./open-file.ts";
import { packArtifact, unpackArtifact } from "./pack.ts";
import { writeFileAtomic } from "./replace-file.ts";
import { manifestName } from "./schema.ts";

export { folderCache, openEntries, readEntries, writeEntries } from "./entries-on-disk.ts";
export { type OpenFile, openFile, openInside, readWhole } from "./open-file.ts";
export { removeOnExit, temporaryName, writeFileAtomic } from "./replace-file.ts";

/**
 * Writes an artifact: one file if `path` ends in `.kiln`, else a folder. An old folder is first
 * moved to `PATH.kiln-old`, where readArtifact looks if the process died between the two renames.
 *
 * Throws ArtifactError if the artifact cannot be encoded, and the file system's errors.
 */
export async function writeArtifact(path: string, a: Artifact): Promise<void> {
  const target = resolve(path);
  if (target.endsWith(".kiln")) return writeFileAtomic(target, packArtifact(a));
  return writeFolder(target, encodeArtifact(a));
}

/**
 * Reads an artifact written by writeArtifact. Throws ArtifactError, and the file system's errors.
 */
export async function readArtifact(path: string): Promise<Artifact> {
  const found = await whereIs(path, "readArtifact");
  if (!(await stat(found)).isDirectory()) return unpackArtifact(await readWhole(found));
  const manifest = await readMember(found, manifestName);
  if (isEntries(readSealed(manifest)))
    throw new ArtifactError(
      `readArtifact: ${found} has several entries\n  read it with readEntries, or load it with loadEntries of @kiln-ml/runtime/entries`,
    );
  const files = new Map([[manifestName, manifest]]);
  for (const { name, bytes } of filesOf(manifest))
    files.set(name, await readMember(found, name, { bytes }));
  return decodeArtifact(files);
}
