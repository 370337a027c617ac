/**
 * The vocabulary of a GGUF file of GPT-2's kind, as the tokenizer.json that it was converted from:
 * pairs of bytes are joined in the order of the merges.
 */
import { LanguageModelError, named } from "./errors.ts";
import type { GgufValue } from "./gguf.ts";
import { VocabularyValues } from "./vocabulary-values.ts";

/** How texts are split before pairs are joined, by the names that GGUF has for it. */
const digits = (most: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${most}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
const byteLevel = (use_regex: boolean): object => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex,
});
const splitBy = (Regex: string): object => ({
  type: "Sequence",
  pretokenizers: [
    { type: "Split", pattern: { Regex }, behavior: "Isolated", invert: false },
    byteLevel(false),
  ],
});
const splits: Readonly<Record<string, object>> = {
  "gpt-2": byteLevel(true),
  qwen2: splitBy(digits("")),
  "llama-bpe": splitBy(digits("{1,3}")),
};

/**
 * What `jsonTokenizer` takes. Throws LanguageModelError for another kind, and for a split that is
 * not known.
 */
export function bpeVocabulary(metadata: ReadonlyMap<string, GgufValue>): object {
  const get = (name: string) => metadata.get(`tokenizer.ggml.${name}`);
  if (get("model") !== "gpt2")
    throw new LanguageModelError(
      `bpeVocabulary: the file's tokenizer is ${named(get("model"))}, not gpt2\n  take a tokenizer of that kind: generate takes any that encodes and decodes`,
    );
  const told = get("pre") ?? "gpt-2";
  const pre = typeof told === "string" ? told : "";
  if (!Object.hasOwn(splits, pre))
    throw new LanguageModelError(
      `bpeVocabulary: unknown split of texts ${named(told)}\n  known are ${Object.keys(splits).join(", ")}`,
    );
  const values = new VocabularyValues("bpeVocabulary", metadata);
  const pieces = values.texts("tokens");
  const kinds = values.numbers("token_type", pieces.length) ?? [];
  const begin =
    get("add_bos_token") === true ? values.token("bos_token_id", pieces.length) : undefined;
  return {
    version: "1.0",
    added_tokens: pieces.flatMap((content, id) => (kinds[id] === 3 ? [special(id, content)] : [])),
    normalizer: null,
    pre_tokenizer: splits[pre],
    post_processor: begin === undefined ? null : beginning(pieces[begin]!, begin),
    decoder: byteLevel(true),
    model: {
      type: "BPE",
      vocab: Object.fromEntries(pieces.map((p, id) => [p, id])),
      merges: values.texts("merges"),
      ignore_merges: pre === "llama-bpe",
    },
  };
}

const special = (id: number, content: string): object => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});

const beginning = (token: string, id: number): object => ({
  type: "TemplateProcessing",
  single: [{ SpecialToken: { id: token, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
  pair: [],
  special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
});
