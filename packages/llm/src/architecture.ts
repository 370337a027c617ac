/**
 * Architectures as rows: how a decoder differs from the plainest one, which is Llama's. A
 * config.json becomes the sizes and the row of its `model_type`; a new architecture is a row.
 */
import { LanguageModelError, named, shown } from "./errors.ts";

/** What distinguishes decoders. */
export interface Architecture {
  /** RMS norms multiply by 1 + weight. */
  readonly onePlus: boolean;
  /** Norms after attention and after the MLP too. */
  readonly postNorms: boolean;
  /** Biases of queries, keys and values. */
  readonly qkvBias: boolean;
  /** A bias of what heads are joined by. */
  readonly outBias: boolean;
  /** Queries and keys are normalised by head. */
  readonly qkNorm: boolean;
  /** The activation of the gate. */
  readonly activation: "silu" | "gelu";
  /** Embeddings are multiplied by √width. */
  readonly scaledEmbedding: boolean;
  /** The head is the embedding where the config does not say. */
  readonly tied: boolean;
  /** Every how many layers one sees everything, the others a window. */
  readonly fullEvery: number;
}

const llama: Architecture = {
  onePlus: false,
  postNorms: false,
  qkvBias: false,
  outBias: false,
  qkNorm: false,
  activation: "silu",
  scaledEmbedding: false,
  tied: false,
  fullEvery: 1,
};

const gemma: Architecture = {
  ...llama,
  onePlus: true,
  activation: "gelu",
  scaledEmbedding: true,
  tied: true,
};

/** By the `model_type` of config.json. Llama 2 and 3 and SmolLM are `llama`. */
export const architectures: Readonly<Record<string, Architecture>> = {
  llama,
  mistral: llama,
  qwen2: { ...llama, qkvBias: true },
  qwen3: { ...llama, qkNorm: true },
  gemma,
  gemma2: { ...gemma, postNorms: true, fullEvery: 2 },
  gemma3_text: { ...gemma, postNorms: true, qkNorm: true, fullEvery: 6 },
};

/** The sizes of a decoder, and what its row says. */
export interface DecoderConfig extends Architecture {
  readonly vocabulary: number;
  readonly width: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  /** The most tokens that the model was made for. */
  readonly context: number;
  readonly eps: number;
  /** Base of rotary wavelengths; of layers with a window where they have another. */
  readonly theta: number;
  readonly localTheta: number;
  readonly ropeScaling: RopeScaling | undefined;
  /** Tokens that a layer with a window sees. */
  readonly window: number | undefined;
  readonly attentionCap: number | undefined;
  readonly logitCap: number | undefined;
  /** Factor of the scores. */
  readonly scale: number;
  /** Tokens that end a text. */
  readonly ends: readonly number[];
}

