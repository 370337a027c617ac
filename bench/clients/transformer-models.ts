/**
 * Small models in the file layout of `@huggingface/transformers`, with random weights: BERT, GPT-2
 * with a cache of keys and values, ViT, CLIP and Whisper. Inputs, outputs and configurations have
 * the names that its own exports have.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Graph } from "./graph.ts";
import { clip, whisper } from "./several-inputs.ts";
import {
  type Attended,
  attention,
  causalBias,
  dense,
  maskBias,
  mlp,
  norm,
  type Size,
} from "./transformer-blocks.ts";

function bert(size: Size, vocabulary: number): Uint8Array {
  const g = new Graph();
  const { hidden } = size;
  const shape = ["batch_size", "sequence_length"];
  const ids = g.input("input_ids", "int64", shape);
  const mask = g.input("attention_mask", "int64", shape);
  const types = g.input("token_type_ids", "int64", shape);
  const length = g.op("Gather", [g.op("Shape", [ids]), g.ints([1], [])], { axis: 0 });
  const positions = g.op("Range", [g.ints([0], []), length, g.ints([1], [])]);
  const word = g.op("Gather", [g.weight([vocabulary, hidden], 0.5), ids]);
  const kind = g.op("Gather", [g.weight([2, hidden], 0.5), types]);
  const place = g.op("Gather", [g.weight([512, hidden], 0.5), positions]);
  let x = norm(g, g.op("Add", [g.op("Add", [word, kind]), place]), hidden);
  const bias = maskBias(g, mask);
  for (let i = 0; i < size.layers; i++) {
    x = norm(g, g.op("Add", [x, attention(g, x, size, bias).y]), hidden);
    x = norm(g, g.op("Add", [x, mlp(g, x, hidden)]), hidden);
  }
  g.output("last_hidden_state", x, [...shape, hidden]);
  return g.bytes();
}

function gpt2(size: Size, vocabulary: number): Uint8Array {
  const g = new Graph();
  const { hidden, heads: n, layers } = size;
  const ids = g.input("input_ids", "int64", ["batch_size", "sequence_length"]);
  const mask = g.input("attention_mask", "int64", ["batch_size", "total_sequence_length"]);
  const positions = g.input("position_ids", "int64", ["batch_size", "sequence_length"]);
  const cache = ["batch_size", n, "past_sequence_length", hidden / n];
  const past = Array.from({ length: layers }, (_, i) =>
    ["key", "value"].map((kind) => g.input(`past_key_values.${i}.${kind}`, "float32", cache)),
  ) as unknown as (readonly [string, string])[];
  const table = g.weight([vocabulary, hidden], 0.3);
  const place = g.op("Gather", [g.weight([512, hidden], 0.1), positions]);
  let x = g.op("Add", [g.op("Gather", [table, ids]), place]);
  const bias = causalBias(g, ids, mask);
  const present: Attended[] = [];
  for (let i = 0; i < layers; i++) {
    const attended = attention(g, norm(g, x, hidden), size, bias, past[i]);
    present.push(attended);
    x = g.op("Add", [x, attended.y]);
    x = g.op("Add", [x, mlp(g, norm(g, x, hidden), hidden)]);
  }
  const logits = g.op("MatMul", [norm(g, x, hidden), g.op("Transpose", [table], { perm: [1, 0] })]);
  g.output("logits", logits, ["batch_size", "sequence_length", vocabulary]);
  const next = ["batch_size", n, "total_sequence_length", hidden / n];
  for (const [i, { key, value }] of present.entries()) {
    g.output(`present.${i}.key`, key, next);
    g.output(`present.${i}.value`, value, next);
  }
  return g.bytes();
}

function vit(size: Size, image: number, patch: number, classes: number): Uint8Array {
  const g = new Graph();
  const { hidden } = size;
  const pixels = g.input("pixel_values", "float32", ["batch_size", 3, image, image]);
  const kernel = g.weight([hidden, 3, patch, patch], 0.03);
  const parts = g.op("Conv", [pixels, kernel, g.weight([hidden], 0.02)], {
    kernel_shape: [patch, patch],
    strides: [patch, patch],
  });
  const rows = g.op("Reshape", [parts, g.ints([0, hidden, -1])]);
  const patches = g.op("Transpose", [rows], { perm: [0, 2, 1] });
  const batch = g.op("Slice", [g.op("Shape", [pixels]), g.ints([0]), g.ints([1])]);
  const shape = g.op("Concat", [batch, g.ints([1, hidden])], { axis: 0 });
  const token = g.op("Expand", [g.weight([1, 1, hidden], 0.5), shape]);
  const all = g.op("Concat", [token, patches], { axis: 1 });
  let x = g.op("Add", [all, g.weight([1, (image / patch) ** 2 + 1, hidden], 0.2)]);
  for (let i = 0; i < size.layers; i++) {
    x = g.op("Add", [x, attention(g, norm(g, x, hidden), size, undefined).y]);
    x = g.op("Add", [x, mlp(g, norm(g, x, hidden), hidden)]);
  }
  const first = g.op("Gather", [norm(g, x, hidden), g.ints([0], [])], { axis: 1 });
  g.output("logits", dense(g, first, hidden, classes), ["batch_size", classes]);
  return g.bytes();
}

const size: Size = { hidden: 256, heads: 4, layers: 4 };
const vocabulary = 1000;

interface Model {
  readonly config: object;
  readonly model?: () => Uint8Array;
  /** Where there are several. */
  readonly parts?: () => Readonly<Record<string, Uint8Array>>;
}

