/**
 * Readers of language models: GGUF files, what is made of their values, shards by an index, and
 * config.json.
 */
import fc from "fast-check";
import { writeSafetensors } from "../../packages/artifact/src/index.ts";
import { decoderConfig, ggufModel, readGguf } from "../../packages/llm/src/index.ts";
import { ggufTokenizer } from "../../packages/llm/src/node.ts";
import { shardsOf, tensorsOfShard } from "../../packages/llm/src/shards.ts";
import { checkSize } from "../../packages/llm/src/size.ts";
import { ggufName, writeGguf } from "../llm/gguf-text.ts";
import { modelFiles, smallTensors } from "../llm/small-model.ts";
import type { Random } from "../support/mutate.ts";
import { corpus } from "./corpus.ts";
import { bytesOf, little } from "./pickle-text.ts";
import type { FuzzReader } from "./readers.ts";
import type { Bytes } from "./structured.ts";

const fileName = "input.bin";
const blocks = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => i * 37);

/** A file whose tensors have every type that is read. */
const everyType = writeGguf({
  values: { "general.alignment": 32, a: "text", b: 0.5 },
  tensors: (
    [
      [0, 4, 16],
      [1, 4, 8],
      [2, 32, 18],
      [8, 32, 34],
      [12, 256, 144],
      [13, 256, 176],
      [14, 256, 210],
      [30, 4, 8],
    ] as const
  ).map(([type, count, size]) => ({ name: `t${type}`, shape: [count], type, data: blocks(size) })),
});

/** A decoder of one layer with a vocabulary of one of the two kinds. */
const decoder = (vocabulary: Readonly<Record<string, string | number | string[] | number[]>>) =>
  writeGguf({
    values: {
      "general.architecture": "llama",
      "llama.embedding_length": 8,
      "llama.feed_forward_length": 8,
      "llama.block_count": 1,
      "llama.attention.head_count": 2,
      "llama.context_length": 32,
      "llama.rope.scaling.type": "linear",
      "llama.rope.scaling.factor": 2.5,
      ...vocabulary,
    },
    tensors: Object.entries(smallTensors).map(([name, { shape, data }]) => ({
      name: ggufName(name),
      shape,
      type: 0,
      data,
    })),
  });

const pieces = ["<unk>", "<s>", "</s>", "a", "b"];
const spm = decoder({
  "tokenizer.ggml.model": "llama",
  "tokenizer.ggml.tokens": pieces,
  "tokenizer.ggml.scores": [0, 0, 0, -1, -2],
  "tokenizer.ggml.token_type": [2, 3, 3, 1, 1],
  "tokenizer.ggml.bos_token_id": 1,
  "tokenizer.ggml.eos_token_id": 2,
});
const bpe = decoder({
  "tokenizer.ggml.model": "gpt2",
  "tokenizer.ggml.pre": "llama-bpe",
  "tokenizer.ggml.tokens": [...pieces, "ab"],
  "tokenizer.ggml.merges": ["a b"],
});

const odd = fc.constantFrom(0, 1, 2, 3, 8, 9, 12, 255, 2 ** 16, 2 ** 31, 2 ** 32 - 1);
const size = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 20, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1.8e19) },
);
const long = (n: number): number[] => {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(n), true);
  return [...out];
};
const textOf = (text: string): number[] => [
  ...long(text.length),
  ...new TextEncoder().encode(text),
];
const keys = fc.constantFrom(
  "general.architecture",
  "general.alignment",
  "llama.block_count",
  "tokenizer.ggml.tokens",
  "__proto__",
  "",
  "k".repeat(3000),
);
const scalar = fc
  .tuple(odd, fc.uint8Array({ minLength: 0, maxLength: 12 }))
  .map(([t, b]) => [...little(t, 4), ...b]);
const list = fc
  .tuple(odd, size, fc.uint8Array({ maxLength: 24 }))
  .map(([t, n, b]) => [...little(9, 4), ...little(t, 4), ...long(n), ...b]);
const string = fc
  .constantFrom("llama", "qwen2", "x", "y".repeat(5000))
  .map((t) => [...little(8, 4), ...textOf(t)]);
const value = fc.tuple(keys, fc.oneof(scalar, list, string)).map(([k, v]) => [...textOf(k), ...v]);
const tensor = fc
  .tuple(
    fc.constantFrom("token_embd.weight", "blk.0.attn_q.weight", "w", "__proto__"),
    fc.array(size, { maxLength: 9 }),
    fc.constantFrom(0, 1, 2, 8, 12, 14, 30, 99),
    size,
  )
  .map(([name, shape, type, at]) => [
    ...textOf(name),
    ...little(shape.length, 4),
    ...shape.flatMap(long),
    ...little(type, 4),
    ...long(at),
  ]);
