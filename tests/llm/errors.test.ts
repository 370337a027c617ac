/** What configs, sessions, prompts and options that do not fit are refused with, word for word. */
import { Decoder, decoderConfig, generate, generateTokens, TextSession } from "@kiln-ml/llm";
import { loadWeights } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { areRefused, type Refusal } from "./refused.ts";

const json = {
  model_type: "llama",
  vocab_size: 12,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 6,
};
const net = new Decoder(decoderConfig(json));
const session = new TextSession(net, { target: "js" });
const tokens = async (prompts: number[][], options = {}): Promise<void> => {
  for await (const _ of generateTokens(session, prompts, options));
};
const texts = async (size: number): Promise<void> => {
  const tokenizer = { size, encode: () => [1], decode: () => "" };
  for await (const _ of generate({ session, tokenizer }, "a"));
};

const cases: readonly Refusal[] = [
  [
    "config: takes the object of a config.json\n  parse the file: JSON.parse(text)",
    () => decoderConfig("{}"),
  ],
  [
    "config: unknown architecture mamba\n  known are llama, mistral, qwen2, qwen3, gemma, gemma2, gemma3_text, gpt2, phi, phi3, smollm3",
    () => decoderConfig({ ...json, model_type: "mamba" }),
  ],
  [
    "config: llama needs other values: vocab_size is 2147483648; num_hidden_layers is 1e+308\n  take the config.json that came with the weights",
    () => decoderConfig({ ...json, vocab_size: 2 ** 31, num_hidden_layers: 1e308 }),
  ],
  [
    'config: llama needs other values: vocab_size is absent; num_hidden_layers is "2"; num_key_value_heads is 3, which does not divide 2\n  take the config.json that came with the weights',
    () =>
      decoderConfig({
        ...json,
        vocab_size: undefined,
        num_hidden_layers: "2",
        num_key_value_heads: 3,
      }),
  ],
  [
    "config: unknown rope_scaling yarn\n  known are default, linear, llama3, longrope",
    () => decoderConfig({ ...json, rope_scaling: { type: "yarn", factor: 4 } }),
  ],
  [
    "config: factor of rope_scaling must be a number above 0, got absent\n  take the config.json that came with the weights",
    () => decoderConfig({ ...json, rope_scaling: { type: "linear" } }),
  ],
  [
    "config: rope_theta must be a number above 0, got -1\n  take the config.json that came with the weights",
    () => decoderConfig({ ...json, rope_theta: -1 }),
  ],
  [
    "config: short_factor and long_factor of rope_scaling differ in length: 1 and 2\n  take the config.json that came with the weights",
    () =>
      decoderConfig({
        ...json,
        rope_scaling: { type: "longrope", short_factor: [1], long_factor: [1, 2] },
      }),
  ],
  [
    'config: gpt2 needs other values: n_embd is absent; n_layer is 0; activation_function is "mish"; n_positions is absent; scale_attn_by_inverse_layer_idx is true, which is not built\n  take the config.json that came with the weights',
    () =>
      decoderConfig({
        model_type: "gpt2",
        vocab_size: 12,
        n_head: 1,
        n_layer: 0,
        n_inner: 8,
        activation_function: "mish",
        scale_attn_by_inverse_layer_idx: true,
      }),
  ],
  [
    "config: phi needs other values: partial_rotary_factor turns 1 of 4 elements, which is odd; tie_word_embeddings is true beside a bias of the head, which is not built\n  take the config.json that came with the weights",
    () =>
      decoderConfig({
        ...json,
        model_type: "phi",
        partial_rotary_factor: 0.25,
        tie_word_embeddings: true,
      }),
  ],
  [
    'config: qwen3 needs other values: layer_types has "linear_attention"\n  take the config.json that came with the weights',
    () => decoderConfig({ ...json, model_type: "qwen3", layer_types: ["linear_attention"] }),
  ],
  [
    "textSession: capacity 7 is beyond the 6 tokens that the model was made for\n  give a smaller capacity",
    () => new TextSession(net, { capacity: 7 }),
  ],
  [
    "textSession: batch must be an integer of 1 or more, got 0",
    () => new TextSession(net, { batch: 0 }),
  ],
  [
    "generate: the session is for 1 texts, got 2 prompts\n  make it with { batch: 2 }",
    () => tokens([[1], [2]]),
  ],
  [
    "generate: prompt 0 has no tokens\n  begin with the token that begins texts",
    () => tokens([[]]),
  ],
  [
    "generate: prompt 0 has 7 tokens, the session has room for 6\n  shorten it, or make the session with a larger capacity",
    () => tokens([[1, 2, 3, 4, 5, 6, 7]]),
  ],
  [
    "generate: prompt 0 has token 12, the model knows 12\n  take the tokenizer that came with the weights",
    () => tokens([[1, 12]]),
  ],
  ["generate: temperature must be 0 or more, got -1", () => tokens([[1]], { temperature: -1 })],
  [
    "generate: topK must be an integer from 1 to 12, the size of the vocabulary, got 13",
    () => tokens([[1]], { topK: 13 }),
  ],
  ["generate: topP must be above 0 and at most 1, got 0", () => tokens([[1]], { topP: 0 })],
  ["generate: minP must be from 0 to 1, got 2", () => tokens([[1]], { minP: 2 })],
  [
    "generate: repetitionPenalty must be above 0, got 0",
    () => tokens([[1]], { repetitionPenalty: 0 }),
  ],
  [
    "generate: the tokenizer knows 13 tokens, the model 12\n  take the tokenizer that came with the weights",
    () => texts(13),
  ],
  [
    "loadWeights: the file does not fit: missing model.embed_tokens.weight, model.layers.0.input_layernorm.weight, model.layers.0.self_attn.q_proj.weight, model.layers.0.self_attn.k_proj.weight and 8 more\n  pass { strict: false } to load the rest",
    () => loadWeights(net, {}),
  ],
];

areRefused(cases);

test("a text ends where the session has no more room", async () => {
  const small = new TextSession(net, { target: "js", capacity: 4 });
  const made: unknown[] = [];
  for await (const t of generateTokens(small, [[1, 2]])) made.push(t);
  // Two are written beside the prompt; the third is told and runs no more.
  assert.is(made.length, 3);
  await small.dispose();
});

test.run();
