/** The lists of a GGUF file's vocabulary: what is none of what they must be is refused. */
import { LanguageModelError, shown } from "./errors.ts";
import type { GgufValue } from "./gguf.ts";

/** Values under `tokenizer.ggml.`; errors begin with what reads them. */
export class VocabularyValues {
  readonly #where: string;
  readonly #metadata: ReadonlyMap<string, GgufValue>;

  constructor(where: string, metadata: ReadonlyMap<string, GgufValue>) {
    this.#where = where;
    this.#metadata = metadata;
  }

  #fail(name: string, wanted: string): never {
    const value = this.#metadata.get(`tokenizer.ggml.${name}`);
    throw new LanguageModelError(
      `${this.#where}: tokenizer.ggml.${name} must be ${wanted}, got ${shown(value)}\n  take the file as its maker published it`,
    );
  }

  texts(name: string): readonly string[] {
    const value = this.#metadata.get(`tokenizer.ggml.${name}`);
    if (Array.isArray(value) && value.every((v) => typeof v === "string"))
      return value as readonly string[];
    return this.#fail(name, "a list of texts");
  }

  /** One number a token; undefined if the file has none. */
  numbers(name: string, count: number): readonly number[] | undefined {
    const value = this.#metadata.get(`tokenizer.ggml.${name}`);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length === count && value.every((v) => typeof v === "number"))
      return value as readonly number[];
    return this.#fail(name, `a list of ${count} numbers`);
  }

  /** A token by its number; undefined if the file names none. */
  token(name: string, count: number): number | undefined {
    const value = this.#metadata.get(`tokenizer.ggml.${name}`);
    if (value === undefined) return undefined;
    const token = typeof value === "number" || typeof value === "bigint" ? Number(value) : -1;
    return token >= 0 && token < count ? token : this.#fail(name, `a token below ${count}`);
  }
}
