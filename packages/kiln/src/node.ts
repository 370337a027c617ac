/**
 * Files, for Node: state as safetensors and artifacts. Written whole or not at all. A page never imports this.
 */
import { readFile } from "node:fs/promises";
import { writeFileAtomic } from "@kiln-ml/artifact/node";
import {
  type LoadStateOptions,
  loadState,
  type StateReport,
  type StateSource,
  stateBytes,
} from "./state.ts";

export { readArtifact, writeArtifact } from "@kiln-ml/artifact/node";
export { addTuning, readTuning, tuningCache } from "./tuning-file.ts";

/** Writes the state of a module or optimizer as a safetensors file. */
export async function save(path: string, source: StateSource): Promise<void> {
  await writeFileAtomic(path, await stateBytes(source));
}

/** Reads a safetensors file into a module or optimizer, as `loadState` does. */
export async function load(
  path: string,
  source: StateSource,
  options: LoadStateOptions = {},
): Promise<StateReport> {
  return loadState(source, await readFile(path), options);
}
