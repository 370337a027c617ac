/**
 * GGUF files: blocks against their definitions, files of others, vocabularies against the tokens of
 * llama.cpp, damage.
 */
import { readFileSync } from "node:fs";
import {
  bpeVocabulary,
  type GgufValue,
  ggufModel,
  readGguf,
  spmTokenizer,
  spmVocabulary,
} from "@kiln-ml/llm";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";
import { writeGguf } from "./gguf-text.ts";
import { areRefused } from "./refused.ts";

const little = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) % 256);
const text = (s: string): number[] => [...little(s.length, 8), ...new TextEncoder().encode(s)];

/** A file of one tensor `w` of a type, with nothing else in it. */
function file(type: number, count: number, data: readonly number[]): Uint8Array {
  const head = [
    ...new TextEncoder().encode("GGUF"),
    ...little(3, 4),
    ...little(1, 8),
    ...little(0, 8),
    ...text("w"),
    ...little(1, 4),
    ...little(count, 8),
    ...little(type, 4),
    ...little(0, 8),
  ];
  return Uint8Array.from([
    ...head,
    ...new Array<number>((32 - (head.length % 32)) % 32).fill(0),
    ...data,
  ]);
}

const valuesOf = (bytes: Uint8Array): number[] => {
  const { data } = readGguf(bytes).tensors.w!;
  return [...new Float32Array(data.buffer, data.byteOffset, data.byteLength / 4)];
};
const half = [0x00, 0x38]; // 0.5
const two = [0x00, 0x40]; // 2
const counted = (n: number): number[] => Array.from({ length: n }, (_, i) => (i * 37 + 11) % 256);

test("plain elements are read as they are", () => {
  assert.equal(valuesOf(file(0, 2, [0, 0, 128, 63, 0, 0, 0, 192])), [1, -2]);
  assert.equal(valuesOf(file(1, 3, [...half, ...two, 1, 0x80])), [0.5, 2, -(2 ** -24)]);
  assert.equal(valuesOf(file(30, 2, [0x80, 0x3f, 0x00, 0xc0])), [1, -2]);
});

test("Q4_0 is a scale and sixteen bytes, low halves first", () => {
  const q = counted(16);
  const wanted = [
    ...q.map((b) => ((b % 16) - 8) / 2),
    ...q.map((b) => (Math.floor(b / 16) - 8) / 2),
  ];
  assert.equal(valuesOf(file(2, 32, [...half, ...q])), wanted);
});

test("Q8_0 is a scale and signed bytes", () => {
  const q = counted(32);
  assert.equal(
    valuesOf(file(8, 32, [...half, ...q])),
    q.map((b) => (b < 128 ? b : b - 256) / 2),
  );
});

/** Bits `from` and on of a list of bytes. */
const bits = (b: number, from: number, count: number): number =>
  Math.floor(b / 2 ** from) % 2 ** count;

for (const [type, name] of [
  [12, "Q4_K"],
  [13, "Q5_K"],
] as const)
  test(`${name} is eight scales and minima of six bits, and groups of 32`, () => {
    const [packed, high, low] = [counted(12), counted(32).reverse(), counted(128)];
    const data = [...half, ...two, ...packed, ...(type === 13 ? high : []), ...low];
    const wanted = Array.from({ length: 256 }, (_, e) => {
      const [j, i] = [Math.floor(e / 32), e % 32];
      const p = (n: number): number => packed[n]!;
      const scale = j < 4 ? bits(p(j), 0, 6) : bits(p(j + 4), 0, 4) + 16 * bits(p(j - 4), 6, 2);
      const least = j < 4 ? bits(p(j + 4), 0, 6) : bits(p(j + 4), 4, 4) + 16 * bits(p(j), 6, 2);
      const q = bits(low[Math.floor(j / 2) * 32 + i]!, (j % 2) * 4, 4);
      const fifth = type === 13 ? bits(high[i]!, j, 1) : 0;
      return 0.5 * scale * (q + 16 * fifth) - 2 * least;
    });
    assert.equal(valuesOf(file(type, 256, data)), wanted);
  });

test("Q6_K is four low bits, two high ones and sixteen signed scales", () => {
  const [low, high, scales] = [counted(128), counted(64), counted(16)];
  const wanted = new Array<number>(256).fill(0);
  for (const h of [0, 1])
    for (let i = 0; i < 32; i++) {
      const [a, b, c] = [low[64 * h + i]!, low[64 * h + 32 + i]!, high[32 * h + i]!];
      const q = [bits(a, 0, 4), bits(b, 0, 4), bits(a, 4, 4), bits(b, 4, 4)];
      for (const [k, four] of q.entries()) {
        const s = scales[8 * h + 2 * k + Math.floor(i / 16)]!;
        const signed = s < 128 ? s : s - 256;
        wanted[128 * h + 32 * k + i] = 0.5 * signed * (four + 16 * bits(c, 2 * k, 2) - 32);
      }
    }
  assert.equal(valuesOf(file(14, 256, [...low, ...high, ...scales, ...half])), wanted);
});

