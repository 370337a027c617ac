/**
 * Files of a model in the layout of Hugging Face, wherever they lie: JSON, and weights in one file
 * or in shards.
 */
import { type Constant, readSafetensors } from "kiln-ml/artifact";
import { checkOptions, type OptionNames } from "kiln-ml/ir";
import type { Json } from "./config-reader.ts";
import { LanguageModelError, listed } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";
import { jsonTokenizer } from "./json-tokenizer.ts";
import { shardsOf, tensorsOfShard } from "./shards.ts";

/** The files of a folder: on a disk, dropped on a page, or somewhere else. */
export interface ModelFiles {
  /** Of the folder. */
  readonly name: string;
  readonly names: ReadonlySet<string>;
  read(name: string, watch?: ReadWatch): Promise<Uint8Array>;
}

/** What a long read asks, and tells of, on its way. */
export interface ReadWatch {
  readonly signal?: AbortSignal | undefined;
  readonly told?: (loaded: number, total: number) => void;
}

export interface ReadingOptions {
  /** Ends it: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called as bytes of a file come. */
  readonly onProgress?: (progress: {
    readonly file: string;
    readonly loaded: number;
    readonly total: number;
  }) => void;
}

export const readingOptions: OptionNames<ReadingOptions> = { signal: 1, onProgress: 1 };

/** Throws OptionError for an option that no reading has. */
export const checkReading = (op: string, options: ReadingOptions): ReadingOptions =>
  checkOptions(op, options, readingOptions);

/** The files, read under a signal and told of. */
export function watched(files: ModelFiles, { signal, onProgress }: ReadingOptions): ModelFiles {
  signal?.throwIfAborted();
  return {
    name: files.name,
    names: files.names,
    async read(file) {
      signal?.throwIfAborted();
      let last = -1;
      const told = (loaded: number, total: number): void => {
        if (loaded !== last) onProgress?.({ file, loaded, total });
        last = loaded;
      };
      const bytes = await files.read(file, { signal, told });
      signal?.throwIfAborted();
      told(bytes.length, bytes.length);
      return bytes;
    },
  };
}

/**
 * The config.json of a folder and its tokenizer. Rejects with LanguageModelError for those that are
 * absent, which `hint` says how to mend.
 */
export async function modelIn(
  folder: ModelFiles,
  op: string,
  hint = "give the folder of a model",
): Promise<{ readonly json: Json; readonly about: Json; readonly tokenizer: Tokenizer }> {
  const [json, tokens] = [
    await jsonIn(folder, "config.json"),
    await jsonIn(folder, "tokenizer.json"),
  ];
  if (!json || !tokens)
    throw new LanguageModelError(
      `${op}: ${folder.name} has no ${[json ? [] : "config.json", tokens ? [] : "tokenizer.json"].flat().join(" and no ")}\n  ${hint}`,
    );
  const about = (await jsonIn(folder, "tokenizer_config.json")) ?? {};
  return { json, about, tokenizer: await jsonTokenizer(tokens, about) };
}

const single = "model.safetensors";
const index = "model.safetensors.index.json";

/** The tensors of all shards. Rejects with LanguageModelError for those that are absent. */
export async function weightsIn(folder: ModelFiles): Promise<Record<string, Constant>> {
  if (folder.names.has(single))
    return { ...readSafetensors(await folder.read(single), single).tensors };
  const list = await jsonIn(folder, index);
  if (!list)
    throw new LanguageModelError(
      `loadModel: ${folder.name} has neither ${single} nor ${index}\n  download the weights into it`,
    );
  const shards = shardsOf(list, index);
  const absent = [...shards.keys()].filter((f) => !folder.names.has(f));
  if (absent.length)
    throw new LanguageModelError(
      `loadModel: ${absent.length} of ${shards.size} shards are absent: ${listed(absent)}\n  download them into ${folder.name}`,
    );
  const out: Record<string, Constant> = {};
  for (const [file, names] of shards)
    Object.assign(out, tensorsOfShard(await folder.read(file), file, names, index));
  return out;
}

async function parsed(folder: ModelFiles, name: string): Promise<unknown> {
  const text = new TextDecoder().decode(await folder.read(name));
  try {
    return JSON.parse(text);
  } catch (e) {
    // The engine's message may quote the text, line breaks and all.
    const why = (e as Error).message.replace(/\s+/g, " ");
    throw new LanguageModelError(`loadModel: ${name} is no JSON: ${why}`);
  }
}

/** A file that is a list. */
export async function listIn(folder: ModelFiles, name: string): Promise<readonly unknown[]> {
  const value = await parsed(folder, name);
  if (Array.isArray(value)) return value;
  throw new LanguageModelError(`loadModel: ${name} is no list`);
}

/** Undefined where the file is absent. */
export async function jsonIn(folder: ModelFiles, name: string): Promise<Json | undefined> {
  if (!folder.names.has(name)) return undefined;
  const value = await parsed(folder, name);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new LanguageModelError(`loadModel: ${name} is no object`);
}
