/**
 * Language models with matrices of few bits: blocks of GGUF files stay as they are and give what
 * their floats give, others are quantized when they are loaded; decoding runs on js and wasm.
 */
import { generateTokens, openModelFiles, readGguf, TextSession } from "@kiln-ml/llm";
import { assign, nn, quantized, quantizedOf, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { ggufName, writeGguf } from "./gguf-text.ts";

const byte = (i: number): number => (Math.imul(i + 1, 0x9e3779b1) >>> 24) & 255;
/** Scales stand first in a block of these, as halves near 0.01. */
const blocks = { 2: 18, 8: 34, 12: 144, 13: 176 } as const;
type Type = keyof typeof blocks;

function blockBytes(type: Type, count: number): Uint8Array {
  const size = blocks[type];
  const bytes = Uint8Array.from({ length: count * size }, (_, i) => byte(i));
  for (let b = 0; b < count; b++)
    for (const at of type === 12 || type === 13 ? [0, 2] : [0])
      bytes.set([0x1f, 0x21], b * size + at);
  return bytes;
}

for (const [type, name] of [
  [2, "Q4_0"],
  [8, "Q8_0"],
  [12, "Q4_K"],
  [13, "Q5_K"],
] as const)
  test(`${name} that stays in blocks is what its floats are`, async () => {
    const each = type === 2 || type === 8 ? 32 : 256;
    const data = blockBytes(type, (3 * 512) / each);
    const bytes = writeGguf({ values: {}, tensors: [{ name: "w", shape: [3, 512], type, data }] });
    const floats = readGguf(bytes).tensors.w!.data;
    const { tensors, packed } = readGguf(bytes, { packed: /^w$/ });
    assert.not.ok("w" in tensors);
    const { words, scales, offsets, bits } = packed!.w!;
    const u32 = new Uint32Array(words.data.buffer);
    const f32 = (c: typeof scales) => tensor(new Float32Array(c.data.buffer), { shape: c.shape });
    const parts = {
      words: tensor(u32, { shape: words.shape, dtype: "u32" }),
      scales: f32(scales),
      offsets: offsets && f32(offsets),
    };
    const got = await quantizedOf(parts, { bits }, 512).dequantize().data();
    for (const [i, w] of new Float32Array(floats.buffer).entries())
      assert.ok(Math.abs(Number(got[i]) - w) <= 1e-5 * (1 + Math.abs(w)), `${got[i]} is not ${w}`);
  });

/** A Llama of one layer whose matrices are in blocks of a type. */
function smallGguf(type: 2 | 8) {
  const [width, hidden] = [32, 64];
  const pieces = ["<unk>", "<s>", "</s>", "a", "b", "c", "d", "e"];
  const floats = (...shape: number[]) => {
    const count = shape.reduce((a, b) => a * b, 1);
    const values = Float32Array.from({ length: count }, (_, i) => Math.sin(7.1 * (i + 1)));
    return { shape, type: 0, data: new Uint8Array(values.buffer) };
  };
  const matrix = (...shape: [number, number]) => {
    return { shape, type, data: blockBytes(type, (shape[0] * shape[1]) / 32) };
  };
  const layer = "model.layers.0";
  const tensors = {
    "model.embed_tokens.weight": floats(8, width),
    [`${layer}.input_layernorm.weight`]: floats(width),
    [`${layer}.self_attn.q_proj.weight`]: matrix(width, width),
    [`${layer}.self_attn.k_proj.weight`]: matrix(width, width),
    [`${layer}.self_attn.v_proj.weight`]: matrix(width, width),
    [`${layer}.self_attn.o_proj.weight`]: matrix(width, width),
    [`${layer}.post_attention_layernorm.weight`]: floats(width),
    [`${layer}.mlp.gate_proj.weight`]: matrix(hidden, width),
    [`${layer}.mlp.up_proj.weight`]: matrix(hidden, width),
    [`${layer}.mlp.down_proj.weight`]: matrix(width, hidden),
    "model.norm.weight": floats(width),
  };
  const bytes = writeGguf({
    values: {
      "general.architecture": "llama",
      "llama.embedding_length": width,
      "llama.feed_forward_length": hidden,
      "llama.block_count": 1,
      "llama.attention.head_count": 2,
      "llama.attention.head_count_kv": 2,
      "llama.context_length": 64,
      "llama.attention.layer_norm_rms_epsilon": 1e-5,
      "tokenizer.ggml.model": "llama",
      "tokenizer.ggml.tokens": pieces,
      "tokenizer.ggml.scores": pieces.map((_, i) => -i - 0.5),
      "tokenizer.ggml.token_type": pieces.map((_, i) => (i < 3 ? 3 : 1)),
      "tokenizer.ggml.bos_token_id": 1,
      "tokenizer.ggml.eos_token_id": 2,
    },
    tensors: Object.entries(tensors).map(([name, t]) => ({ name: ggufName(name), ...t })),
  });
  return { name: "small", names: new Set(["small.gguf"]), read: async () => bytes };
}

const prompt = [1, 3, 5, 4];

async function told(
  options: Parameters<typeof openModelFiles>[1],
  type: 2 | 8,
  target: "js" | "wasm",
): Promise<{ tokens: number[]; scores: number[]; bits: number | undefined }> {
  const { net } = await openModelFiles(smallGguf(type), options);
  const scores = [...(await net.forward(tensor([prompt], { dtype: "i32" })).data())].map(Number);
  const { quantized } = net.model.layers[0]!.self_attn.o_proj;
  const session = new TextSession(net, { target });
  const tokens: number[] = [];
  for await (const [t] of generateTokens(session, [prompt], { maxTokens: 6, ends: [] } as never))
    tokens.push(t as number);
  await session.dispose();
  return { tokens, scores, bits: quantized?.options.bits };
}

const near = (a: readonly number[], b: readonly number[], by: number): void => {
  const most = Math.max(...b.map(Math.abs));
  for (const [i, v] of b.entries())
    assert.ok(Math.abs(a[i]! - v) <= by * most, `${a[i]} is not ${v} at ${i}`);
};

for (const [type, bits] of [
  [2, 4],
  [8, 8],
] as const)
  test(`a GGUF file of ${bits} bits decodes in its blocks as in floats`, async () => {
    const floats = await told({ weights: "f32" }, type, "js");
    assert.is(floats.bits, undefined);
    for (const target of ["js", "wasm"] as const) {
      const kept = await told({}, type, target);
      assert.is(kept.bits, bits);
      near(kept.scores, floats.scores, 1e-4);
      assert.equal(kept.tokens, floats.tokens);
    }
    const eight = await told({ activations: "i8" }, type, "wasm");
    near(eight.scores, floats.scores, 0.1);
  });

test("matrices that are quantized when a model is loaded are what they stand for", async () => {
  for (const [weights, bits] of [
    ["int8", 8],
    ["int4", 4],
  ] as const) {
    const { net } = await openModelFiles(smallGguf(8), { weights: "f32" });
    for (const layer of net.modules().values())
      if (layer instanceof nn.Linear)
        assign(layer.weight, quantized(layer.weight, { bits }).dequantize());
    const want = await net.forward(tensor([prompt], { dtype: "i32" })).data();
    const found = await told({ weights }, 8, "wasm");
    assert.is(found.bits, bits);
    near(found.scores, [...want].map(Number), 1e-4);
  }
});

test("weights and activations that are not known are refused by name", async () => {
  for (const [options, message] of [
    [{ weights: "int3" }, /loadModel: weights int3 are not known/],
    [
      { weights: "f16", activations: "i8" },
      /loadModel: activations i8 meet quantized weights, and these are f16/,
    ],
    [{ activations: "i4" }, /loadModel: activations i4 are not known/],
  ] as const) {
    let found = "";
    await openModelFiles(smallGguf(8), options as never).catch((e: Error) => {
      found = e.message;
    });
    assert.match(found, message);
  }
});

test.run();
