/**
 * Encoders of texts in folders, for Node: config.json, safetensors and tokenizer.json, and what
 * sentence-transformers' files say of pooling.
 */
import { loadWeights } from "kiln-ml";
import type { Json } from "./config-reader.ts";
import type { Pooling } from "./embedder.ts";
import { Encoder } from "./encoder.ts";
import { encoderConfig } from "./encoder-config.ts";
import { LanguageModelError, named } from "./errors.ts";
import { folderOf } from "./folder.ts";
import type { Tokenizer } from "./generate.ts";
import {
  checkReading,
  jsonIn,
  listIn,
  type ModelFiles,
  modelIn,
  type ReadingOptions,
  watched,
  weightsIn,
} from "./model-files.ts";
import { encoderTensors } from "./public-names.ts";
import { checkHeld, encoderParameters } from "./size.ts";

/** An encoder with its weights, and what texts are for it. */
export interface EncoderModel {
  readonly net: Encoder;
  readonly tokenizer: Tokenizer;
  /** Undefined where the folder does not say. */
  readonly pooling?: Pooling;
}

/**
 * The encoder of a folder: `config.json`, `tokenizer.json`, `model.safetensors` or its shards, and
 * `1_Pooling/config.json` where there is one.
 *
 *     const embedder = new Embedder(await loadEncoder("all-MiniLM-L6-v2"));
 *
 * Rejects as `loadModel` does.
 */
export async function loadEncoder(
  path: string,
  options: ReadingOptions = {},
): Promise<EncoderModel> {
  const folder = watched(folderOf(path, "loadEncoder"), checkReading("loadEncoder", options));
  const { json, tokenizer } = await modelIn(folder, "loadEncoder");
  const config = encoderConfig(json);
  const tensors = encoderTensors(await weightsIn(folder), config);
  checkHeld(encoderParameters(config), tensors, "config.json");
  await checkModules(folder);
  const net = new Encoder(config, { empty: true });
  await loadWeights(net, tensors, { convert: true });
  const pooling = poolingOf((await jsonIn(folder, "1_Pooling/config.json")) ?? {});
  return { net, tokenizer, ...(pooling && { pooling }) };
}

/** Of sentence-transformers, which end a type's name. */
const modules = ["Transformer", "Pooling", "Normalize"];

/** Throws LanguageModelError where vectors would go through more than is built. */
async function checkModules(folder: ModelFiles): Promise<void> {
  if (!folder.names.has("modules.json")) return;
  const told = await listIn(folder, "modules.json");
  const types = told.map((m) => (m as Json | null)?.type);
  const more = types.filter((t) => !(typeof t === "string" && modules.includes(lastOf(t))));
  if (more.length)
    throw new LanguageModelError(
      `loadEncoder: modules.json has ${more.map(named).join(", ")}, which is not built\n  take a model of ${modules.join(", ")} alone`,
    );
}

const lastOf = (type: string): string => type.split(".").at(-1)!;

const modes: Readonly<Record<string, Pooling>> = {
  pooling_mode_cls_token: "cls",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_max_tokens: "max",
  pooling_mode_lasttoken: "last",
};

/** Throws LanguageModelError for a mixture, or a mode that is not built. */
function poolingOf(told: Json): Pooling | undefined {
  const on = Object.keys(told).filter((k) => k.startsWith("pooling_mode_") && told[k] === true);
  if (on.length === 0) return undefined;
  if (on.length === 1 && Object.hasOwn(modes, on[0]!)) return modes[on[0]!];
  throw new LanguageModelError(
    `loadEncoder: pooling by ${on.join(" and ")} is not built\n  one of ${Object.keys(modes).join(", ")} is`,
  );
}
