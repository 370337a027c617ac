/**
 * Artifacts on disk, for Node. Written whole or not at all, and read with nothing taken on trust: a folder's files must lie
 * inside of it. The main entry of the package does not contain this file.
 */
import { lstat, mkdir, rename, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Artifact } from "./artifact.ts";
import { decodeArtifact, filesOf } from "./decode.ts";
import { encodeArtifact } from "./encode.ts";
import { ArtifactError } from "./errors.ts";
import { maxManifestBytes } from "./manifest.ts";
import { openInside, readWhole } from "./open-file.ts";
import { packArtifact, unpackArtifact } from "./pack.ts";
import { sync, withTemporary, writeFileAtomic, writeNew } from "./replace-file.ts";
import { manifestName } from "./schema.ts";

export { type OpenFile, openFile, openInside, readWhole } from "./open-file.ts";
export { removeOnExit, temporaryName, writeFileAtomic } from "./replace-file.ts";

/**
 * Writes an artifact: one file if `path` ends in `.kiln`, else a folder. An old folder is first moved to `PATH.kiln-old`,
 * where readArtifact looks if the process died between the two renames.
 *
 * Throws ArtifactError if the artifact cannot be encoded, and the file system's errors.
 */
export async function writeArtifact(path: string, a: Artifact): Promise<void> {
  const target = resolve(path);
  if (target.endsWith(".kiln")) return writeFileAtomic(target, packArtifact(a));
  const files = encodeArtifact(a);
  await withTemporary(target, async (temporary) => {
    // Fails where there is something of that name.
    await mkdir(temporary);
    for (const [name, bytes] of files) {
      await mkdir(dirname(join(temporary, name)), { recursive: true });
      await writeNew(join(temporary, name), bytes);
    }
    await sync(temporary);
    await replaceFolder(temporary, target);
  });
}

async function replaceFolder(from: string, to: string): Promise<void> {
  const old = oldName(to);
  for (const path of [to, old]) if (await exists(path)) await checkReplaceable(path);
  if (await exists(to)) {
    await discard(old);
    await rename(to, old);
  }
  await rename(from, to);
  await sync(dirname(to));
  await discard(old);
}

/** Removes a folder under another name, so that half of one is never taken for something else. */
async function discard(path: string): Promise<void> {
  if (await exists(path)) await withTemporary(path, (temporary) => rename(path, temporary));
}

/** What is no artifact is not ours to remove. A link to one is: it alone goes, and not what it points to. */
async function checkReplaceable(path: string): Promise<void> {
  if (!(await exists(join(path, manifestName))))
    throw new ArtifactError(
      `writeArtifact: ${path} exists and is not an artifact\n  write to another path, or move it away`,
    );
}

/** Reads an artifact written by writeArtifact. Throws ArtifactError, and the file system's errors. */
export async function readArtifact(path: string): Promise<Artifact> {
  const target = resolve(path);
  const found = (await exists(target)) ? target : oldName(target);
  if (!(await exists(found)))
    throw new ArtifactError(
      `readArtifact: ${target} does not exist\n  kiln compile model.ts -o PATH writes one`,
    );
  if (!(await stat(found)).isDirectory()) return unpackArtifact(await readWhole(found));
  const manifest = await readMember(found, manifestName);
  const files = new Map([[manifestName, manifest]]);
  for (const { name, bytes } of filesOf(manifest))
    files.set(name, await readMember(found, name, bytes));
  return decodeArtifact(files);
}

async function readMember(folder: string, name: string, expected?: number): Promise<Uint8Array> {
  const file = openInside(folder, name);
  if (!file)
    throw new ArtifactError(
      `${name}: the file is missing\n  copy the whole folder, or compile it again`,
    );
  try {
    // Sizes are compared before the file is read into memory.
    if (expected !== undefined && file.size !== expected)
      throw new ArtifactError(`${name}: ${file.size} bytes, the manifest says ${expected}`);
    if (expected === undefined && file.size > maxManifestBytes)
      throw new ArtifactError(`${name}: ${file.size} bytes, more than ${maxManifestBytes}`);
    return await file.read(0, file.size);
  } finally {
    file.close();
  }
}

const oldName = (path: string): string => `${path}.kiln-old`;

/** Whether there is anything of that name, a dangling link included. */
const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
