/**
 * The 260K-parameter Llama of ../shared/data: weights in llama2.c's layout and its vocabulary,
 * under public names.
 */
import type { Constant } from "@kiln-ml/artifact";
import type { DecoderConfig } from "@kiln-ml/llm";
import { decoderConfig } from "@kiln-ml/llm";

/** What config.json would say. */
export const storiesJson = {
  model_type: "llama",
  vocab_size: 512,
  hidden_size: 64,
  intermediate_size: 172,
  num_hidden_layers: 5,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  max_position_embeddings: 512,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
};

export const storiesConfig: DecoderConfig = decoderConfig(storiesJson);

/** Tensors of a file of llama2.c: seven integers, then matrices of all layers, kind by kind. */
export function llama2cTensors(
  file: Uint8Array,
  change: (c: Constant, headWidth: number) => Constant = pairsToHalves,
): Record<string, Constant> {
  const { width: d, hidden, layers, heads, headWidth, vocabulary } = storiesConfig;
  const kv = (d / heads) * storiesConfig.kvHeads;
  const out: Record<string, Constant> = {};
  let at = 28;
  const next = (shape: number[]): Constant => {
    const size = shape.reduce((a, b) => a * b, 4);
    const data = file.slice(at, at + size);
    at += size;
    return { dtype: "f32", shape, data };
  };
  const each = (name: string, shape: number[], turn = (c: Constant) => c) => {
    for (let i = 0; i < layers; i++) out[`model.layers.${i}.${name}.weight`] = turn(next(shape));
  };
  const halves = (c: Constant) => change(c, headWidth);
  out["model.embed_tokens.weight"] = next([vocabulary, d]);
  each("input_layernorm", [d]);
  each("self_attn.q_proj", [d, d], halves);
  each("self_attn.k_proj", [kv, d], halves);
  each("self_attn.v_proj", [kv, d]);
  each("self_attn.o_proj", [d, d]);
  each("post_attention_layernorm", [d]);
  each("mlp.gate_proj", [hidden, d]);
  each("mlp.down_proj", [d, hidden]);
  each("mlp.up_proj", [hidden, d]);
  out["model.norm.weight"] = next([d]);
  return out;
}

/** Rows of each head: first those that were even, then the odd ones. */
function pairsToHalves({ dtype, shape, data }: Constant, head: number): Constant {
  const [rows, columns] = shape as [number, number];
  const to = new Uint8Array(data.length);
  const size = columns * 4;
  for (let r = 0; r < rows; r++) {
    const [h, i] = [Math.floor(r / head), r % head];
    const from = h * head + (i < head / 2 ? 2 * i : 2 * (i - head / 2) + 1);
    to.set(data.subarray(from * size, from * size + size), r * size);
  }
  return { dtype, shape, data: to };
}

/** Pieces of llama2.c's vocabulary file, by token. */
export function llama2cPieces(file: Uint8Array): string[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const pieces: string[] = [];
  for (let at = 4; at < file.length; ) {
    const length = view.getInt32(at + 4, true);
    pieces.push(new TextDecoder().decode(file.subarray(at + 8, at + 8 + length)));
    at += 8 + length;
  }
  return pieces;
}

/** Their scores: the better one of two is joined first. */
export function llama2cScores(file: Uint8Array): number[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const scores: number[] = [];
  for (let at = 4; at < file.length; at += 8 + view.getInt32(at + 4, true))
    scores.push(view.getFloat32(at, true));
  return scores;
}
