/**
 * Encoders of texts as rows, BERT's kind: what they call their parts and sizes, and where places
 * are counted from.
 */
import type { ActivationName } from "./architecture.ts";
import { activationOf, Reader } from "./config-reader.ts";
import { LanguageModelError, named } from "./errors.ts";

export interface EncoderArchitecture {
  /** What files call the parts that have another name here. */
  readonly names: Readonly<Record<string, string>>;
  /** What config.json calls the sizes that BERT's calls otherwise. */
  readonly keys: Readonly<Record<string, string>>;
  /** Tokens have a vector of their segment added. */
  readonly segments: boolean;
  /** Places are counted past padding, from the number of the padding token. */
  readonly placesPastPadding: boolean;
  /** What files that hold heads too begin the names of the encoder with. */
  readonly prefix: string;
}

const bert: EncoderArchitecture = {
  names: {
    words: "embeddings.word_embeddings",
    places: "embeddings.position_embeddings",
    segments: "embeddings.token_type_embeddings",
    norm: "embeddings.LayerNorm",
    layers: "encoder.layer",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    joined: "attention.output.dense",
    attentionNorm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    outputNorm: "output.LayerNorm",
  },
  keys: {},
  segments: true,
  placesPastPadding: false,
  prefix: "bert.",
};

const roberta: EncoderArchitecture = { ...bert, placesPastPadding: true, prefix: "roberta." };

/** By the `model_type` of config.json. */
export const encoders: Readonly<Record<string, EncoderArchitecture>> = {
  bert,
  roberta,
  "xlm-roberta": roberta,
  distilbert: {
    ...bert,
    segments: false,
    prefix: "distilbert.",
    names: {
      ...bert.names,
      layers: "transformer.layer",
      query: "attention.q_lin",
      key: "attention.k_lin",
      value: "attention.v_lin",
      joined: "attention.out_lin",
      attentionNorm: "sa_layer_norm",
      up: "ffn.lin1",
      down: "ffn.lin2",
      outputNorm: "output_layer_norm",
    },
    keys: {
      hidden_size: "dim",
      intermediate_size: "hidden_dim",
      num_hidden_layers: "n_layers",
      num_attention_heads: "n_heads",
      hidden_act: "activation",
    },
  },
};

/** The sizes of an encoder, and what its row says. */
export interface EncoderConfig extends Omit<EncoderArchitecture, "segments"> {
  readonly vocabulary: number;
  readonly width: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  /** The most tokens that the model was made for. */
  readonly context: number;
  /** Rows of the table of places. */
  readonly places: number;
  /** Segments, 0 where there are none. */
  readonly segments: number;
  readonly eps: number;
  readonly activation: ActivationName;
  /** The padding token. */
  readonly padding: number;
}

/**
 * The encoder that a parsed config.json describes.
 *
 * Throws LanguageModelError for an unknown `model_type`, and lists every number that is absent or
 * wrong.
 */
export function encoderConfig(json: unknown): EncoderConfig {
  const all = Reader.objectOf(json);
  const type = typeof all.model_type === "string" ? all.model_type : "";
  if (!Object.hasOwn(encoders, type))
    throw new LanguageModelError(
      `config: unknown encoder ${named(all.model_type)}\n  known are ${Object.keys(encoders).join(", ")}`,
    );
  const row = encoders[type]!;
  const read = new Reader(type, all, row.keys);
  const padding = Number(all.pad_token_id ?? (row.placesPastPadding ? 1 : 0));
  const places = read.count("max_position_embeddings");
  const width = read.count("hidden_size");
  const heads = read.count("num_attention_heads");
  const config: EncoderConfig = {
    ...row,
    vocabulary: read.count("vocab_size"),
    width,
    hidden: read.count("intermediate_size"),
    layers: read.layers("num_hidden_layers"),
    heads,
    context: row.placesPastPadding ? places - padding - 1 : places,
    places,
    segments: row.segments ? read.count("type_vocab_size", 2) : 0,
    eps: read.real("layer_norm_eps", 1e-12)!,
    activation: activationOf(read, "gelu"),
    padding,
  };
  if (width % heads)
    read.wrong(`${read.nameOf("num_attention_heads")} is ${heads}, which does not divide ${width}`);
  if (config.context < 1) read.wrong(`max_position_embeddings is ${places}, with no room for text`);
  read.refuseFlags(true, ["is_decoder", "add_cross_attention"]);
  const kind = all.position_embedding_type;
  if (kind !== undefined && kind !== null && kind !== "absolute")
    read.refuse("position_embedding_type is", kind);
  read.finish();
  return config;
}
