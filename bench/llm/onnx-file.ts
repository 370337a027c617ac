/**
 * A shape's model as an ONNX file in the layout of `@huggingface/transformers`: random weights,
 * keys and values as inputs and outputs, matrices as floats or in blocks of `MatMulNBits`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DecoderConfig, decoderConfig } from "@kiln-ml/llm";
import { Graph } from "../clients/graph.ts";
import { causalBias } from "../clients/transformer-blocks.ts";
import { shapes } from "./shapes.ts";

/** Bits of matrices: 32 for floats. */
export type Bits = 32 | 8 | 4;

/** What transformers.js calls files of so many bits. */
export const dtypeOf: Readonly<Record<Bits, string>> = { 32: "fp32", 8: "q8", 4: "q4" };
const suffix: Readonly<Record<Bits, string>> = { 32: "", 8: "_quantized", 4: "_q4" };

class Model {
  readonly g = new Graph();
  readonly config: DecoderConfig;
  readonly bits: Bits;

  constructor(config: DecoderConfig, bits: Bits) {
    this.config = config;
    this.bits = bits;
  }

  /** x·Wᵀ. */
  matrix(x: string, from: number, to: number): string {
    const { g, bits } = this;
    if (bits === 32) return g.op("MatMul", [x, g.weight([from, to], 0.02)]);
    const blocks = Math.ceil(from / 32);
    const words = g.bytesOf([to, blocks, 4 * bits]);
    const scales = g.weight([to * blocks], 0.001, 0.003);
    const how = { K: from, N: to, bits, block_size: 32, accuracy_level: 4 };
    return g.op("MatMulNBits", [x, words, scales], how, "com.microsoft");
  }

  norm(x: string): string {
    const { g, config } = this;
    const square = g.op("Mul", [x, x]);
    const mean = g.op("ReduceMean", [square, g.ints([-1])], { keepdims: 1 });
    const root = g.op("Sqrt", [g.op("Add", [mean, g.float(config.eps)])]);
    return g.op("Mul", [g.op("Div", [x, root]), g.weight([config.width], 0, 1)]);
  }

  byHead(x: string, heads: number): string {
    const { g, config } = this;
    const rows = g.op("Reshape", [x, g.ints([0, -1, heads, config.headWidth])]);
    return g.op("Transpose", [rows], { perm: [0, 2, 1, 3] });
  }

  /** The first half of a head turned with the second. */
  turned(x: string, { cos, sin }: Turn): string {
    const { g } = this;
    const [a, b] = g.split(x, 2, -1) as [string, string];
    const other = g.op("Concat", [g.op("Neg", [b]), a], { axis: -1 });
    return g.op("Add", [g.op("Mul", [x, cos]), g.op("Mul", [other, sin])]);
  }

  turn(positions: string): Turn {
    const { g, config } = this;
    const half = config.headWidth / 2;
    const rates = Array.from({ length: half }, (_, i) => 10_000 ** (-i / half));
    const at = g.op("Unsqueeze", [g.op("Cast", [positions], { to: 1 }), g.ints([1, 3])]);
    const angle = g.op("Mul", [at, g.floats([...rates, ...rates])]);
    return { cos: g.op("Cos", [angle]), sin: g.op("Sin", [angle]) };
  }

  /** Keys of fewer heads, each for several queries. */
  repeated(x: string): string {
    const { g, config } = this;
    const times = config.heads / config.kvHeads;
    if (times === 1) return x;
    const wide = g.op("Unsqueeze", [x, g.ints([2])]);
    const all = g.op("Concat", Array(times).fill(wide), { axis: 2 });
    return g.op("Reshape", [all, g.ints([0, config.heads, -1, config.headWidth])]);
  }

  attention(x: string, turn: Turn, bias: string, past: readonly [string, string]) {
    const { g } = this;
    const { width, heads, kvHeads, headWidth } = this.config;
    const from = (n: number) => this.byHead(this.matrix(x, width, n * headWidth), n);
    const q = this.turned(from(heads), turn);
    const key = g.op("Concat", [past[0], this.turned(from(kvHeads), turn)], { axis: 2 });
    const value = g.op("Concat", [past[1], from(kvHeads)], { axis: 2 });
    const keys = g.op("Transpose", [this.repeated(key)], { perm: [0, 1, 3, 2] });
    const scores = g.op("Mul", [g.op("MatMul", [q, keys]), g.float(1 / Math.sqrt(headWidth))]);
    const odds = g.op("Softmax", [g.op("Add", [scores, bias])], { axis: -1 });
    const mixed = g.op("Transpose", [g.op("MatMul", [odds, this.repeated(value)])], {
      perm: [0, 2, 1, 3],
    });
    const flat = g.op("Reshape", [mixed, g.ints([0, -1, heads * headWidth])]);
    return { y: this.matrix(flat, heads * headWidth, width), key, value };
  }

  mlp(x: string): string {
    const { g } = this;
    const { width, hidden } = this.config;
    const gate = this.matrix(x, width, hidden);
    const bent = g.op("Mul", [gate, g.op("Sigmoid", [gate])]);
    return this.matrix(g.op("Mul", [bent, this.matrix(x, width, hidden)]), hidden, width);
  }

  bytes(): Uint8Array {
    const { g, config } = this;
    const { layers, kvHeads, headWidth, vocabulary, width } = config;
    const ids = g.input("input_ids", "int64", ["batch_size", "sequence_length"]);
    const mask = g.input("attention_mask", "int64", ["batch_size", "total_sequence_length"]);
    const positions = g.input("position_ids", "int64", ["batch_size", "sequence_length"]);
    const cache = ["batch_size", kvHeads, "past_sequence_length", headWidth];
    const pasts = Array.from({ length: layers }, (_, i) =>
      ["key", "value"].map((kind) => g.input(`past_key_values.${i}.${kind}`, "float32", cache)),
    ) as unknown as (readonly [string, string])[];
    let x = g.op("Gather", [g.weight([vocabulary, width], 0.02), ids]);
    const [bias, turn] = [causalBias(g, ids, mask), this.turn(positions)];
    const next = ["batch_size", kvHeads, "total_sequence_length", headWidth];
    const present = pasts.map((past) => {
      const seen = this.attention(this.norm(x), turn, bias, past);
      x = g.op("Add", [x, seen.y]);
      x = g.op("Add", [x, this.mlp(this.norm(x))]);
      return seen;
    });
    const logits = this.matrix(this.norm(x), width, vocabulary);
    g.output("logits", logits, ["batch_size", "sequence_length", vocabulary]);
    for (const [i, { key, value }] of present.entries()) {
      g.output(`present.${i}.key`, key, next);
      g.output(`present.${i}.value`, value, next);
    }
    return g.bytes();
  }
}

interface Turn {
  readonly cos: string;
  readonly sin: string;
}

/** Writes `config.json`, `generation_config.json` and `onnx/model*.onnx` of a shape. */
export function writeOnnxShape(folder: string, name: string, bits: Bits): void {
  mkdirSync(join(folder, "onnx"), { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(shapes[name]));
  writeFileSync(join(folder, "generation_config.json"), '{ "_from_model_config": true }');
  const bytes = new Model(decoderConfig(shapes[name]), bits).bytes();
  writeFileSync(join(folder, "onnx", `model${suffix[bits]}.onnx`), bytes);
}
