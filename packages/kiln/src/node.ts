/**
 * Files, for Node: state as safetensors and artifacts. Written whole or not at all. A page never
 * imports this.
 */
import { basename, dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type Artifact, ArtifactError } from "@kiln-ml/artifact";
import {
  type OpenFile,
  openEntries,
  openInside,
  readArtifact,
  readWhole,
  writeFileAtomic,
} from "@kiln-ml/artifact/node";
import { artifactModel, type Where } from "./open/artifact-model.ts";
import { hasEntries, isModelJson, openFile } from "./open/open-here.ts";
import { type OpenedModel, type OpenModelOptions, openWith } from "./open/open-model.ts";
import type { ModelFile, ModelSource } from "./open/source.ts";
import {
  type LoadStateOptions,
  loadState,
  type StateReport,
  type StateSource,
  stateBytes,
} from "./state/state.ts";
import type { TfjsModel, TfjsOptions, TfjsSource } from "./tfjs.ts";

export {
  folderCache,
  openEntries,
  readArtifact,
  readEntries,
  writeArtifact,
  writeEntries,
} from "@kiln-ml/artifact/node";
export { inspectionPage } from "@kiln-ml/inspector/node";
export { addTuning, readTuning, tuningCache } from "./tune/table-file.ts";

/**
 * `openModel` of `kiln-ml/model`, which takes paths of files and folders too: artifacts, and ONNX
 * files with the data that lie beside them. `worker: true` starts a thread of Node.
 */
export async function openModel(
  source: ModelSource,
  options: OpenModelOptions = {},
): Promise<OpenedModel> {
  const worker =
    options.worker === true
      ? { worker: new Worker(new URL("./model-worker-node.js", import.meta.url)) as never }
      : {};
  return openWith(located(source), { ...options, ...worker }, openLocal);
}

/** Paths as URLs, so that threads and errors mean the same file. */
function located(source: ModelSource): ModelSource {
  if (typeof source === "string") return isUrl(source) ? source : pathToFileURL(source).href;
  if (typeof source !== "object" || source === null) return source;
  const plain = Object.getPrototypeOf(source) === Object.prototype;
  if (!plain) return source;
  return Object.fromEntries(
    Object.entries(source).map(([target, file]) => [target, located(file as ModelFile)]),
  ) as ModelSource;
}

/** A drive's letter is no scheme. */
const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]+:/i.test(text);

const openLocal: typeof openFile = async (file, where, fetcher) => {
  const href = typeof file === "string" || file instanceof URL ? String(file) : "";
  if (!href.startsWith("file:")) return openFile(file, where, fetcher);
  const path = fileURLToPath(href);
  fetcher.tell("load");
  if (isModelJson(path)) {
    const { tfjsModelBeside } = await import("./open/tfjs-model.ts");
    const text = new TextDecoder().decode(await readWhole(path));
    return tfjsModelBeside(text, basename(path), shardsBeside(path), where, fetcher);
  }
  if (!/\.onnx$/i.test(path)) return openArtifact(path, where);
  const { onnxModel } = await import("./open/onnx-model.ts");
  const beside = { file: basename(path), external: filesBeside(path) };
  return onnxModel(await readWhole(path), where, beside);
};

/** What lies there with one program, or with several entries. */
async function openArtifact(path: string, where: Where): Promise<OpenedModel> {
  let artifact: Artifact;
  try {
    artifact = await readArtifact(path);
  } catch (error) {
    const files =
      error instanceof ArtifactError ? await openEntries(path).catch(() => {}) : undefined;
    const manifest = await files?.read("manifest.json", 64 << 20).catch(() => undefined);
    if (!files || !hasEntries(manifest)) throw error;
    return (await import("./open/entries-model.ts")).entriesModel(files, where);
  }
  return artifactModel({ artifact }, where);
}

/** The shards of a TensorFlow.js model: regular files that really lie in its folder. */
const shardsBeside =
  (model: string) =>
  async (path: string): Promise<Uint8Array> => {
    const file = openInside(dirname(model), path);
    if (!file)
      throw new ArtifactError(
        `${basename(model)}: the shard ${path} is missing\n  copy the whole folder of the model`,
      );
    try {
      return await file.read(0, file.size);
    } finally {
      file.close();
    }
  };

/**
 * `loadTfjs` of `kiln-ml/tfjs`, which takes the path of a model.json too, with the shards that lie
 * beside it.
 *
 *   const model = await loadTfjs("models/mobilenet/model.json");
 */
export async function loadTfjs(source: TfjsSource, options: TfjsOptions = {}): Promise<TfjsModel> {
  const { loadTfjs: load } = await import("./tfjs.ts");
  const href = typeof source === "string" || source instanceof URL ? String(source) : undefined;
  if (href === undefined || (isUrl(href) && !href.startsWith("file:")))
    return load(source, options);
  const path = href.startsWith("file:") ? fileURLToPath(href) : href;
  const model = new TextDecoder().decode(await readWhole(path));
  return load({ model, shard: shardsBeside(path) }, { file: basename(path), ...options });
}

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
 * The files of external data beside an ONNX model, for the option `external` of `loadOnnx`: regular
 * files that really lie in the model's folder, of which no more is read than tensors need. Throws
 * ArtifactError for others.
 *
 *   loadOnnx(await readFile(path), { external: filesBeside(path) })
 */
export const filesBeside =
  (model: string) =>
  (location: string): OpenFile | undefined =>
    openInside(dirname(model), location);
