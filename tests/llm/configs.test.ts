/**
 * What a config.json says counts wherever it stands, what it leaves out has the meaning that its
 * makers gave it, and what is not built is refused and not left aside.
 */
import { decoderConfig, encoderConfig } from "@kiln-ml/llm";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rates } from "../../packages/llm/src/rotary.ts";
import { more } from "./made-up.ts";

const sizes = {
  vocab_size: 12,
  hidden_size: 32,
  intermediate_size: 8,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  max_position_embeddings: 64,
};
const configOf = (model_type: string, told: object = {}) =>
  decoderConfig({ ...sizes, model_type, ...told });

/** The line of the error. */
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (e) {
    return (e as Error).message.split("\n")[0]!;
  }
  return "";
};

for (const type of ["phi", "phi3", "llama"])
  test(`${type}: a head turns as far as rope_parameters say, as by the older place`, () => {
    const newer = { rope_theta: 500, rope_type: "default", partial_rotary_factor: 0.25 };
    const found = configOf(type, { rope_parameters: newer });
    assert.is(found.rotaryWidth, 4);
    assert.equal(found, configOf(type, { rope_theta: 500, partial_rotary_factor: 0.25 }));
  });

test("what is left out means what each architecture's makers say", () => {
  assert.is(configOf("phi").rotaryWidth, 8);
  assert.is(configOf("llama").rotaryWidth, 16);
  assert.is(configOf("mistral").window, 4096);
  const { window, attentionCap, logitCap, scale } = configOf("gemma2");
  assert.equal([window, attentionCap, logitCap, scale], [4096, 50, 30, 1 / 16]);
  const three = configOf("gemma3_text");
  assert.equal([three.theta, three.localTheta, three.window], [1e6, 1e4, 4096]);
  assert.is(configOf("smollm3").theta, 2e6);
  assert.is(configOf("qwen2", { use_sliding_window: true }).window, 4096);
  assert.is(configOf("qwen2").window, undefined);
});

test("null says that there is none", () => {
  const { window, attentionCap } = configOf("gemma2", {
    sliding_window: null,
    attn_logit_softcapping: null,
  });
  assert.equal([window, attentionCap], [undefined, undefined]);
  assert.is(configOf("mistral", { sliding_window: null }).window, undefined);
});

test("windows begin in the first layer where max_window_layers is 0", () => {
  const { local } = configOf("qwen3", { use_sliding_window: true, max_window_layers: 0 });
  assert.equal(local, [true, true]);
});

test("layers with a window are stretched as the file says of them, and not as others are", () => {
  const stretched = { rope_type: "linear", factor: 4, rope_theta: 1e4 };
  const plain = { rope_type: "default", rope_theta: 1e4 };
  const ratesOf = (full_attention: object, sliding_attention: object) => {
    const found = configOf("gemma3_text", {
      rope_parameters: { full_attention, sliding_attention },
    });
    return [false, true].map((isLocal) => [...rates(found, isLocal, 64)]);
  };
  const fast = rates(configOf("llama"), false, 64);
  const slower = rates(configOf("llama", { rope_scaling: stretched }), false, 64);
  assert.equal(ratesOf(stretched, plain), [[...slower], [...fast]]);
  assert.equal(ratesOf(plain, stretched), [[...fast], [...slower]]);
});

test("what stretches by no type, or is no object, is refused", () => {
  const told = (rope_scaling: unknown) => refusal(() => configOf("llama", { rope_scaling }));
  assert.is(told({ factor: 8 }), "config: unknown rope_scaling absent");
  assert.is(told("linear"), 'config: rope_scaling must be an object, got "linear"');
  assert.is(told([8]), "config: rope_scaling must be an object, got a list of 1");
});

test("attention that sees what comes, or does not where it should, is refused", () => {
  const told = (flags: object) => refusal(() => configOf("gemma3_text", flags));
  assert.match(
    told({ use_bidirectional_attention: true, is_causal: false }),
    /use_bidirectional_attention is true, .*; is_causal is false, which is not built/,
  );
  const { config } = more.encoders[0]!;
  const flags = { is_decoder: true, add_cross_attention: true };
  assert.match(
    refusal(() => encoderConfig({ ...config, ...flags })),
    /is_decoder is true, .*; add_cross_attention is true, which is not built/,
  );
});

test.run();
