/**
 * Tokens as a text that grows: the pieces are the text of all tokens, whatever spells them, and
 * take time by its length.
 */
import { readFileSync } from "node:fs";
import { jsonTokenizer, spmTokenizer, TextStream, type Tokenizer } from "@kiln-ml/llm";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";

const hex = (b: number): string => b.toString(16).toUpperCase().padStart(2, "0");
const bytePieces = Array.from({ length: 256 }, (_, b) => `<0x${hex(b)}>`);
const special = ["<unk>", "<s>", "</s>"];
const words = ["\u2581", "a", "\u2581b", "\u2581\u2581", "é", "\uFFFD", "🎉", "##c", "."];
const pieces = [...special, ...bytePieces, ...words];

const spm = spmTokenizer({
  pieces,
  scores: pieces.map(() => 0),
  kinds: pieces.map((_, i) => (i < 3 ? 3 : i < 259 ? 6 : 1)),
  begin: 1,
});

const json = (decoder: object): Promise<Tokenizer> =>
  jsonTokenizer({
    added_tokens: special.map((content, id) => ({ id, content, special: true })),
    model: {
      type: "BPE",
      unk_token: "<unk>",
      vocab: Object.fromEntries(pieces.map((p, i) => [p, i])),
      merges: [],
      byte_fallback: true,
    },
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder,
  });

/** What Llama's files say. */
const llama = await json({
  type: "Sequence",
  decoders: [
    { type: "Replace", pattern: { String: "\u2581" }, content: " " },
    { type: "ByteFallback" },
    { type: "Fuse" },
    { type: "Strip", content: " ", start: 1, stop: 0 },
  ],
});
const wordPiece = await json({ type: "WordPiece", prefix: "##", cleanup: false });

/** As tokenizers that spell each byte of an unfinished character by itself. */
const byByte: Tokenizer = {
  size: 256,
  encode: (text) => [...new TextEncoder().encode(text)],
  decode(tokens) {
    const bytes = Uint8Array.from(tokens);
    let [text, at] = ["", 0];
    while (at < bytes.length) {
      const size = [4, 3, 2, 1].find((n) => isCharacter(bytes.subarray(at, at + n), n));
      text += size ? new TextDecoder().decode(bytes.subarray(at, at + size)) : "\uFFFD";
      at += size ?? 1;
    }
    return text;
  },
};

function isCharacter(bytes: Uint8Array, n: number): boolean {
  if (bytes.length < n) return false;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return [...text].length === 1;
  } catch {
    return false;
  }
}

function streamed(tokenizer: Tokenizer, prompt: readonly number[], made: readonly number[]) {
  const stream = new TextStream(tokenizer, prompt);
  return made.map((t) => stream.push(t)).join("") + stream.end();
}

/** The law: pieces are what all tokens spell, less what the prompt does. */
function agrees(tokenizer: Tokenizer, token: fc.Arbitrary<number>): void {
  const list = (maxLength: number) => fc.array(token, { maxLength, size: "max" });
  fc.assert(
    fc.property(list(30), list(90), (prompt, made) => {
      const all = tokenizer.decode([...prompt, ...made]);
      const before = tokenizer.decode(prompt);
      const text = streamed(tokenizer, prompt, made);
      // Of a prompt that ends within a character, the character is told whole.
      if (all.startsWith(before)) assert.is(text, all.slice(before.length));
      else assert.ok(all.endsWith(text) && all.length - text.length < before.length);
    }),
    { numRuns: 300 },
  );
}

// Mostly bytes that begin or go on with characters, so that many are whole, many are not.
const byte = fc.constantFrom(
  ...[0x41, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xa9, 0xff, 0xef, 0xbb, 0xbf],
);
const token = fc.oneof(
  byte.map((b) => b + 3),
  fc.integer({ min: 0, max: pieces.length - 1 }),
  fc.integer({ min: 259, max: pieces.length - 1 }),
);

test("pieces are the text: SentencePiece's vocabulary with bytes", () => agrees(spm, token));
test("pieces are the text: a tokenizer.json of Llama's kind", () => agrees(llama, token));
test("pieces are the text: words in pieces", () => agrees(wordPiece, token));
test("pieces are the text: any characters, each byte of an unfinished one by itself", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 40 });
  fc.assert(
    fc.property(text, text, (prompt, made) => {
      assert.is(streamed(byByte, byByte.encode(prompt), byByte.encode(made)), made);
    }),
    { numRuns: 300 },
  );
});

dataTest("pieces are the text: GPT-2's pairs of bytes", "tokenizer-refs", async (folder) => {
  const path = `${folder}/robertknight+rten/rten-text/test-data/reftests/models/gpt2/tokenizer.json`;
  const gpt2 = await jsonTokenizer(JSON.parse(readFileSync(path, "utf8")));
  // The first 256 are bytes.
  agrees(gpt2, fc.oneof(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 50256 })));
});

test("a character is told when it is whole, and what cannot become one at once", () => {
  const stream = new TextStream(byByte);
  const bytes = byByte.encode("a🎉b");
  assert.equal(
    bytes.map((b) => stream.push(b)),
    ["a", "", "", "", "🎉", "b"],
  );
  const broken = new TextStream(spm);
  const told = [0xff, 0xff, 0xff, 0xff, 0xff].map((b) => broken.push(b + 3));
  assert.equal(told, ["", "", "", "\uFFFD", "\uFFFD"]);
  assert.is(broken.end(), "\uFFFD\uFFFD\uFFFD");
});

for (const [what, made] of [
  ["words", [261, 262, 260]],
  ["bytes of no character", [0xff + 3]],
  ["marks that are not spelled", [2]],
  ["marks after a byte", [0xe2 + 3, 2, 2, 2, 2, 2, 2, 2, 2, 2]],
] as const)
  test(`a text of ${what} takes time by its length`, () => {
    let decoded = 0;
    const counted: Tokenizer = {
      ...spm,
      decode(tokens) {
        decoded += tokens.length;
        return spm.decode(tokens);
      },
    };
    const stream = new TextStream(counted);
    for (let i = 0; i < 3000; i++) stream.push(made[i % made.length]!);
    assert.ok(decoded < 3000 * 40, `${decoded} tokens were decoded`);
  });

test.run();
