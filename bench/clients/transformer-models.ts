/**
 * Small models in the file layout of `@huggingface/transformers`, with random weights: BERT, GPT-2 with a cache of keys and values, ViT.
 * Inputs, outputs and configurations have the names that its own exports have.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Graph } from "./graph.ts";

interface Size {
  readonly hidden: number;
  readonly heads: number;
  readonly layers: number;
}

const norm = (g: Graph, x: string, n: number): string =>
  g.op("LayerNormalization", [x, g.weight([n], 0.05, 1), g.weight([n], 0.05)], {
    axis: -1,
    epsilon: 1e-5,
  });

const dense = (g: Graph, x: string, from: number, to: number): string =>
  g.op("Add", [
    g.op("MatMul", [x, g.weight([from, to], 0.7 / Math.sqrt(from))]),
    g.weight([to], 0.02),
  ]);

/** x · Φ(x), as exporters write it for opset 18. */
function gelu(g: Graph, x: string): string {
  const erf = g.op("Erf", [g.op("Div", [x, g.float(Math.SQRT2)])]);
  return g.op("Mul", [g.op("Mul", [x, g.op("Add", [erf, g.float(1)])]), g.float(0.5)]);
}

const heads = (g: Graph, x: string, { hidden, heads: n }: Size): string =>
  g.op("Transpose", [g.op("Reshape", [x, g.ints([0, -1, n, hidden / n])])], { perm: [0, 2, 1, 3] });

interface Attended {
  readonly y: string;
  readonly key: string;
  readonly value: string;
}

/** Attention over x, and what came before it; `bias` is added to the scores. */
function attention(
  g: Graph,
  x: string,
  size: Size,
  bias: string | undefined,
  past?: readonly [string, string],
): Attended {
  const { hidden } = size;
  const [q, k, v] = [0, 1, 2].map(() => heads(g, dense(g, x, hidden, hidden), size)) as [
    string,
    string,
    string,
  ];
  const key = past ? g.op("Concat", [past[0], k], { axis: 2 }) : k;
  const value = past ? g.op("Concat", [past[1], v], { axis: 2 }) : v;
  const turned = g.op("Transpose", [key], { perm: [0, 1, 3, 2] });
  const scale = g.float(1 / Math.sqrt(hidden / size.heads));
  const scores = g.op("Mul", [g.op("MatMul", [q, turned]), scale]);
  const biased = bias ? g.op("Add", [scores, bias]) : scores;
  const mixed = g.op("MatMul", [g.op("Softmax", [biased], { axis: -1 }), value]);
  const rows = g.op("Transpose", [mixed], { perm: [0, 2, 1, 3] });
  const flat = g.op("Reshape", [rows, g.ints([0, -1, hidden])]);
  return { y: dense(g, flat, hidden, hidden), key, value };
}

const mlp = (g: Graph, x: string, n: number): string =>
  dense(g, gelu(g, dense(g, x, n, 4 * n)), 4 * n, n);

/** 0 where a token is, −10⁴ where none is: [batch, 1, 1, length]. */
function maskBias(g: Graph, mask: string): string {
  const wide = g.op("Unsqueeze", [g.op("Cast", [mask], { to: 1 }), g.ints([1, 2])]);
  return g.op("Mul", [g.op("Sub", [g.float(1), wide]), g.float(-1e4)]);
}

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

/** −10⁴ above the diagonal of the last rows: [1, 1, length, past + length]. */
function causalBias(g: Graph, ids: string, mask: string): string {
  const extent = (x: string, axis: number): string =>
    g.op("Gather", [g.op("Shape", [x]), g.ints([axis], [])], { axis: 0 });
  const [length, all] = [extent(ids, 1), extent(mask, 1)];
  const range = (from: string, to: string): string => g.op("Range", [from, to, g.ints([1], [])]);
  const rows = g.op("Unsqueeze", [range(g.op("Sub", [all, length]), all), g.ints([1])]);
  const columns = g.op("Unsqueeze", [range(g.ints([0], []), all), g.ints([0])]);
  const later = g.op("Cast", [g.op("Greater", [columns, rows])], { to: 1 });
  const bias = g.op("Mul", [later, g.float(-1e4)]);
  return g.op("Add", [g.op("Unsqueeze", [bias, g.ints([0, 1])]), maskBias(g, mask)]);
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

const models: Readonly<Record<string, { config: object; model: () => Uint8Array }>> = {
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
};

/** Writes the models into a folder, each as `NAME/config.json` and `NAME/onnx/model.onnx`. */
export function writeTransformerModels(folder: string): void {
  for (const [name, { config, model }] of Object.entries(models)) {
    mkdirSync(join(folder, name, "onnx"), { recursive: true });
    writeFileSync(join(folder, name, "config.json"), JSON.stringify(config));
    writeFileSync(join(folder, name, "generation_config.json"), '{ "_from_model_config": true }');
    writeFileSync(join(folder, name, "onnx/model.onnx"), model());
  }
}