/** How wavelengths are stretched: all by a factor, or as Llama 3.1 does. */
export interface RopeScaling {
  readonly type: "linear" | "llama3";
  readonly factor: number;
  readonly low: number;
  readonly high: number;
  readonly original: number;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * The decoder that a parsed config.json describes.
 *
 * Throws LanguageModelError for an unknown `model_type` or `rope_scaling`, and lists every number
 * that is absent or wrong.
 */
export function decoderConfig(json: unknown): DecoderConfig {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new LanguageModelError(
      "config: takes the object of a config.json\n  parse the file: JSON.parse(text)",
    );
  const all = json as Json;
  const type = typeof all.model_type === "string" ? all.model_type : "";
  if (!Object.hasOwn(architectures, type))
    throw new LanguageModelError(
      `config: unknown architecture ${named(all.model_type)}\n  known are ${Object.keys(architectures).join(", ")}`,
    );
  const row = architectures[type]!;
  const wrong: string[] = [];
  const count = (name: string, otherwise?: number): number => {
    const value = all[name] ?? otherwise;
    if (Number.isInteger(value) && (value as number) > 0) return value as number;
    wrong.push(`${name} is ${shown(value)}`);
    return 1;
  };
  const real = (name: string, otherwise?: number): number | undefined => {
    const value = all[name] ?? otherwise;
    if (value === undefined || (typeof value === "number" && value > 0)) return value;
    wrong.push(`${name} is ${shown(value)}`);
    return otherwise;
  };
  const width = count("hidden_size");
  const heads = count("num_attention_heads");
  const headWidth = count("head_dim", width % heads ? undefined : width / heads);
  const kvHeads = count("num_key_value_heads", heads);
  const rope = ropeOf(all);
  const windowed = all.use_sliding_window !== false && row.fullEvery !== 1;
  const config: DecoderConfig = {
    ...row,
    tied: typeof all.tie_word_embeddings === "boolean" ? all.tie_word_embeddings : row.tied,
    qkvBias: row.qkvBias || all.attention_bias === true,
    outBias: all.attention_bias === true,
    vocabulary: count("vocab_size"),
    width,
    hidden: count("intermediate_size"),
    layers: count("num_hidden_layers"),
    heads,
    kvHeads,
    headWidth,
    context: count("max_position_embeddings"),
    eps: real("rms_norm_eps", 1e-6)!,
    ...rope,
    window: type === "mistral" || windowed ? real("sliding_window") : undefined,
    attentionCap: real("attn_logit_softcapping"),
    logitCap: real("final_logit_softcapping"),
    scale: 1 / Math.sqrt(real("query_pre_attn_scalar", headWidth)!),
    ends: [all.eos_token_id].flat().filter((x) => Number.isInteger(x)) as number[],
    fullEvery: type === "mistral" ? Infinity : row.fullEvery,
  };
  if (heads % kvHeads)
    wrong.push(`num_key_value_heads is ${kvHeads}, which does not divide ${heads}`);
  if (headWidth % 2) wrong.push(`head_dim is ${headWidth}, which is odd`);
  for (const name of ["mlp_bias", "use_bias"])
    if (all[name] === true) wrong.push(`${name} is true, which is not built`);
  if (row.fullEvery === 1 && all.use_sliding_window === true)
    wrong.push("use_sliding_window is true, which is not built");
  if (wrong.length)
    throw new LanguageModelError(
      `config: ${type} needs other values: ${wrong.join("; ")}\n  take the config.json that came with the weights`,
    );
  return config;
}

type Rope = Pick<DecoderConfig, "theta" | "localTheta" | "ropeScaling">;

/**
 * Wavelengths as older files tell them, by `rope_theta` and `rope_scaling`, and as newer ones do,
 * by `rope_parameters`.
 */
function ropeOf(all: Json): Rope {
  const given = all.rope_parameters as Json | undefined;
  const wide = (given?.full_attention ?? given) as Json | undefined;
  const local = given?.sliding_attention as Json | undefined;
  const isThree = all.model_type === "gemma3_text";
  const theta = positive(wide?.rope_theta ?? all.rope_theta, isThree ? 1e6 : 1e4);
  return {
    theta,
    localTheta: positive(local?.rope_theta ?? all.rope_local_base_freq, isThree ? 1e4 : theta),
    ropeScaling: scalingOf(wide ?? all.rope_scaling),
  };
}

function positive(value: unknown, otherwise: number): number {
  const n = value ?? otherwise;
  if (typeof n === "number" && n > 0) return n;
  throw new LanguageModelError(
    `config: rope_theta must be a number above 0, got ${shown(value)}\n  take the config.json that came with the weights`,
  );
}

function scalingOf(value: unknown): RopeScaling | undefined {
  if (value === null || value === undefined) return undefined;
  const all = value as Json;
  const type = all.rope_type ?? all.type;
  if (type === "default" || type === undefined) return undefined;
  if (type !== "linear" && type !== "llama3")
    throw new LanguageModelError(
      `config: unknown rope_scaling ${named(type)}\n  known are default, linear, llama3`,
    );
  const number = (name: string, otherwise?: number): number => {
    const found = all[name] ?? otherwise;
    if (typeof found === "number" && found > 0 && found < Infinity) return found;
    throw new LanguageModelError(
      `config: ${name} of rope_scaling must be a number above 0, got ${shown(found)}\n  take the config.json that came with the weights`,
    );
  };
  return {
    type,
    factor: number("factor"),
    low: number("low_freq_factor", 1),
    high: number("high_freq_factor", 4),
    original: number("original_max_position_embeddings", 8192),
  };
}
