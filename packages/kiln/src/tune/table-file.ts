/**
 * Tables of a tuner as files, for Node. A file is replaced whole, under a lock, so that tuners at work at the same time keep each
 * other's results. Nothing is read unless it is asked for.
 */
import { mkdir, open, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readWhole, removeOnExit, writeFileAtomic } from "@kiln-ml/artifact/node";
import { GraphError } from "@kiln-ml/ir";
import { checkTuning, joinTunings, type TuningTable } from "./table.ts";

/** Far more than all kernels of all adapters take. */
const mostBytes = 2 ** 26;

const empty: TuningTable = { format: "kiln-tuning", entries: [] };

/** The user's own table, in the folder that the system has for caches. */
export function tuningCache(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const folder =
    process.platform === "win32"
      ? (LOCALAPPDATA ?? join(homedir(), "AppData/Local"))
      : process.platform === "darwin"
        ? join(homedir(), "Library/Caches")
        : XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(folder, "kiln", "tuning.json");
}

/** The table in a file, by default the user's own. Rejects with GraphError if there is none, or it is damaged. */
export async function readTuning(path: string = tuningCache()): Promise<TuningTable> {
  const table = await readIfThere(path);
  if (table) return table;
  throw new GraphError(`tuning: ${path} does not exist\n  kiln tune writes it`);
}

async function readIfThere(path: string): Promise<TuningTable | undefined> {
  let text: string;
  try {
    text = new TextDecoder().decode(await readWhole(path, path, mostBytes));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return checkTuning(parsed(text), path);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Joins a table into a file. Rejects with GraphError if the table or what is there is damaged; the file is then left alone. */
export async function addTuning(table: TuningTable, path: string = tuningCache()): Promise<void> {
  // JSON has no infinity: it would be null, and the whole file refused from then on.
  checkTuning(table, "addTuning: the table");
  await mkdir(dirname(path), { recursive: true });
  const release = await lock(`${path}.lock`);
  try {
    const all = joinTunings((await readIfThere(path)) ?? empty, table);
    await writeFileAtomic(path, new TextEncoder().encode(`${JSON.stringify(all, null, 1)}\n`));
  } finally {
    await release();
  }
}

/** A lock is held for as long as a file is read and written; one this old was left behind by a process that died. */
const staleMs = 10_000;
const pauseMs = 20;

async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await (await open(path, "wx")).close();
      const { done } = removeOnExit(path);
      return () => rm(path, { force: true }).finally(done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const made = await stat(path).catch(() => undefined);
    if (made && Date.now() - made.mtimeMs > staleMs) await rm(path, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
