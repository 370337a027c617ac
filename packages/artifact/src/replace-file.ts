/**
 * Writes files whole or not at all, for Node: under a name that nobody can guess, beside the file to be replaced, synced and
 * renamed. A full disk or a killed process leaves the old file intact; a signal that ends the process takes the unfinished
 * files with it.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Unfinished files and folders of this process. */
const unfinished = new Set<string>();
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function removeAll(): void {
  for (const path of unfinished) rmSync(path, { force: true, recursive: true });
  unfinished.clear();
}

/** Where the program has a handler of its own, it decides whether the process ends; if it does, "exit" comes. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  stopListening();
  process.kill(process.pid, signal);
}

function stopListening(): void {
  process.off("exit", removeAll);
  for (const signal of signals) process.off(signal, onSignal);
}

/** Has `path` removed if the process ends before `done` is called. */
export function removeOnExit(path: string): { done(): void } {
  if (unfinished.size === 0) {
    process.on("exit", removeAll);
    for (const signal of signals) process.on(signal, onSignal);
  }
  unfinished.add(path);
  return {
    done() {
      if (unfinished.delete(path) && unfinished.size === 0) stopListening();
    },
  };
}

/** A name beside `path` that is not there yet and that nobody can know before. */
export const temporaryName = (path: string): string =>
  `${path}.${randomBytes(12).toString("hex")}.tmp`;

/** Calls `work` with a new name beside `path`; what it leaves there is removed unless it renames it. */
export async function withTemporary<T>(
  path: string,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = temporaryName(path);
  const { done } = removeOnExit(temporary);
  try {
    return await work(temporary);
  } finally {
    await rm(temporary, { force: true, recursive: true });
    done();
  }
}

/** Replaces the file at `path` by `bytes`: all of them, or not at all. A link is replaced, not followed. */
export async function writeFileAtomic(path: string, bytes: Uint8Array): Promise<void> {
  await withTemporary(path, async (temporary) => {
    await writeNew(temporary, bytes);
    await rename(temporary, path);
  });
  await sync(dirname(path));
}

/** A file that was not there, with its bytes on the disk. */
export async function writeNew(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename durable. Some systems cannot open a folder; there the rename stands without it. */
export async function sync(folder: string): Promise<void> {
  const file = await open(folder, "r").catch(() => undefined);
  await file?.sync().catch(() => undefined);
  await file?.close();
}
