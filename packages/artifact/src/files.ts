/**
 * Artifacts on disk, for Node. A file is written under a temporary name, synced and renamed, so a full disk or a
 * killed process leaves the old one intact. The main entry of the package does not contain this file.
 */
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Artifact } from "./artifact.ts";
import { decodeArtifact, filesOf } from "./decode.ts";
import { encodeArtifact } from "./encode.ts";
import { ArtifactError } from "./errors.ts";
import { packArtifact, unpackArtifact } from "./pack.ts";
import { manifestName } from "./schema.ts";

/** Replaces the file at `path` by `bytes`: all of them, or not at all. */
export async function writeFileAtomic(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeSynced(temporary, bytes);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await sync(dirname(path));
}

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
  const temporary = temporaryName(target);
  try {
    for (const [name, bytes] of files) {
      await mkdir(dirname(join(temporary, name)), { recursive: true });
      await writeSynced(join(temporary, name), bytes);
    }
    await sync(temporary);
    await replaceFolder(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true, recursive: true });
    throw error;
  }
}

async function replaceFolder(from: string, to: string): Promise<void> {
  const old = oldName(to);
  if (await exists(to)) {
    if (!(await exists(join(to, manifestName))))
      throw new ArtifactError(`writeArtifact: ${to} exists and is not an artifact`);
    await rm(old, { force: true, recursive: true });
    await rename(to, old);
  }
  await rename(from, to);
  await sync(dirname(to));
  await rm(old, { force: true, recursive: true });
}

/** Reads an artifact written by writeArtifact. Throws ArtifactError, and the file system's errors. */
export async function readArtifact(path: string): Promise<Artifact> {
  const target = resolve(path);
  const found = (await exists(target)) ? target : oldName(target);
  if (!(await exists(found))) throw new ArtifactError(`readArtifact: ${target} does not exist`);
  if (!(await stat(found)).isDirectory()) return unpackArtifact(await readWhole(found));
  const manifest = await readMember(found, manifestName);
  const files = new Map([[manifestName, manifest]]);
  for (const { name, bytes } of filesOf(manifest)) {
    files.set(name, await readMember(found, name, bytes));
  }
  return decodeArtifact(files);
}

async function readMember(folder: string, name: string, expected?: number): Promise<Uint8Array> {
  const path = join(folder, name);
  if (!(await exists(path))) throw new ArtifactError(`${name}: the file is missing`);
  const { size } = await stat(path);
  // Sizes are compared before the file is read into memory.
  if (expected !== undefined && size !== expected)
    throw new ArtifactError(`${name}: ${size} bytes, the manifest says ${expected}`);
  return readWhole(path);
}

/** All bytes of a file; readFile stops at 2 GiB. */
async function readWhole(path: string): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const bytes = new Uint8Array((await file.stat()).size);
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, Math.min(bytes.length - at, 1 << 30), at);
      if (bytesRead === 0)
        throw new ArtifactError(`${path}: the file ends at ${at} of ${bytes.length} bytes`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

const oldName = (path: string): string => `${path}.kiln-old`;
let serial = 0;
const temporaryName = (path: string): string => `${path}.${process.pid}-${serial++}.tmp`;

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "w");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename durable. Some systems cannot open a folder; there the rename stands without it. */
async function sync(folder: string): Promise<void> {
  const file = await open(folder, "r").catch(() => undefined);
  await file?.sync().catch(() => undefined);
  await file?.close();
}
