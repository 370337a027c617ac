/**
 * A config.json as the sizes of a decoder and the row of its `model_type`. What is not built is
 * refused by its name, not ignored.
 */
import { type ActivationName, type Architecture, architectures } from "./architecture.ts";
import { activationOf, type Json, Reader } from "./config-reader.ts";
import { LanguageModelError, named } from "./errors.ts";
import { type Rope, ropeOf, ropeParameters } from "./rope-config.ts";

/** The sizes of a decoder, and what its row says. */
export interface DecoderConfig extends Architecture, Rope {
  readonly vocabulary: number;
  readonly width: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  /** The most tokens that the model was made for. */
  readonly context: number;
  /** Elements of a head that turn, from the first. */
  readonly rotaryWidth: number;
  /** Tokens that a layer with a window sees. */
  readonly window: number | undefined;
  /** Which layers have a window. */
  readonly local: readonly boolean[];
  /** In which layers queries and keys turn. */
  readonly turning: readonly boolean[];
  readonly attentionCap: number | undefined;
  readonly logitCap: number | undefined;
  /** Factor of the scores. */
  readonly scale: number;
  /** Tokens that end a text. */
  readonly ends: readonly number[];
  /** Tokens that are never made, and those that are not made first. */
  readonly suppress?: readonly number[];
  readonly beginSuppress?: readonly number[];
}

/**
 * The decoder that a parsed config.json describes.
 *
 * Throws LanguageModelError for an unknown `model_type` or `rope_scaling`, and lists every number
 * that is absent or wrong.
 */
export function decoderConfig(json: unknown): DecoderConfig {
  const all = Reader.objectOf(json);
  const type = typeof all.model_type === "string" ? all.model_type : "";
  if (!Object.hasOwn(architectures, type))
    throw new LanguageModelError(
      `config: unknown architecture ${named(all.model_type)}\n  known are ${Object.keys(architectures).join(", ")}`,
    );
  const row = architectures[type]!;
  const read = new Reader(type, { ...all, ...shareOf(all) }, row.keys, row.defaults);
  const width = read.count("hidden_size");
  const heads = read.count("num_attention_heads");
  const headWidth = read.count("head_dim", width % heads ? undefined : width / heads);
  const kvHeads = read.count("num_key_value_heads", heads);
  const vocabulary = read.count("vocab_size");
  const hidden = read.count("intermediate_size", type === "gpt2" ? 4 * width : undefined);
  const layers = read.layers("num_hidden_layers");
  const share = read.real("partial_rotary_factor", 1)!;
  const isQwen = /^qwen/.test(type) && all.use_sliding_window === true;
  const window =
    isQwen || (row.fullEvery !== 1 && all.use_sliding_window !== false)
      ? read.real("sliding_window")
      : undefined;
  const config: DecoderConfig = {
    ...row,
    tied: typeof all.tie_word_embeddings === "boolean" ? all.tie_word_embeddings : row.tied,
    qkvBias: row.qkvBias || all.attention_bias === true,
    outBias: row.outBias || all.attention_bias === true,
    qkNorm: row.qkNorm || (type === "phi" && all.qk_layernorm === true),
    activation: activationIn(row, read),
    vocabulary,
    width,
    hidden,
    layers,
    heads,
    kvHeads,
    headWidth,
    context: read.count("max_position_embeddings"),
    eps: read.real("rms_norm_eps", row.eps)!,
    ...ropeOf(all, row.defaults),
    rotaryWidth: Math.floor(headWidth * share),
    window,
    local: localLayers(row, read, layers, isQwen),
    turning: turningLayers(row, read, layers),
    attentionCap: read.real("attn_logit_softcapping"),
    logitCap: read.real("final_logit_softcapping"),
    scale: 1 / Math.sqrt(read.real("query_pre_attn_scalar", headWidth)!),
    ends: [all.eos_token_id].flat().filter((x) => Number.isInteger(x)) as number[],
  };
  checkTogether(config, read);
  read.finish();
  return config;
}

/** Newer files tell how much of a head turns beside the wavelengths. */
function shareOf(all: Json): Json {
  const { partial_rotary_factor } = ropeParameters(all).wide ?? {};
  return partial_rotary_factor === undefined ? {} : { partial_rotary_factor };
}

/** Gemma's files say "gelu" where its tanh form is meant. */
function activationIn(row: Architecture, read: Reader): ActivationName {
  const found = activationOf(read, row.activation);
  return row.scaledEmbedding && found === "gelu" ? "geluTanh" : found;
}

/** `layer_types` where there are some; otherwise as the row and older files say. */
function localLayers(row: Architecture, read: Reader, layers: number, isQwen: boolean): boolean[] {
  const told = read.list("layer_types", layers);
  if (told) {
    const odd = told.find((t) => t !== "full_attention" && t !== "sliding_attention");
    if (odd !== undefined) read.refuse("layer_types has", odd);
    return told.map((t) => t === "sliding_attention");
  }
  const from = isQwen && read.get("max_window_layers") !== 0 ? read.count("max_window_layers") : 0;
  const every = isQwen ? Infinity : read.count("sliding_window_pattern", row.fullEvery);
  return Array.from({ length: layers }, (_, i) => i >= from && (i + 1) % every !== 0);
}

function turningLayers({ stillEvery, learnedPlaces }: Architecture, read: Reader, layers: number) {
  const told = stillEvery ? read.list("no_rope_layers", layers) : undefined;
  const every = stillEvery && read.count("no_rope_layer_interval", stillEvery);
  return Array.from({ length: layers }, (_, i) =>
    told ? told[i] === 1 : !learnedPlaces && (every === 0 || (i + 1) % every !== 0),
  );
}

/** Numbers that do not fit each other, and flags of what is not built. */
function checkTogether(config: DecoderConfig, read: Reader): void {
  const { heads, kvHeads, headWidth, rotaryWidth, width, transposed } = config;
  if (heads % kvHeads)
    read.wrong(`num_key_value_heads is ${kvHeads}, which does not divide ${heads}`);
  if (rotaryWidth % 2 && !config.learnedPlaces)
    read.wrong(
      rotaryWidth === headWidth
        ? `head_dim is ${headWidth}, which is odd`
        : `partial_rotary_factor turns ${rotaryWidth} of ${headWidth} elements, which is odd`,
    );
  if (rotaryWidth > headWidth) read.wrong("partial_rotary_factor is above 1");
  if (transposed && heads * headWidth !== width) read.wrong("n_head does not divide n_embd");
  read.refuseFlags(true, [
    "mlp_bias",
    "use_bias",
    "scale_attn_by_inverse_layer_idx",
    "reorder_and_upcast_attn",
    "add_cross_attention",
    "use_bidirectional_attention",
  ]);
  read.refuseFlags(false, ["scale_attn_weights", "is_causal"]);
  if (read.all.use_sliding_window === true && config.fullEvery === 1 && !config.window)
    read.wrong("use_sliding_window is true, which is not built");
  if (config.tied && config.headBias)
    read.wrong("tie_word_embeddings is true beside a bias of the head, which is not built");
  for (const scaling of new Set([config.ropeScaling, config.localScaling]))
    if (scaling?.factors && scaling.factors.short.length !== rotaryWidth / 2)
      read.wrong(`rope_scaling has ${scaling.factors.short.length} factors for ${rotaryWidth / 2}`);
}
