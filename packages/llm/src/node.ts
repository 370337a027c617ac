/**
 * Models in folders and files, for Node: config.json, safetensors and tokenizer.json as Hugging
 * Face has them, or all of it in one GGUF file. A page never imports this.
 */
import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { LanguageModelError } from "./errors.ts";
import { bytesOf, folderOf } from "./folder.ts";
import { type ModelFiles, type ReadWatch, watched } from "./model-files.ts";
import { type LanguageModel, openGguf, openModelFiles } from "./open-model.ts";
import { checkLoading, type LoadModelOptions } from "./quantize-model.ts";

/**
 * The model of a folder (`config.json`, `tokenizer.json`, `model.safetensors` or its shards by
 * `model.safetensors.index.json`), or of a `.gguf` file.
 *
 *     const { net, tokenizer } = await loadModel("SmolLM-135M");
 *     const session = new TextSession(net);
 *     const pieces = generate({ session, tokenizer }, "Once upon a time");
 *     for await (const piece of pieces) process.stdout.write(piece);
 *
 * `weights` says what matrices of layers are kept as, "int8" and "int4" in blocks of 32; by default
 * as a GGUF file has them, else f32.
 *
 * Rejects with LanguageModelError for files that are absent, all shards at once, and a tokenizer of
 * another vocabulary; with ArtifactError for a damaged file; with GraphError for weights that do
 * not fit the config; with the reason of `signal` once it is aborted.
 */
export async function loadModel(
  path: string,
  options: LoadModelOptions = {},
): Promise<LanguageModel> {
  if (!existsSync(path))
    throw new LanguageModelError(
      `loadModel: ${basename(path)} does not exist\n  give the folder of a model, or a .gguf file`,
    );
  if (statSync(path).isDirectory()) return openModelFiles(folderOf(path, "loadModel"), options);
  const name = basename(path);
  const files = watched(fileOf(path, name), checkLoading(options));
  return openGguf(await files.read(name), name, options);
}

/** What it is called is no matter here: whoever names a file means that it is one of GGUF's. */
const fileOf = (path: string, name: string): ModelFiles => {
  const read = (_: string, watch?: ReadWatch) => bytesOf(path, watch);
  return { name: basename(path), names: new Set([name]), read };
};

/** The files of a model: of a folder, or of one `.gguf` file. */
export const modelFilesAt = (path: string): ModelFiles =>
  statSync(path).isDirectory() ? folderOf(path, "modelFilesAt") : fileOf(path, "model.gguf");

export { type EncoderModel, loadEncoder } from "./load-encoder.ts";
export { loadSpeechModel } from "./load-speech.ts";
export { ggufTokenizer, type LanguageModel } from "./open-model.ts";
export type { LoadModelOptions } from "./quantize-model.ts";
