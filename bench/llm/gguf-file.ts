/**
 * A shape's model as a GGUF file for peers: random weights of the size that training gives, as F32,
 * F16, Q8_0 or Q4_0, and a vocabulary of made-up pieces. Layout: github.com/ggml-org/ggml,
 * docs/gguf.md; blocks: ggml-common.h.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { Decoder, decoderConfig } from "@kiln-ml/llm";
import { ggufName } from "../../tests/llm/gguf-text.ts";
import { shapes } from "./shapes.ts";

export const formats = ["F32", "F16", "Q8_0", "Q4_0"] as const;
export type Format = (typeof formats)[number];

/** GGUF's numbers of the formats. */
const typeOf: Readonly<Record<Format, number>> = { F32: 0, F16: 1, Q8_0: 8, Q4_0: 2 };
const block = 32;

const u32 = (n: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
};
const u64 = (n: number): Buffer => Buffer.concat([u32(n % 2 ** 32), u32(Math.floor(n / 2 ** 32))]);
const text = (s: string): Buffer => Buffer.concat([u64(Buffer.byteLength(s)), Buffer.from(s)]);
const f32 = (x: number): Buffer => Buffer.from(Float32Array.of(x).buffer);

type Value =
  | string
  | number
  | { readonly f32: number }
  | readonly string[]
  | Float32Array
  | Int32Array;

function bytesOf(v: Value): Buffer {
  if (typeof v === "string") return Buffer.concat([u32(8), text(v)]);
  if (typeof v === "number") return Buffer.concat([u32(4), u32(v)]);
  if (v instanceof Float32Array || v instanceof Int32Array) {
    const kind = v instanceof Float32Array ? 6 : 5;
    return Buffer.concat([u32(9), u32(kind), u64(v.length), Buffer.from(v.buffer)]);
  }
  if ("f32" in v) return Buffer.concat([u32(6), f32(v.f32)]);
  return Buffer.concat([u32(9), u32(8), u64(v.length), ...v.map(text)]);
}

/** Halves of small numbers, cut off: the bits of f32 above the thirteenth, less the bias. */
export function halves(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, (b) => {
    const exponent = ((b >>> 23) & 255) - 112;
    return ((b >>> 16) & 0x8000) | (exponent <= 0 ? 0 : (exponent << 10) | ((b >>> 13) & 1023));
  });
}

/**
 * Blocks of 32 with a scale of 16 bits: bytes, or nibbles of which the first 16 are the low ones.
 */
function blocks(values: Float32Array, format: "Q8_0" | "Q4_0"): Uint8Array {
  const bytes = format === "Q8_0" ? 34 : 18;
  const out = new Uint8Array((values.length / block) * bytes);
  const scale = new Float32Array(1);
  for (let b = 0; b < values.length / block; b++) {
    const x = values.subarray(b * block, (b + 1) * block);
    const extreme = x.reduce((m, v) => (Math.abs(v) > Math.abs(m) ? v : m), 0);
    scale[0] = format === "Q8_0" ? Math.abs(extreme) / 127 : extreme / -8;
    const at = b * bytes;
    const [half] = halves(scale);
    out[at] = half! & 255;
    out[at + 1] = half! >> 8;
    const d = scale[0] || 1;
    const nibble = (v: number) => Math.max(0, Math.min(15, Math.floor(v / d + 8.5)));
    if (format === "Q8_0") for (let i = 0; i < block; i++) out[at + 2 + i] = Math.round(x[i]! / d);
    else for (let i = 0; i < 16; i++) out[at + 2 + i] = nibble(x[i]!) | (nibble(x[i + 16]!) << 4);
  }
  return out;
}

/** Norms stay f32; rows that are no whole blocks become halves, as llama.cpp's converter has it. */
function encoded(values: Float32Array, shape: readonly number[], format: Format) {
  if (shape.length === 1 || format === "F32")
    return { type: 0, data: new Uint8Array(values.buffer) };
  if (format === "F16" || shape[1]! % block) {
    return { type: 1, data: new Uint8Array(halves(values).buffer) };
  }
  return { type: typeOf[format], data: blocks(values, format) };
}

const rest = (n: number): number => (32 - (n % 32)) % 32;

/** After three special pieces one for each byte, which llama.cpp asks for. */
const isByte = (i: number): boolean => i >= 3 && i < 259;
const pieceOf = (i: number): string =>
  isByte(i) ? `<0x${(i - 3).toString(16).toUpperCase().padStart(2, "0")}>` : `t${i}`;

function metadata(name: string): readonly (readonly [string, Value])[] {
  const { width, hidden, layers, heads, kvHeads, context, vocabulary } = decoderConfig(
    shapes[name],
  );
  return [
    ["general.architecture", "llama"],
    ["llama.embedding_length", width],
    ["llama.feed_forward_length", hidden],
    ["llama.block_count", layers],
    ["llama.attention.head_count", heads],
    ["llama.attention.head_count_kv", kvHeads],
    ["llama.context_length", context],
    ["llama.attention.layer_norm_rms_epsilon", { f32: 1e-5 }],
    ["tokenizer.ggml.model", "llama"],
    ["tokenizer.ggml.tokens", Array.from({ length: vocabulary }, (_, i) => pieceOf(i))],
    ["tokenizer.ggml.scores", new Float32Array(vocabulary)],
    [
      "tokenizer.ggml.token_type",
      Int32Array.from({ length: vocabulary }, (_, i) => (i < 3 ? 3 : isByte(i) ? 6 : 1)),
    ],
    ["tokenizer.ggml.bos_token_id", 1],
    ["tokenizer.ggml.eos_token_id", 2],
  ];
}

/**
 * Writes the model; tensors one after the other, since a billion of numbers take a while and room.
 */
export function writeShape(path: string, name: string, format: Format): void {
  const config = decoderConfig(shapes[name]);
  const state = [...new Decoder(config, { empty: true }).state()];
  const tensors = state.map(([key, { shape }]) => [ggufName(key), shape as number[]] as const);
  const size = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);
  const entries = metadata(name);
  const head: Buffer[] = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) head.push(text(key), bytesOf(value));
  let offset = 0;
  for (const [key, shape] of tensors) {
    const { type, data } = encoded(new Float32Array(size(shape)), shape, format);
    head.push(
      text(key),
      u32(shape.length),
      ...[...shape].reverse().map(u64),
      u32(type),
      u64(offset),
    );
    offset += data.length + rest(data.length);
  }
  const file = openSync(path, "w");
  const start = Buffer.concat(head);
  writeSync(file, start);
  writeSync(file, Buffer.alloc(rest(start.length)));
  let seed = 1;
  for (const [, shape] of tensors) {
    const values = new Float32Array(size(shape));
    if (shape.length === 1) values.fill(1);
    else
      for (let i = 0; i < values.length; i++) {
        seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
        values[i] = (seed / 2 ** 31) * 0.04;
      }
    const { data } = encoded(values, shape, format);
    writeSync(file, data);
    writeSync(file, Buffer.alloc(rest(data.length)));
  }
  closeSync(file);
}
