/**
 * Checkpoints in a folder: `step-00000120.safetensors`, and `best.safetensors`. Written whole or not at all, so that the newest one
 * that is there is good; a disk that is full says so and loses nothing.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readWhole, writeFileAtomic } from "@kiln-ml/artifact/node";
import { ArtifactError, GraphError } from "@kiln-ml/ir";
import { positionIn } from "./snapshot.ts";

const pattern = /^step-(\d+)\.safetensors$/;

export const nameOfStep = (step: number): string =>
  `step-${String(step).padStart(8, "0")}.safetensors`;

/** The checkpoints of a folder by step, the newest first. */
export function stepsIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  const stepOf = (name: string): number => Number(pattern.exec(name)![1]);
  return names.filter((name) => pattern.test(name)).sort((a, b) => stepOf(b) - stepOf(a));
}

/** Writes a file; an error of the file system names it, and what is still there. */
export async function writeCheckpoint(
  folder: string,
  name: string,
  bytes: Uint8Array,
  write: typeof writeFileAtomic = writeFileAtomic,
): Promise<void> {
  const path = join(folder, name);
  try {
    await write(path, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const [last] = stepsIn(folder);
    const why = code === "ENOSPC" ? "the disk is full" : `the file system says ${code}`;
    const kept = last ? `${join(folder, last)} is whole` : "nothing was saved before";
    throw new GraphError(
      `checkpoint: ${path} was not written, ${bytes.length} bytes: ${why}; ${kept}\n  make room, or keep fewer: { keep: 1 }; then go on with resume: ${JSON.stringify(folder)}`,
      { cause: error },
    );
  }
}

/** Removes all but the newest `keep`. */
export function removeOld(folder: string, keep: number): void {
  for (const name of stepsIn(folder).slice(keep)) rmSync(join(folder, name), { force: true });
}

/**
 * The newest checkpoint of a folder, or a file. Undefined for a folder without any, or one that is not there. Rejects with
 * ArtifactError for a file that is missing or damaged; of a folder, damaged ones are passed over for older ones, with a warning.
 */
export async function readCheckpoint(path: string): Promise<Uint8Array | undefined> {
  if (/\.safetensors$/.test(path)) return readFile(path);
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile();
  if (isFile) return readFile(path);
  let damage: unknown;
  for (const name of stepsIn(path)) {
    try {
      const bytes = await readFile(join(path, name));
      if (damage) console.warn(`resume: goes on from ${name}, since a newer file is damaged`);
      return bytes;
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      damage = error;
    }
  }
  if (damage) throw damage;
  return undefined;
}

async function readFile(path: string): Promise<Uint8Array> {
  if (!statSync(path, { throwIfNoEntry: false }))
    throw new ArtifactError(
      `resume: ${path} does not exist\n  give the folder of a run, or one of its files`,
    );
  const bytes = await readWhole(path);
  try {
    positionIn(bytes);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    throw new ArtifactError(`${path}: ${error.message}`, { cause: error });
  }
  return bytes;
}