const ggufInputs: Bytes = fc
  .tuple(
    fc.array(value, { maxLength: 4 }),
    fc.array(tensor, { maxLength: 4 }),
    fc.option(size),
    fc.option(size),
    fc.uint8Array({ maxLength: 400 }),
  )
  .map(([values, tensors, valueCount, tensorCount, data]) =>
    bytesOf(
      "GGUF",
      little(3, 4),
      ...[
        ...long(tensorCount ?? tensors.length),
        ...long(valueCount ?? values.length),
        ...values.flat(),
        ...tensors.flat(),
      ],
      data,
    ),
  );

const index = "model.safetensors.index.json";
const shard = writeSafetensors(smallTensors);
const bundle = (json: Uint8Array, file: Uint8Array): Uint8Array =>
  bytesOf(little(json.length, 4), json, file);
const encode = (x: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(x));
const map = Object.fromEntries(Object.keys(smallTensors).map((n) => [n, "a.safetensors"]));

/** An index behind its length, then the shard that every name means. */
function readShards(bytes: Uint8Array): void {
  const length = Number(bytes[0]) + 256 * Number(bytes[1]);
  const json = parsed(bytes.subarray(4, 4 + length));
  for (const names of shardsOf(json, index).values())
    tensorsOfShard(bytes.subarray(4 + length), fileName, names, index);
}

/** What is no JSON is not these readers' matter: `{}` stands for it. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
}

const files = fc.constantFrom<unknown>("a", "../a", "C:\\a", "", "..", 7, null, ["a"], "a\0b");
const names = fc.constantFrom("model.norm.weight", "__proto__", "x", "n".repeat(3000));
const indexInputs: Bytes = fc
  .oneof(
    fc.array(fc.tuple(names, files), { maxLength: 5 }).map((l) => ({
      weight_map: Object.fromEntries(l),
    })),
    fc.constantFrom<unknown>({}, [], null, { weight_map: [] }, { weight_map: "x" }),
  )
  .map((json) => bundle(encode(json), shard));

const configs = [
  modelFiles["config.json"],
  '{"model_type":"gemma3_text","rope_parameters":{}}',
].map((t) => new TextEncoder().encode(t));
const configValue = fc.oneof(
  fc.constantFrom<unknown>(-1, 0, 0.5, 1e300, null, "x", [], {}, true, "y".repeat(3000)),
  fc.integer({ min: 1, max: 64 }),
);
const configInputs: Bytes = fc
  .record({
    model_type: fc.oneof(fc.constantFrom("llama", "gemma2", "__proto__"), configValue),
    hidden_size: configValue,
    num_attention_heads: configValue,
    num_hidden_layers: configValue,
    intermediate_size: configValue,
    vocab_size: configValue,
    max_position_embeddings: configValue,
    rope_scaling: fc.oneof(
      configValue,
      fc.record({
        rope_type: fc.constantFrom<unknown>("llama3", "linear", 7),
        factor: configValue,
      }),
    ),
    rope_parameters: fc.oneof(configValue, fc.record({ full_attention: configValue })),
    eos_token_id: configValue,
  })
  .map(encode);

/** A value of a config replaced. */
const withinJson = (
  file: Uint8Array,
  _: (b: Uint8Array) => Uint8Array,
  random: Random,
): Uint8Array => {
  const json = parsed(file) as Record<string, unknown>;
  const all = Object.keys(json);
  const values = [-1, 0.5, 1e300, 2 ** 53, "__proto__", [], {}, null, true, "2"];
  json[all[Math.floor(random() * all.length)]!] = values[Math.floor(random() * values.length)];
  return encode(json);
};

const micro = "gguf-safetensors-npy-micro";
const ggufFiles = () => [everyType, spm, bpe, ...corpus(/\.gguf$/, micro)];

export const languageModelReaders: readonly FuzzReader[] = [
  {
    name: "gguf",
    read: (bytes) => readGguf(bytes, { file: fileName }),
    files: ggufFiles,
    made: ggufInputs,
    refusal: /^input\.bin: (offset \d|tensors have types that are not read: \d)/,
  },
  {
    name: "gguf-model",
    async read(bytes) {
      const file = readGguf(bytes, { file: fileName });
      const { config, tensors } = ggufModel(file);
      checkSize(config, tensors, fileName);
      await ggufTokenizer(file);
    },
    files: () => [spm, bpe],
    made: ggufInputs,
    refusal: /^(input\.bin|gguf|config|loadModel|(spm|bpe)Vocabulary|(spm|json)Tokenizer): \S/,
  },
  {
    name: "shards",
    read: readShards,
    files: () => [bundle(encode({ weight_map: map }), shard)],
    made: indexInputs,
    refusal: /^(loadModel: (model\.safetensors\.index\.json|input\.bin lacks)|input\.bin: ) ?\S/,
  },
  {
    name: "model-config",
    read: (bytes) => decoderConfig(parsed(bytes)),
    files: () => configs,
    made: configInputs,
    within: withinJson,
    refusal: /^config: \S/,
  },
];
