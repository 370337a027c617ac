/**
 * What a language model's matrices are kept as when it is loaded. Embeddings and norms stay floats:
 * a token reads one row of a table, and norms are a thousandth of the weights.
 */
import { nn } from "kiln-ml";
import { checkOptions, type OptionNames } from "kiln-ml/ir";
import type { Decoder } from "./decoder.ts";
import { LanguageModelError, named } from "./errors.ts";
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
  const { weights, keep, embeddings } = options;
  if (weights === "int8" || weights === "int4") {
    const format = { bits: weights === "int8" ? 8 : 4, ...activationsOf(options) } as const;
    const targets = keep && new RegExp(`^(?!.*(?:${keep.source}))`, keep.flags.replace(/[gy]/, ""));
    nn.quantizeWeights(net, { ...format, ...(targets && { targets }) });
    if (embeddings) net.quantizeTable(format);
  }
  const isQuantized = [...net.modules().values()].some(
    (m) => m instanceof nn.Linear && m.quantized,
  );
  if (options.activations === "i8" && !isQuantized)
    throw new LanguageModelError(
      `loadModel: activations i8 meet quantized weights, and these are ${weights ?? "floats"}\n  give weights: "int8" or "int4" too`,
    );
}
