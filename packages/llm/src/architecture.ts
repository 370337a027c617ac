/**
 * Architectures as rows: how a decoder differs from the plainest one, which is Llama's. A new
 * architecture is a row; `config.ts` reads the sizes.
 */

/** What an MLP bends by; `geluTanh` is GELU by its tanh approximation. */
export type ActivationName = "silu" | "gelu" | "geluTanh" | "relu" | "quickGelu";

/** What distinguishes decoders. */
export interface Architecture {
  /** Norms take the mean off and have a bias; otherwise they are RMS norms. */
  readonly layerNorm: boolean;
  /** What norms add under the root, where the config does not say. */
  readonly eps: number;
  /** RMS norms multiply by 1 + weight. */
  readonly onePlus: boolean;
  /** Norms after attention and after the MLP too. */
  readonly postNorms: boolean;
  /** Attention and MLP read the same norm, beside each other. */
  readonly parallel: boolean;
  /** Biases of queries, keys and values. */
  readonly qkvBias: boolean;
  /** A bias of what heads are joined by. */
  readonly outBias: boolean;
  /** Biases of the MLP. */
  readonly mlpBias: boolean;
  /** A bias of the scores. */
  readonly headBias: boolean;
  /** Queries and keys are normalised by head. */
  readonly qkNorm: boolean;
  /** Queries, keys and values are one matrix, and so are the MLP's gate and what it opens. */
  readonly fused: boolean;
  /** Matrices of layers are [inputs, outputs]. */
  readonly transposed: boolean;
  /** The MLP has a gate. */
  readonly gated: boolean;
  readonly activation: ActivationName;
  /** Places are vectors that are learned and added to the tokens'; nothing turns. */
  readonly learnedPlaces: boolean;
  /** Embeddings are multiplied by √width. */
  readonly scaledEmbedding: boolean;
  /** The head is the embedding where the config does not say. */
  readonly tied: boolean;
  /** Every how many layers one sees everything, the others a window. */
  readonly fullEvery: number;
  /** Every how many layers nothing turns; 0 for none. */
  readonly stillEvery: number;
  /** What files call the parts that have another name here. */
  readonly names: Readonly<Record<string, string>>;
  /** What config.json calls the sizes that Llama's calls otherwise. */
  readonly keys: Readonly<Record<string, string>>;
  /** What a config.json that leaves them out means, where that is not what Llama's means. */
  readonly defaults: Readonly<Record<string, number>>;
}

const llama: Architecture = {
  layerNorm: false,
  eps: 1e-6,
  onePlus: false,
  postNorms: false,
  parallel: false,
  qkvBias: false,
  outBias: false,
  mlpBias: false,
  headBias: false,
  qkNorm: false,
  fused: false,
  transposed: false,
  gated: true,
  activation: "silu",
  learnedPlaces: false,
  scaledEmbedding: false,
  tied: false,
  fullEvery: 1,
  stillEvery: 0,
  names: {},
  keys: {},
  defaults: {},
};

const gemma: Architecture = {
  ...llama,
  onePlus: true,
  activation: "geluTanh",
  scaledEmbedding: true,
  tied: true,
};

/** Biases everywhere, an MLP of two matrices. */
const plain: Architecture = {
  ...llama,
  layerNorm: true,
  eps: 1e-5,
  qkvBias: true,
  outBias: true,
  mlpBias: true,
  gated: false,
  activation: "geluTanh",
};

const gpt2: Architecture = {
  ...plain,
  fused: true,
  transposed: true,
  learnedPlaces: true,
  tied: true,
  names: {
    model: "transformer",
    embed_tokens: "wte",
    embed_positions: "wpe",
    layers: "h",
    norm: "ln_f",
    input_layernorm: "ln_1",
    self_attn: "attn",
    qkv_proj: "c_attn",
    o_proj: "c_proj",
    post_attention_layernorm: "ln_2",
    fc1: "c_fc",
    fc2: "c_proj",
  },
  keys: {
    hidden_size: "n_embd",
    intermediate_size: "n_inner",
    num_hidden_layers: "n_layer",
    num_attention_heads: "n_head",
    max_position_embeddings: "n_positions",
    hidden_act: "activation_function",
    rms_norm_eps: "layer_norm_epsilon",
  },
};

const phi: Architecture = {
  ...plain,
  parallel: true,
  headBias: true,
  names: {
    o_proj: "dense",
    norm: "final_layernorm",
    q_norm: "q_layernorm",
    k_norm: "k_layernorm",
  },
  keys: { rms_norm_eps: "layer_norm_eps" },
  defaults: { partial_rotary_factor: 0.5 },
};

const qwenWindows = { sliding_window: 4096, max_window_layers: 28 };

/** By the `model_type` of config.json. Llama 2 and 3 and SmolLM are `llama`. */
export const architectures: Readonly<Record<string, Architecture>> = {
  llama,
  mistral: { ...llama, fullEvery: Infinity, defaults: { sliding_window: 4096 } },
  qwen2: { ...llama, qkvBias: true, defaults: qwenWindows },
  qwen3: { ...llama, qkNorm: true, defaults: qwenWindows },
  gemma,
  gemma2: {
    ...gemma,
    postNorms: true,
    fullEvery: 2,
    defaults: {
      sliding_window: 4096,
      query_pre_attn_scalar: 256,
      attn_logit_softcapping: 50,
      final_logit_softcapping: 30,
    },
  },
  gemma3_text: {
    ...gemma,
    postNorms: true,
    qkNorm: true,
    fullEvery: 6,
    defaults: {
      sliding_window: 4096,
      query_pre_attn_scalar: 256,
      rope_theta: 1e6,
      rope_local_base_freq: 1e4,
    },
  },
  gpt2,
  phi,
  phi3: { ...llama, eps: 1e-5, fused: true, fullEvery: Infinity },
  smollm3: { ...llama, tied: true, stillEvery: 4, defaults: { rope_theta: 2e6 } },
};
