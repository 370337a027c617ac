/** A model of one layer and five tokens, as the files of a folder; weights by a fixed rule. */
import { type Constant, writeSafetensors } from "@kiln-ml/artifact";

const matrix = (seed: number, ...shape: number[]): Constant => {
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({ length: size }, (_, i) => Math.sin((i + 1) * (seed + 0.37)));
  return { dtype: "f32", shape, data: new Uint8Array(values.buffer) };
};

/** The scores of a and b are opposite, those of special tokens 0: so one of the letters is told. */
const embedding = (): Constant => {
  const { dtype, shape, data } = matrix(1, 5, 8);
  const values = new Float32Array(data.buffer);
  values.fill(0, 0, 24);
  for (let i = 0; i < 8; i++) values[32 + i] = -values[24 + i]!;
  return { dtype, shape, data };
};

/** By public names. */
export const smallTensors: Readonly<Record<string, Constant>> = {
  "model.embed_tokens.weight": embedding(),
  "model.layers.0.input_layernorm.weight": matrix(2, 8),
  "model.layers.0.self_attn.q_proj.weight": matrix(3, 8, 8),
  "model.layers.0.self_attn.k_proj.weight": matrix(4, 8, 8),
  "model.layers.0.self_attn.v_proj.weight": matrix(5, 8, 8),
  "model.layers.0.self_attn.o_proj.weight": matrix(6, 8, 8),
  "model.layers.0.post_attention_layernorm.weight": matrix(7, 8),
  "model.layers.0.mlp.gate_proj.weight": matrix(8, 8, 8),
  "model.layers.0.mlp.up_proj.weight": matrix(9, 8, 8),
  "model.layers.0.mlp.down_proj.weight": matrix(10, 8, 8),
  "model.norm.weight": matrix(11, 8),
};

const special = (id: number, content: string): object => ({ id, content, special: true });

/** What lies in the folder. */
export const modelFiles = {
  "config.json": JSON.stringify({
    model_type: "llama",
    vocab_size: 5,
    hidden_size: 8,
    intermediate_size: 8,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    max_position_embeddings: 32,
    tie_word_embeddings: true,
  }),
  "tokenizer.json": JSON.stringify({
    added_tokens: [special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")],
    model: {
      type: "BPE",
      unk_token: "<unk>",
      vocab: { "<unk>": 0, "<s>": 1, "</s>": 2, a: 3, b: 4 },
      merges: [],
    },
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: "Fuse" },
  }),
  "model.safetensors": writeSafetensors(smallTensors),
};
