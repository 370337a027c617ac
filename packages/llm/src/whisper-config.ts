/** The sizes of a Whisper model as its config.json has them. */
import type { ActivationName } from "./architecture.ts";
import { activationOf, Reader } from "./config-reader.ts";
import { LanguageModelError, named } from "./errors.ts";
import { tokensOf } from "./generation-config.ts";

/** Layers of one side. */
export interface Side {
  readonly layers: number;
  readonly heads: number;
  readonly hidden: number;
}

export interface WhisperConfig {
  readonly vocabulary: number;
  readonly width: number;
  /** Bands of what is heard. */
  readonly bands: number;
  /** Vectors that what is heard becomes: half as many as it has frames. */
  readonly heard: number;
  /** The most tokens of a text. */
  readonly context: number;
  readonly encoder: Side;
  readonly decoder: Side;
  readonly activation: ActivationName;
  /** Tokens that end a text. */
  readonly ends: readonly number[];
  /** Tokens that are never made, and those that are not made first. */
  readonly suppress?: readonly number[];
  readonly beginSuppress?: readonly number[];
  /** The token that a text begins with. */
  readonly start: number;
}

/**
 * The model that a parsed config.json describes. Throws LanguageModelError for another
 * `model_type`, and lists every number that is absent or wrong.
 */
export function whisperConfig(json: unknown): WhisperConfig {
  const all = Reader.objectOf(json);
  if (all.model_type !== "whisper")
    throw new LanguageModelError(
      `config: unknown model of speech ${named(all.model_type)}\n  known is whisper`,
    );
  const read = new Reader("whisper", all, { hidden_act: "activation_function" });
  const width = read.count("d_model");
  const side = (name: string): Side => {
    const heads = read.count(`${name}_attention_heads`);
    if (width % heads)
      read.wrong(`${name}_attention_heads is ${heads}, which does not divide ${width}`);
    return { heads, layers: read.layers(`${name}_layers`), hidden: read.count(`${name}_ffn_dim`) };
  };
  const config: WhisperConfig = {
    width,
    vocabulary: read.count("vocab_size"),
    bands: read.count("num_mel_bins"),
    heard: read.count("max_source_positions"),
    context: read.count("max_target_positions"),
    encoder: side("encoder"),
    decoder: side("decoder"),
    activation: activationOf(read, "gelu"),
    ends: [all.eos_token_id].flat().filter((x) => Number.isInteger(x)) as number[],
    start: read.count("decoder_start_token_id"),
  };
  // Older files have here what newer ones have in generation_config.json.
  const tokens = (name: string) =>
    [all[name] ?? undefined].flatMap((t) =>
      t === undefined ? [] : [tokensOf(t, `config.json: ${name}`, config.vocabulary)],
    );
  const [[suppress], [beginSuppress]] = [
    tokens("suppress_tokens"),
    tokens("begin_suppress_tokens"),
  ];
  if (all.scale_embedding === true) read.wrong("scale_embedding is true, which is not built");
  read.finish();
  return { ...config, ...(suppress && { suppress }), ...(beginSuppress && { beginSuppress }) };
}
