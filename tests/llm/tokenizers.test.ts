/**
 * Tokenizers of tokenizer.json and of GGUF's vocabularies against the tokens of their own makers;
 * conversations by templates.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { bpeVocabulary, chatTemplate, jsonTokenizer, readGguf, spmTokenizer } from "@kiln-ml/llm";
import { ggufTokenizer } from "@kiln-ml/llm/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";
import { areRefused, type Refusal } from "./refused.ts";

const tests = "robertknight+rten/rten-text/test-data/reftests";

/** What a page of text is, by the tokenizer that a model was made with. */
function reference(folder: string, name: string): { text: string; tokens: number[] } {
  const { input_file, token_ids } = JSON.parse(
    readFileSync(`${folder}/${tests}/${name}.json`, "utf8"),
  );
  return {
    text: readFileSync(`${folder}/${tests}/${basename(input_file)}`, "utf8"),
    tokens: token_ids,
  };
}

dataTest("tokens of GPT-2's tokenizer.json are GPT-2's", "tokenizer-refs", async (folder) => {
  const path = `${folder}/${tests}/models/gpt2/tokenizer.json`;
  const tokenizer = await jsonTokenizer(JSON.parse(readFileSync(path, "utf8")));
  const { text, tokens } = reference(folder, "monty-python-credits-gpt2");
  assert.is(tokenizer.size, 50257);
  assert.is(tokens.length, 1148);
  assert.equal(tokenizer.encode(text), tokens);
  assert.is(tokenizer.decode(tokens), text);
  assert.is(tokenizer.decode([]), "");
});

for (const [pages, kind] of [
  [["Metal_umlaut", "monty-python-credits", "Rust_(programming_language)"], "uncased"],
  [["Rust_(programming_language)"], "cased"],
] as const)
  dataTest(`tokens of BERT's ${kind} words are BERT's`, "tokenizer-refs", async (folder) => {
    const words = readFileSync(`${folder}/${tests}/models/bert-base-${kind}/vocab.txt`, "utf8");
    const tokenizer = await jsonTokenizer(bert(words.trimEnd().split("\n"), kind === "uncased"));
    let count = 0;
    for (const page of pages) {
      const { text, tokens } = reference(folder, `${page}-bert-base-${kind}`);
      assert.equal(tokenizer.encode(text), tokens, page);
      count += tokens.length;
    }
    assert.is(count, kind === "cased" ? 5959 : 8299);
  });

/** The tokenizer.json of a list of words. */
function bert(words: readonly string[], lowercase: boolean): object {
  const ids = Object.fromEntries(words.map((w, i) => [w, i]));
  return {
    added_tokens: [],
    normalizer: { type: "BertNormalizer", clean_text: true, strip_accents: null, lowercase },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "BertProcessing",
      sep: ["[SEP]", ids["[SEP]"]],
      cls: ["[CLS]", ids["[CLS]"]],
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: ids,
    },
  };
}

dataTest("tokens of a GGUF vocabulary of GPT-2's kind are llama.cpp's", "tokenizer-refs", (f) =>
  agreesWithLlamaCpp(`${f}/ggerganov+llama.cpp/models/ggml-vocab-gpt-2.gguf`),
);

async function agreesWithLlamaCpp(path: string): Promise<void> {
  const tokenizer = await ggufTokenizer(readGguf(readFileSync(path)));
  const texts = readFileSync(`${path}.inp`, "utf8").split("\n__ggml_vocab_test__\n").slice(0, -1);
  const lines = readFileSync(`${path}.out`, "utf8").split("\n");
  assert.is(texts.length, 46);
  for (const [i, text] of texts.entries()) {
    const wanted = (lines[i] ?? "").trim().split(/\s+/).filter(Boolean).map(Number);
    assert.equal(tokenizer.encode(text), wanted, JSON.stringify(text));
    assert.is(tokenizer.decode(wanted), text);
  }
}

const spm = spmTokenizer({
  pieces: ["<unk>", "<s>", "</s>", "<|user|>", "\u2581", "a", "b", "ab", "aba", "\u2581a", "aa"],
  scores: [0, 0, 0, 0, -1, -2, -3, -4, -5, -6, -4],
  kinds: [2, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1],
  begin: 1,
});

test("the best pair is joined first, the leftmost of equal ones", () => {
  // aa and ab are as good, aa is further left.
  assert.equal(spm.encode("aab"), [1, 4, 10, 6]);
  // What ab and a make, aba, is worse than aa.
  assert.equal(spm.encode("abaa"), [1, 4, 7, 10]);
  assert.equal(spm.encode(""), [1]);
});

test("special tokens are read in a formatted text alone", () => {
  assert.equal(spm.encode("<s><|user|>ab</s>", { formatted: true }), [1, 3, 4, 7, 2]);
  assert.not.ok(spm.encode("<|user|>").includes(3));
});

test("a long text takes time by its length", () => {
  const before = performance.now();
  assert.is(spm.encode("ab".repeat(50_000)).length, 50_002);
  // Each join looked at all others before: minutes.
  assert.ok(performance.now() - before < 10_000);
});

test("a conversation is what the template makes of it", async () => {
  const chat = await chatTemplate(
    "{% for m in messages %}{{ bos_token }}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
    { bos_token: "<s>" },
  );
  assert.is(
    chat([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi" },
    ]),
    "<s><|user|>Hello\n<s><|assistant|>Hi\n<|assistant|>",
  );
});

const cases: readonly Refusal[] = [
  [
    'jsonTokenizer: this describes no tokenizer: Tokenizer must contain a "model" property\n  give the object of a tokenizer.json',
    () => jsonTokenizer({ decoder: null }),
  ],
  [
    "jsonTokenizer: this describes no tokenizer: Tokenizer must be a valid object\n  give the object of a tokenizer.json",
    () => jsonTokenizer(null),
  ],
  [
    "chatTemplate: the model's template refuses the conversation: no systems here",
    async () =>
      (await chatTemplate("{{ raise_exception('no systems here') }}"))([
        { role: "system", content: "" },
      ]),
  ],
  [
    "bpeVocabulary: the file's tokenizer is bert, not gpt2\n  take a tokenizer of that kind: generate takes any that encodes and decodes",
    () => bpeVocabulary(new Map([["tokenizer.ggml.model", "bert"]])),
  ],
  [
    "bpeVocabulary: unknown split of texts tekken\n  known are gpt-2, qwen2, llama-bpe",
    () =>
      bpeVocabulary(
        new Map([
          ["tokenizer.ggml.model", "gpt2"],
          ["tokenizer.ggml.pre", "tekken"],
        ]),
      ),
  ],
];

areRefused(cases);

test.run();
