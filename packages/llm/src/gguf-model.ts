/**
 * A language model in a GGUF file: its values as a config.json would say them, its tensors under
 * the names of Hugging Face.
 */
import type { Constant } from "kiln-ml/artifact";
import { type DecoderConfig, decoderConfig } from "./config.ts";
import { LanguageModelError, listed, named } from "./errors.ts";
import type { GgufFile } from "./gguf.ts";
import type { PackedMatrix } from "./packed-blocks.ts";

/** Architectures by GGUF's names; whether neighbours turn together in its files, as pairs. */
const known: Readonly<Record<string, { readonly pairs: boolean }>> = {
  llama: { pairs: true },
  qwen2: { pairs: false },
  qwen3: { pairs: false },
};

const outer: Readonly<Record<string, string>> = {
  token_embd: "model.embed_tokens",
  output_norm: "model.norm",
  output: "lm_head",
};

const inner: Readonly<Record<string, string>> = {
  attn_norm: "input_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_norm: "post_attention_layernorm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
};

/**
 * `blk.3.attn_q.weight` → `model.layers.3.self_attn.q_proj.weight`; undefined for a name of no
 * decoder here.
 */
function publicName(name: string): string | undefined {
  const [, layer, part = "", kind] = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(name) ?? [];
  const found = layer === undefined ? outer[part] : inner[part];
  if (found === undefined) return undefined;
  return layer === undefined ? `${found}.${kind}` : `model.layers.${layer}.${found}.${kind}`;
}

/** A decoder's sizes and its weights. */
export interface GgufModel {
  readonly config: DecoderConfig;
  readonly tensors: Readonly<Record<string, Constant>>;
  /** Matrices in blocks by the path of their layer; their parts are among the tensors. */
  readonly packed: ReadonlyMap<string, PackedMatrix>;
}

/**
 * Matrices of layers, the head and the table of tokens: what `readGguf` may leave in blocks for a
 * decoder.
 */
export const layerMatrices =
  /^(blk\.\d+\.(attn_(q|k|v|output)|ffn_(gate|up|down))|output|token_embd)\.weight$/;

/** The path of the table, whose parts are its own. */
export const tablePath = "model.embed_tokens";

/**
 * The decoder of a GGUF file, for `loadWeights`.
 *
 *     const { config, tensors } = ggufModel(readGguf(bytes));
 *     const net = new Decoder(config);
 *     await loadWeights(net, tensors);
 *
 * Throws LanguageModelError for an architecture that is not known, for names of tensors that are
 * not, all at once, and for sizes that do not fit.
 */
export function ggufModel({ metadata, tensors, packed = {} }: GgufFile): GgufModel {
  const told = metadata.get("general.architecture");
  const type = typeof told === "string" ? told : "";
  const row = Object.hasOwn(known, type) ? known[type] : undefined;
  if (!row)
    throw new LanguageModelError(
      `gguf: unknown architecture ${named(told)}\n  known are ${Object.keys(known).join(", ")}`,
    );
  const get = (name: string): unknown => {
    const value = metadata.get(`${type}.${name}`);
    return typeof value === "bigint" ? Number(value) : value;
  };
  const config = decoderConfig({
    model_type: type,
    vocab_size: (tensors["token_embd.weight"] ?? packed["token_embd.weight"])?.shape[0],
    hidden_size: get("embedding_length"),
    intermediate_size: get("feed_forward_length"),
    num_hidden_layers: get("block_count"),
    num_attention_heads: get("attention.head_count"),
    num_key_value_heads: get("attention.head_count_kv"),
    head_dim: get("attention.key_length"),
    max_position_embeddings: get("context_length"),
    rms_norm_eps: get("attention.layer_norm_rms_epsilon"),
    rope_theta: get("rope.freq_base"),
    ...scaling(get),
    tie_word_embeddings: !("output.weight" in tensors || "output.weight" in packed),
    eos_token_id: [metadata.get("tokenizer.ggml.eos_token_id")].flat().map(Number),
  });
  const layers = new Set(
    [...Object.keys(tensors), ...Object.keys(packed)].flatMap(
      (n) => /^blk\.\d+\./.exec(n)?.[0] ?? [],
    ),
  );
  if (layers.size !== config.layers)
    throw new LanguageModelError(
      `gguf: ${type}.block_count is ${config.layers}, tensors are of ${layers.size} layers\n  the file is not whole, or was put together of others`,
    );
  const unknown = Object.keys({ ...tensors, ...packed }).filter(
    (name) => publicName(name) === undefined,
  );
  if (unknown.length)
    throw new LanguageModelError(
      `gguf: tensors that ${type} does not have: ${listed(unknown)}\n  the file is of another architecture, or of a variant that is not built`,
    );
  const own = Object.entries(tensors).map(([name, tensor]) => {
    const turns = row.pairs && /\.attn_[qk]\./.test(name);
    return [publicName(name)!, turns ? pairsToHalves(tensor, config.headWidth) : tensor] as const;
  });
  const matrices = new Map<string, PackedMatrix>();
  for (const [name, matrix] of Object.entries(packed)) {
    const path = publicName(name)!.replace(/\.weight$/, "");
    const turns = row.pairs && /\.attn_[qk]\./.test(name);
    matrices.set(path, matrix);
    for (const part of ["words", "scales", "offsets"] as const) {
      const values = matrix[part];
      if (values)
        own.push([
          path === tablePath ? `${path}.${part}` : `${path}.quantized.${part}`,
          turns ? pairsToHalves(values, config.headWidth) : values,
        ]);
    }
  }
  return { config, tensors: Object.fromEntries(own), packed: matrices };
}

function scaling(get: (name: string) => unknown): object {
  const type = get("rope.scaling.type");
  if (type === undefined || type === "none") return {};
  return { rope_scaling: { type, factor: get("rope.scaling.factor") } };
}

/**
 * Rows of each head, and of its bias: those that were even, then the odd ones. Neighbours that turn
 * together become halves that do.
 */
export function pairsToHalves({ dtype, shape, data }: Constant, headWidth: number): Constant {
  const rows = shape[0]!;
  const size = data.length / rows;
  const to = new Uint8Array(data.length);
  for (let r = 0; r < rows; r++) {
    const i = r % headWidth;
    const from = r - i + (i < headWidth / 2 ? 2 * i : 2 * i - headWidth + 1);
    to.set(data.subarray(from * size, (from + 1) * size), r * size);
  }
  return { dtype, shape, data: to };
}
