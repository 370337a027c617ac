/**
 * Files of a folder in the layout of Hugging Face: JSON, and weights in one file or in shards.
 */
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Constant, readSafetensors } from "kiln-ml/artifact";
import type { Json } from "./config-reader.ts";
import { LanguageModelError, listed } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";
import { jsonTokenizer } from "./json-tokenizer.ts";
import { shardsOf, tensorsOfShard } from "./shards.ts";

/**
 * The config.json of a folder and its tokenizer. Rejects with LanguageModelError for those that are
 * absent.
 */
export async function modelIn(
  folder: string,
  op: string,
): Promise<{ readonly json: Json; readonly tokenizer: Tokenizer }> {
  if (!existsSync(folder))
    throw new LanguageModelError(
      `${op}: ${basename(folder)} does not exist\n  give the folder of a model`,
    );
  const [json, tokens] = [
    await jsonIn(folder, "config.json"),
    await jsonIn(folder, "tokenizer.json"),
  ];
  if (!json || !tokens)
    throw new LanguageModelError(
      `${op}: ${basename(folder)} has no ${json ? "tokenizer.json" : "config.json"}\n  give the folder of a model`,
    );
  const about = (await jsonIn(folder, "tokenizer_config.json")) ?? {};
  return { json, tokenizer: await jsonTokenizer(tokens, about) };
}

const single = "model.safetensors";
const index = "model.safetensors.index.json";

/** The tensors of all shards. Rejects with LanguageModelError for those that are absent. */
export async function weightsIn(folder: string): Promise<Record<string, Constant>> {
  if (existsSync(join(folder, single)))
    return { ...readSafetensors(await bytesOf(join(folder, single)), single).tensors };
  const list = await jsonIn(folder, index);
  if (!list)
    throw new LanguageModelError(
      `loadModel: ${basename(folder)} has neither ${single} nor ${index}\n  download the weights into it`,
    );
  const shards = shardsOf(list, index);
  const absent = [...shards.keys()].filter((f) => !existsSync(join(folder, f)));
  if (absent.length)
    throw new LanguageModelError(
      `loadModel: ${absent.length} of ${shards.size} shards are absent: ${listed(absent)}\n  download them into ${basename(folder)}`,
    );
  const out: Record<string, Constant> = {};
  for (const [file, names] of shards)
    Object.assign(out, tensorsOfShard(await bytesOf(join(folder, file)), file, names, index));
  return out;
}

/** Undefined where the file is absent. */
export async function jsonIn(folder: string, name: string): Promise<Json | undefined> {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(await bytesOf(path)));
  } catch (e) {
    throw new LanguageModelError(`loadModel: ${name} is no JSON: ${(e as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new LanguageModelError(`loadModel: ${name} is no object`);
}

/** A whole file; in parts, since one read gives 2 GiB at most. */
export async function bytesOf(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const bytes = new Uint8Array((await file.stat()).size);
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, Math.min(2 ** 30, bytes.length - at), at);
      if (bytesRead === 0)
        throw new LanguageModelError(`loadModel: ${basename(path)} ended while it was read`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}
