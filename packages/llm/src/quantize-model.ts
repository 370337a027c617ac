/**
 * What a language model's matrices are kept as when it is loaded. Embeddings and norms stay floats:
 * a token reads one row of a table, and norms are a thousandth of the weights.
 */
import { nn } from "kiln-ml";
import { checkOptions, type OptionNames } from "kiln-ml/ir";
import type { Decoder } from "./decoder.ts";
import { LanguageModelError, listed, named } from "./errors.ts";
import { type ReadingOptions, readingOptions } from "./model-files.ts";

export interface LoadModelOptions extends ReadingOptions {
  /**
   * What matrices of layers are kept as. By default f32, and in a GGUF file the blocks that it has.
   */
  readonly weights?: "f32" | "f16" | "int8" | "int4";
  /** "i8" rounds what meets quantized weights to 8 bits too: faster, a little less exact. */
  readonly activations?: "f32" | "i8";
  /** Paths of layers that "int8" and "int4" leave as floats, such as /lm_head/. */
  readonly keep?: RegExp;
  /**
   * Whether "int8" and "int4" are for the table of tokens too, and with it for a head that is tied
   * to it; default false.
   */
  readonly embeddings?: boolean;
}

const loadOptions: OptionNames<LoadModelOptions> = {
  ...readingOptions,
  weights: 1,
  activations: 1,
  keep: 1,
  embeddings: 1,
};
const kinds = ["f32", "f16", "int8", "int4"];

/** Throws LanguageModelError for what weights cannot be kept as. */
export function checkLoading(options: LoadModelOptions): LoadModelOptions {
  const { weights, activations, keep, embeddings } = checkOptions(
    "loadModel",
    options,
    loadOptions,
  );
  if (weights !== undefined && !kinds.includes(weights))
    throw new LanguageModelError(
      `loadModel: weights ${named(weights)} are not known\n  take one of ${kinds.join(", ")}`,
    );
  if (activations !== undefined && activations !== "f32" && activations !== "i8")
    throw new LanguageModelError(
      `loadModel: activations ${named(activations)} are not known\n  take f32 or i8`,
    );
  const [odd] = [keep ? "keep" : [], embeddings ? "embeddings" : []].flat();
  if (odd !== undefined && weights !== "int8" && weights !== "int4")
    throw new LanguageModelError(
      `loadModel: ${odd} is for weights "int8" and "int4", and these are ${weights ?? "as in the file"}\n  give weights: "int8" or "int4" too`,
    );
  return options;
}

/** What a decoder is made with, before it is quantized. */
export const weightsOf = ({ weights }: LoadModelOptions): { readonly weights?: "f16" } =>
  weights === "f16" ? { weights } : {};

export const activationsOf = ({ activations }: LoadModelOptions) =>
  activations ? { activations } : {};

/**
 * Quantizes the matrices of a decoder's layers if that is asked for. Throws LanguageModelError for
 * activations of 8 bits that no matrix would meet.
 */
export function quantizeAs(net: Decoder, options: LoadModelOptions): void {
  const { weights, embeddings } = options;
  const given = options.keep;
  // With "g" or "y" it would go on where it ended in the path before.
  const keep = given && new RegExp(given.source, given.flags.replace(/[gy]/g, ""));
  if (weights === "int8" || weights === "int4") {
    const format = { bits: weights === "int8" ? 8 : 4, ...activationsOf(options) } as const;
    if (keep) checkKeep(net, keep);
    const targets = keep && new RegExp(`^(?!.*(?:${keep.source}))`, keep.flags);
    nn.quantizeWeights(net, { ...format, ...(targets && { targets }) });
    if (embeddings && !(keep && isTable(net, keep))) net.quantizeTable(format);
  }
  const isQuantized = [...net.modules().values()].some(
    (m) => m instanceof nn.Linear && m.quantized,
  );
  if (options.activations === "i8" && !isQuantized)
    throw new LanguageModelError(
      `loadModel: activations i8 meet quantized weights, and these are ${weights ?? "floats"}\n  give weights: "int8" or "int4" too`,
    );
}

/** Throws LanguageModelError for a pattern of no matrix or table, and of all matrices. */
function checkKeep(net: Decoder, keep: RegExp): void {
  const paths = [...net.modules()].flatMap(([path, m]) => (m instanceof nn.Linear ? [path] : []));
  const kept = paths.filter((path) => path.search(keep) >= 0);
  if (kept.length ? kept.length < paths.length : isTable(net, keep)) return;
  throw new LanguageModelError(
    `loadModel: keep ${keep} is like ${kept.length ? "all" : "none"} of the paths of matrices\n  they are ${listed(paths)}`,
  );
}

/** Whether a pattern is of the table of tokens, or of the head that is tied to it. */
const isTable = ({ config }: Decoder, keep: RegExp): boolean =>
  ["model.embed_tokens", ...(config.tied ? ["lm_head"] : [])].some((p) => p.search(keep) >= 0);
