/**
 * `@huggingface/transformers`: BERT, GPT-2 with its cache, ViT, CLIP and Whisper, of random weights;
 * `node transformers.mjs NAME`.
 */
import { mark, report, timed } from "./measure.mjs";

const name = process.argv[2];
const {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForSpeechSeq2Seq,
  env,
  Tensor,
} = await import("@huggingface/transformers");
env.allowRemoteModels = false;
env.localModelPath = new URL("models/", import.meta.url).pathname;
mark("importMs");

const ids = (length) => BigInt64Array.from({ length }, (_, i) => BigInt((i * 37 + 11) % 997));
const ones = (length) => new BigInt64Array(length).fill(1n);
const tokens = (batch, length) => ({
  input_ids: new Tensor("int64", ids(batch * length), [batch, length]),
  attention_mask: new Tensor("int64", ones(batch * length), [batch, length]),
});

const wave = (dims) => {
  const size = dims.reduce((a, b) => a * b, 1);
  return new Tensor(
    "float32",
    Float32Array.from({ length: size }, (_, i) => Math.sin(i * 0.37)),
    dims,
  );
};

/** Greedy steps of a decoder: the logits of all of them. */
async function transcribed(model, frames, steps) {
  const input_features = wave([1, 80, frames]);
  const values = [];
  let [decoder_input_ids, encoder_outputs, past_key_values] = [
    new Tensor("int64", BigInt64Array.of(1n, 7n), [1, 2]),
    null,
    null,
  ];
  for (let i = 0; i < steps; i++) {
    const feeds = { input_features, decoder_input_ids, encoder_outputs, past_key_values };
    const out = await model(feeds);
    ({ encoder_outputs, past_key_values } = out);
    const logits = Array.from(out.logits.data).slice(-1000);
    values.push(...logits);
    const best = logits.indexOf(Math.max(...logits));
    decoder_input_ids = new Tensor("int64", BigInt64Array.of(BigInt(best)), [1, 1]);
  }
  return values;
}

const programs = {
  async clip() {
    const model = await AutoModel.from_pretrained("clip", { dtype: "fp32" });
    mark("createMs");
    const ask = (texts, length, images) =>
      model({ ...tokens(texts, length), pixel_values: wave([images, 3, 96, 96]) });
    const values = [];
    for (const sizes of [
      [2, 8, 1],
      [3, 12, 2],
    ])
      for (const { data } of Object.values(await ask(...sizes))) values.push(...data);
    return { values, ...(await timed(() => ask(2, 8, 1))) };
  },
  async whisper() {
    const model = await AutoModelForSpeechSeq2Seq.from_pretrained("whisper", { dtype: "fp32" });
    mark("createMs");
    const values = [...(await transcribed(model, 200, 12)), ...(await transcribed(model, 300, 6))];
    const { firstMs, runMs } = await timed(() => transcribed(model, 200, 16), { times: 8 });
    return { values, firstMs, runMs: runMs / 16 };
  },
  async bert() {
    const model = await AutoModel.from_pretrained("bert", { dtype: "fp32" });
    mark("createMs");
    const values = [];
    for (const [batch, length] of [
      [1, 16],
      [2, 48],
      [1, 64],
    ]) {
      const types = new Tensor("int64", new BigInt64Array(batch * length), [batch, length]);
      const { last_hidden_state: y } = await model({
        ...tokens(batch, length),
        token_type_ids: types,
      });
      values.push(...y.data);
    }
    return { values, ...(await timed(() => model(tokens(1, 64)))) };
  },
  async gpt2() {
    const model = await AutoModelForCausalLM.from_pretrained("gpt2", { dtype: "fp32" });
    mark("createMs");
    const ask = (length, count) =>
      model.generate({ ...tokens(1, length), max_new_tokens: count, do_sample: false });
    const values = [];
    for (const length of [4, 9]) values.push(...Array.from((await ask(length, 24)).data, Number));
    const { logits } = await model(tokens(1, 12));
    values.push(...logits.data);
    const { firstMs, runMs } = await timed(() => ask(9, 24), { times: 8 });
    return { values, firstMs, runMs: runMs / 24 };
  },
  async vit() {
    const model = await AutoModelForImageClassification.from_pretrained("vit", { dtype: "fp32" });
    mark("createMs");
    const pixels = (batch) => wave([batch, 3, 96, 96]);
    const values = [];
    for (const batch of [1, 3])
      values.push(...(await model({ pixel_values: pixels(batch) })).logits.data);
    return { values, ...(await timed(() => model({ pixel_values: pixels(1) }))) };
  },
};

report(await programs[name]());