const refused = (bytes: Uint8Array): string => {
  try {
    readGguf(bytes);
    return "";
  } catch (e) {
    return (e as Error).message;
  }
};

test("a damaged file says where", () => {
  const good = file(8, 32, [...half, ...counted(32)]);
  assert.is(refused(Uint8Array.of(1, 2, 3, 4)), "gguf: offset 0: this is no GGUF file");
  assert.is(
    refused(good.subarray(0, good.length - 1)),
    "gguf: offset 64: w takes 34 bytes, 33 are left",
  );
  assert.is(
    refused(file(8, 33, counted(40))),
    "gguf: offset 64: w has 33 elements, not a multiple of 32",
  );
  assert.is(
    refused(file(10, 256, counted(84))),
    "gguf: tensors have types that are not read: 10\n  read are F32 (0), F16 (1), Q4_0 (2), Q8_0 (8), Q4_K (12), Q5_K (13), Q6_K (14), BF16 (30)",
  );
  for (let n = 0; n < good.length; n++) assert.match(refused(good.subarray(0, n)), /^gguf: offset/);
});

test("tensors that share bytes or a name are refused, and names that fill a line", () => {
  const one = { name: "w", shape: [2], type: 0, data: new Uint8Array(8) };
  const bytes = writeGguf({ values: {}, tensors: [one, { ...one, name: "v" }] });
  const shared = bytes.slice();
  // The second tensor's offset, behind its name, rank, extent and type.
  const at = 24 + 2 * (8 + 1 + 4 + 8 + 4 + 8) - 8;
  assert.is(shared[at], 32);
  shared[at] = 4;
  assert.is(refused(shared), "gguf: offset 100: w and v overlap");
  const twice = writeGguf({ values: {}, tensors: [one, one] });
  assert.is(refused(twice), "gguf: offset 90: w is there twice");
  const long = writeGguf({ values: { ["k".repeat(201)]: 1 }, tensors: [] });
  assert.is(refused(long), "gguf: offset 233: a key has 201 characters");
  assert.is(
    refused(writeGguf({ values: { "general.alignment": 0.5 }, tensors: [] })),
    "gguf: offset 57: the alignment is 0.5",
  );
  const named = () => readGguf(bytes.subarray(0, 8), { file: "a.gguf" });
  assert.throws(named, /^a\.gguf: offset 8: the number of tensors takes 8 bytes, 0 are left$/);
});

const vocabulary = (more: Readonly<Record<string, GgufValue>>): Map<string, GgufValue> =>
  new Map(
    Object.entries({ model: "llama", tokens: ["a", "b"], scores: [0, 0], ...more }).map(
      ([name, value]) => [`tokenizer.ggml.${name}`, value],
    ),
  );
const end = "\n  take the file as its maker published it";
areRefused([
  [
    `spmVocabulary: tokenizer.ggml.tokens must be a list of texts, got 7${end}`,
    () => spmVocabulary(vocabulary({ tokens: 7 })),
  ],
  [
    `spmVocabulary: tokenizer.ggml.scores must be a list of 2 numbers, got a list of 1${end}`,
    () => spmVocabulary(vocabulary({ scores: [1] })),
  ],
  [
    `spmVocabulary: tokenizer.ggml.bos_token_id must be a token below 2, got 2${end}`,
    () => spmVocabulary(vocabulary({ bos_token_id: 2 })),
  ],
  [
    `bpeVocabulary: tokenizer.ggml.merges must be a list of texts, got absent${end}`,
    () => bpeVocabulary(vocabulary({ model: "gpt2" })),
  ],
  [
    "gguf: unknown architecture an object\n  known are llama, qwen2, qwen3",
    () => ggufModel({ metadata: new Map([["general.architecture", {} as never]]), tensors: {} }),
  ],
]);

for (const name of ["llama-spm", "phi-3"])
  dataTest(`${name}: tokens are those of llama.cpp`, "tokenizer-refs", (folder) => {
    const path = `${folder}/ggerganov+llama.cpp/models/ggml-vocab-${name}.gguf`;
    const { metadata } = readGguf(readFileSync(path));
    const { begin: _, ...rest } = spmVocabulary(metadata);
    const tokenizer = spmTokenizer(rest);
    // Behind the last mark is nothing.
    const texts = readFileSync(`${path}.inp`, "utf8").split("\n__ggml_vocab_test__\n").slice(0, -1);
    const lines = readFileSync(`${path}.out`, "utf8").split("\n");
    let count = 0;
    for (const [i, t] of texts.entries()) {
      const wanted = (lines[i] ?? "").trim().split(/\s+/).filter(Boolean).map(Number);
      assert.equal(tokenizer.encode(t), wanted, JSON.stringify(t));
      assert.is(tokenizer.decode(wanted), t);
      count++;
    }
    assert.is(count, 46);
  });

test.run();
