/**
 * Tokenizers of a tokenizer.json, by `@huggingface/tokenizers`, which is loaded when the first one
 * is made.
 */
import { LanguageModelError } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";

/**
 * The tokenizer that a parsed tokenizer.json describes; `config` is the tokenizer_config.json
 * beside it. Decoding gives the text as it was, special tokens left out.
 *
 *     const tokenizer = await jsonTokenizer(JSON.parse(text));
 *
 * Rejects with LanguageModelError for what describes none.
 */
export async function jsonTokenizer(json: unknown, config: unknown = {}): Promise<Tokenizer> {
  const library = await import("@huggingface/tokenizers");
  const made = tried(() => new library.Tokenizer(json as object, (config ?? {}) as object));
  // Tokens that are added may lie beyond those of the model.
  const size = [...made.get_vocab(true).values()].reduce((a, b) => Math.max(a, b), -1) + 1;
  return {
    size,
    encode: (text, { formatted = false } = {}) =>
      made.encode(text, { add_special_tokens: !formatted }).ids,
    decode: (tokens) =>
      tokens.length === 0
        ? ""
        : made.decode([...tokens], {
            skip_special_tokens: true,
            // Texts grow token by token: what was given must not change.
            clean_up_tokenization_spaces: false,
          }),
  };
}

function tried<T>(make: () => T): T {
  try {
    return make();
  } catch (e) {
    throw new LanguageModelError(
      `jsonTokenizer: this describes no tokenizer: ${(e as Error).message}\n  give the object of a tokenizer.json`,
    );
  }
}
