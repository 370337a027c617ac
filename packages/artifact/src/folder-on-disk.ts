/**
 * Folders of artifacts on disk, for Node: written whole or not at all, and read file by file, with
 * nothing taken on trust. Knows names of files, and nothing of what they hold.
 */
import { lstat, mkdir, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ArtifactError } from "./errors.ts";
import { maxManifestBytes } from "./manifest.ts";
import { openInside } from "./open-file.ts";
import { sync, withTemporary, writeNew } from "./replace-file.ts";
import { manifestName } from "./schema.ts";

type File = readonly [name: string, bytes: Uint8Array];

/** A folder of these files, whole or not at all; `target` is absolute. */
export async function writeFolder(target: string, files: Iterable<File>): Promise<void> {
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

/**
 * What is no artifact is not ours to remove. A link to one is: it alone goes, and not what it
 * points to.
 */
async function checkReplaceable(path: string): Promise<void> {
  if (!(await exists(join(path, manifestName))))
    throw new ArtifactError(
      `writeArtifact: ${path} exists and is not an artifact\n  write to another path, or move it away`,
    );
}

/** A file of a folder; its size is compared with what is known of it before it is read. */
export async function readMember(
  folder: string,
  name: string,
  known: { readonly bytes?: number; readonly most?: number } = {},
): Promise<Uint8Array> {
  const { bytes, most = maxManifestBytes } = known;
  const file = openInside(folder, name);
  if (!file)
    throw new ArtifactError(
      `${name}: the file is missing\n  copy the whole folder, or compile it again`,
    );
  try {
    if (bytes !== undefined && file.size !== bytes)
      throw new ArtifactError(`${name}: ${file.size} bytes, the manifest says ${bytes}`);
    if (bytes === undefined && file.size > most)
      throw new ArtifactError(`${name}: ${file.size} bytes, more than ${most}`);
    return await file.read(0, file.size);
  } finally {
    file.close();
  }
}

/** Where an artifact lies that was written to `path`. */
export async function whereIs(path: string, op: string): Promise<string> {
  const target = resolve(path);
  const found = (await exists(target)) ? target : oldName(target);
  if (await exists(found)) return found;
  throw new ArtifactError(
    `${op}: ${target} does not exist\n  kiln compile model.ts -o PATH writes one`,
  );
}

const oldName = (path: string): string => `${path}.kiln-old`;

/** Whether there is anything of that name, a dangling link included. */
const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