const models: Readonly<Record<string, Model>> = {
  bert: {
    config: {
      architectures: ["BertModel"],
      model_type: "bert",
      hidden_size: size.hidden,
      num_attention_heads: size.heads,
      num_hidden_layers: size.layers,
      vocab_size: vocabulary,
    },
    model: () => bert(size, vocabulary),
  },
  gpt2: {
    config: {
      architectures: ["GPT2LMHeadModel"],
      model_type: "gpt2",
      n_embd: size.hidden,
      n_head: size.heads,
      n_layer: size.layers,
      vocab_size: vocabulary,
      bos_token_id: 0,
      eos_token_id: 0,
    },
    model: () => gpt2(size, vocabulary),
  },
  vit: {
    config: {
      architectures: ["ViTForImageClassification"],
      model_type: "vit",
      hidden_size: size.hidden,
      num_attention_heads: size.heads,
      num_hidden_layers: size.layers,
      image_size: 96,
      patch_size: 16,
    },
    model: () => vit(size, 96, 16, 100),
  },
  clip: {
    config: {
      architectures: ["CLIPModel"],
      model_type: "clip",
      projection_dim: size.hidden,
      text_config: { model_type: "clip_text_model", vocab_size: vocabulary },
      vision_config: { model_type: "clip_vision_model", image_size: 96, patch_size: 16 },
    },
    model: () => clip(size, vocabulary, 96, 16),
  },
  whisper: {
    config: {
      architectures: ["WhisperForConditionalGeneration"],
      model_type: "whisper",
      is_encoder_decoder: true,
      d_model: size.hidden,
      encoder_layers: size.layers,
      decoder_layers: size.layers,
      encoder_attention_heads: size.heads,
      decoder_attention_heads: size.heads,
      num_mel_bins: 80,
      vocab_size: vocabulary,
      decoder_start_token_id: 1,
    },
    parts: () => whisper(size, vocabulary, 80),
  },
};

/** Writes the models into a folder, each as `NAME/config.json` and `NAME/onnx/PART.onnx`. */
export function writeTransformerModels(folder: string): void {
  for (const [name, { config, model, parts }] of Object.entries(models)) {
    mkdirSync(join(folder, name, "onnx"), { recursive: true });
    writeFileSync(join(folder, name, "config.json"), JSON.stringify(config));
    writeFileSync(join(folder, name, "generation_config.json"), '{ "_from_model_config": true }');
    const files = parts?.() ?? { model: model!() };
    for (const [part, bytes] of Object.entries(files))
      writeFileSync(join(folder, name, "onnx", `${part}.onnx`), bytes);
  }
}
