/**
 * Files, for Node: state as safetensors and artifacts. Written whole or not at all. A page never imports this.
 */
import { dirname } from "node:path";
import { type OpenFile, openInside, readWhole, writeFileAtomic } from "@kiln-ml/artifact/node";
import {
  type LoadStateOptions,
  loadState,
  type StateReport,
  type StateSource,
  stateBytes,
} from "./state/state.ts";

export { readArtifact, writeArtifact } from "@kiln-ml/artifact/node";
export { inspectionPage } from "@kiln-ml/inspector/node";
export { addTuning, readTuning, tuningCache } from "./tune/table-file.ts";

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
  return loadState(source, await readWhole(path), options);
}

/**
 * The files of external data beside an ONNX model, for the option `external` of `loadOnnx`: regular files that really lie in
 * the model's folder, of which no more is read than tensors need. Throws ArtifactError for others.
 *
 *   loadOnnx(await readFile(path), { external: filesBeside(path) })
 */
export const filesBeside =
  (model: string) =>
  (location: string): OpenFile | undefined =>
    openInside(dirname(model), location);
