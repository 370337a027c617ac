/**
 * Models out of files, wherever they lie: a folder in the layout of Hugging Face, or one GGUF file.
 * `node.ts` opens what lies on disks.
 */
import { loadWeights, nn } from "kiln-ml";
import { bpeVocabulary } from "./bpe-vocabulary.ts";
import { type ChatTemplate, chatTemplate } from "./chat-template.ts";
import { type DecoderConfig, decoderConfig } from "./config.ts";
import type { Json } from "./config-reader.ts";
import { Decoder } from "./decoder.ts";
import { LanguageModelError } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";
import { generationIn } from "./generation-config.ts";
import { type GgufFile, readGguf } from "./gguf.ts";
import { ggufModel, layerMatrices, tablePath } from "./gguf-model.ts";
import { jsonTokenizer } from "./json-tokenizer.ts";
import { type ModelFiles, modelIn, watched, weightsIn } from "./model-files.ts";
import { decoderTensors } from "./public-names.ts";
import {
  activationsOf,
  checkLoading,
  type LoadModelOptions,
  quantizeAs,
  weightsOf,
} from "./quantize-model.ts";
import type { SamplingOptions } from "./sampler.ts";
import { checkSize } from "./size.ts";
import { spmTokenizer, spmVocabulary } from "./spm-tokenizer.ts";

/** A model with its weights, and what texts are for it. */
export interface LanguageModel {
  readonly net: Decoder;
  readonly tokenizer: Tokenizer;
  /** Undefined for a model that was not made to converse. */
  readonly chat: ChatTemplate | undefined;
  /** How its makers draw texts; nothing unless it is given to `generate`. */
  readonly sampling: SamplingOptions;
}

/**
 * The model in files that a page has: config.json and what belongs to it, or a `.gguf` file among
 * them.
 *
 *     const read = async (name) => new Uint8Array(await byName.get(name).arrayBuffer());
 *     const names = new Set(byName.keys());
 *     const { net, tokenizer } = await openModelFiles({ name: "dropped", names, read });
 *
 * Rejects as `loadModel` of `@kiln-ml/llm/node` does.
 */
export async function openModelFiles(
  given: ModelFiles,
  options: LoadModelOptions = {},
): Promise<LanguageModel> {
  const files = watched(given, checkLoading(options));
  const gguf = [...files.names].find((name) => name.endsWith(".gguf"));
  const isFolder = files.names.has("config.json") || gguf === undefined;
  return isFolder
    ? checked(await ofFolder(files, options))
    : openGguf(await files.read(gguf), gguf, options);
}

/** The model in the bytes of a GGUF file. */
export const openGguf = async (
  bytes: Uint8Array,
  name: string,
  options: LoadModelOptions = {},
): Promise<LanguageModel> => checked(await ofGguf(bytes, name, checkLoading(options)));

function checked(found: LanguageModel): LanguageModel {
  const { size } = found.tokenizer;
  const { vocabulary } = found.net.config;
  if (size > vocabulary)
    throw new LanguageModelError(
      `loadModel: the tokenizer knows ${size} tokens, the model ${vocabulary}\n  take the tokenizer that came with the weights`,
    );
  return found;
}

async function ofFolder(folder: ModelFiles, options: LoadModelOptions): Promise<LanguageModel> {
  const { json, about, tokenizer } = await modelIn(
    folder,
    "loadModel",
    "give the folder of a model, or a .gguf file",
  );
  const told = decoderConfig(json);
  const { sampling, ...generation } = await generationIn(folder, told);
  const all: DecoderConfig = { ...told, ...generation };
  const tensors = decoderTensors(await weightsIn(folder), all);
  checkSize(all, tensors, "config.json");
  const net = new Decoder(all, { empty: true, ...weightsOf(options) });
  await loadWeights(net, tensors, { convert: true });
  quantizeAs(net, options);
  return { net, tokenizer, chat: await chatIn(folder, about), sampling };
}

export async function chatIn(folder: ModelFiles, about: Json): Promise<ChatTemplate | undefined> {
  const file = "chat_template.jinja";
  const listed = [about.chat_template].flat().map((t) => {
    const { name = "default", template } = (t ?? {}) as Json;
    return typeof t === "string" ? t : name === "default" ? template : undefined;
  });
  const source = folder.names.has(file)
    ? new TextDecoder().decode(await folder.read(file))
    : listed.find((t) => typeof t === "string");
  if (source === undefined) return undefined;
  const special = Object.entries(about).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : (value as Json | null)?.content;
    return name.endsWith("_token") && typeof text === "string" ? [[name, text]] : [];
  });
  return chatTemplate(source as string, Object.fromEntries(special));
}

async function ofGguf(
  bytes: Uint8Array,
  name: string,
  options: LoadModelOptions,
): Promise<LanguageModel> {
  const keeps = options.weights === undefined;
  const file = readGguf(bytes, { file: name, ...(keeps && { packed: layerMatrices }) });
  const { config, tensors, packed } = ggufModel(file);
  const tokenizer = await ggufTokenizer(file);
  checkSize(config, { ...tensors, ...Object.fromEntries(packed) }, name);
  const net = new Decoder(config, { empty: true, ...weightsOf(options) });
  const layers = net.modules();
  for (const [path, { bits, offsets }] of packed) {
    const format = { bits, zeroPoint: offsets !== undefined, ...activationsOf(options) };
    if (path === tablePath) net.holdTable(format);
    else nn.holdQuantized(layers.get(path) as nn.Linear, format);
  }
  await loadWeights(net, tensors, { convert: true });
  quantizeAs(net, options);
  const chat = await ggufChat(file);
  return { net, tokenizer, chat, sampling: {} };
}

/** The chat template of a GGUF file, if it has one. */
export async function ggufChat(
  file: Pick<GgufFile, "metadata">,
): Promise<ChatTemplate | undefined> {
  const source = file.metadata.get("tokenizer.chat_template");
  const pieces = file.metadata.get("tokenizer.ggml.tokens") as readonly string[];
  const piece = (name: string) =>
    pieces[Number(file.metadata.get(`tokenizer.ggml.${name}_token_id`) ?? -1)] ?? "";
  const special = { bos_token: piece("bos"), eos_token: piece("eos") };
  return typeof source === "string" ? await chatTemplate(source, special) : undefined;
}

/**
 * The tokenizer of a GGUF file: SentencePiece's or GPT-2's kind. Rejects with LanguageModelError
 * for one of another kind.
 */
export async function ggufTokenizer({ metadata }: Pick<GgufFile, "metadata">): Promise<Tokenizer> {
  return metadata.get("tokenizer.ggml.model") === "gpt2"
    ? jsonTokenizer(bpeVocabulary(metadata))
    : spmTokenizer(spmVocabulary(metadata));
}
