/** Folders on disks, for Node. */
import { readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { LanguageModelError } from "./errors.ts";
import type { ModelFiles, ReadWatch } from "./model-files.ts";

/** What lies in a folder, and one level below. */
export function folderOf(path: string, op: string): ModelFiles {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory())
    throw new LanguageModelError(
      `${op}: ${basename(path)} ${stats ? "is no folder" : "does not exist"}\n  give the folder of a model`,
    );
  // A link to what is gone is no file; the caches of downloads have such.
  const kind = (name: string) => statSync(join(path, name), { throwIfNoEntry: false });
  const within = (folder: string): string[] => readdirSync(join(path, folder));
  const names = within("").flatMap((name) =>
    kind(name)?.isDirectory() ? within(name).map((n) => `${name}/${n}`) : kind(name) ? name : [],
  );
  return {
    name: basename(path),
    names: new Set(names),
    read: (name, watch) => bytesOf(join(path, name), watch),
  };
}

/** Bytes of one read: a signal is asked, and progress told, after each. */
const part = 2 ** 26;

/** A whole file; in parts, since one read gives 2 GiB at most. */
export async function bytesOf(path: string, { signal, told }: ReadWatch = {}): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const bytes = new Uint8Array((await file.stat()).size);
    for (let at = 0; at < bytes.length; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(bytes, at, Math.min(part, bytes.length - at), at);
      if (bytesRead === 0)
        throw new LanguageModelError(`loadModel: ${basename(path)} ended while it was read`);
      at += bytesRead;
      told?.(at, bytes.length);
    }
    return bytes;
  } finally {
    await file.close();
  }
}
