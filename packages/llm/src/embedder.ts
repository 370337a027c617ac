/**
 * Texts as vectors: what an encoder or a decoder makes of their tokens, brought to one vector a
 * text.
 */
import { type CompiledFunction, compile, type TargetOption } from "kiln-ml";
import { checkOptions, iota, type OptionNames, select, type Tensor } from "kiln-ml/ir";
import { LanguageModelError, shown } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";

/** What makes a vector of each token. Tokens beyond the length of a text are padding. */
export interface TextEncoder {
  readonly config: {
    readonly vocabulary: number;
    readonly width: number;
    readonly context: number;
  };
  /** i32[B, T], i32[B] → f32[B, T, width]. */
  states(tokens: Tensor, lengths: Tensor): Tensor;
}

/** How tokens become one: their mean, the first, the last, or the greatest of each element. */
export type Pooling = "mean" | "cls" | "last" | "max";

export interface EmbedderOptions {
  /** Default "mean". */
  readonly pooling?: Pooling;
  /** Vectors of length 1, so that a product of two is the cosine between them; default true. */
  readonly normalize?: boolean;
  /** Longer texts are cut instead of refused; default false. */
  readonly truncate?: boolean;
  /** Texts at once, default 32. */
  readonly batch?: number;
  /** Where it runs; the default target if not given. */
  readonly target?: TargetOption;
}

const embedderOptions: OptionNames<EmbedderOptions> = {
  pooling: 1,
  normalize: 1,
  truncate: 1,
  batch: 1,
  target: 1,
};

const poolings: Readonly<Record<Pooling, (x: Tensor, lengths: Tensor) => Tensor>> = {
  mean: (x, lengths) =>
    select(within(x, lengths), x, 0).sum(1).div(lengths.convert("f32").expandDims(-1)),
  max: (x, lengths) => select(within(x, lengths), x, -Infinity).max(1),
  cls: (x) => x.slice([0, 0, 0], [x.shape[0]!, 1, x.shape[2]!]).squeeze(1),
  last: (x, lengths) =>
    select(iota(x.shape, 1).equal(lengths.sub(1).expandDims(-1).expandDims(-1)), x, 0).sum(1),
};

const within = (x: Tensor, lengths: Tensor): Tensor =>
  iota(x.shape, 1).less(lengths.expandDims(-1).expandDims(-1));

/**
 * Texts as vectors, compiled once for any number and length of texts.
 *
 *     const embedder = new Embedder(await loadEncoder("all-MiniLM-L6-v2"), { target: "wasm" });
 *     const [a, b] = await embedder.embed(["a cat", "a dog"]);
 */
export class Embedder {
  readonly net: TextEncoder;
  readonly tokenizer: Tokenizer;
  readonly #truncate: boolean;
  readonly #batch: number;
  readonly #program: CompiledFunction<[Tensor, Tensor], Tensor>;

  constructor(
    model: { readonly net: TextEncoder; readonly tokenizer: Tokenizer; readonly pooling?: Pooling },
    options: EmbedderOptions = {},
  ) {
    checkOptions("embedder", options, embedderOptions);
    const { net, tokenizer } = model;
    const { pooling = model.pooling ?? "mean", normalize = true, batch = 32, target } = options;
    if (!Object.hasOwn(poolings, pooling))
      throw new LanguageModelError(
        `embedder: unknown pooling ${shown(pooling)}\n  known are ${Object.keys(poolings).join(", ")}`,
      );
    if (!(Number.isInteger(batch) && batch > 0))
      throw new LanguageModelError(
        `embedder: batch must be an integer of 1 or more, got ${String(batch)}`,
      );
    if (tokenizer.size > net.config.vocabulary)
      throw new LanguageModelError(
        `embedder: the tokenizer knows ${tokenizer.size} tokens, the model ${net.config.vocabulary}\n  take the tokenizer that came with the weights`,
      );
    [this.net, this.tokenizer] = [net, tokenizer];
    [this.#truncate, this.#batch] = [options.truncate ?? false, batch];
    const of = (...shape: string[]) => ({ shape, dtype: "i32" as const });
    this.#program = compile(
      (tokens: Tensor, lengths: Tensor) => {
        const y = poolings[pooling](net.states(tokens, lengths), lengths);
        return normalize ? unit(y) : y;
      },
      { name: "embed", ...(target && { target }), inputs: [of("N", "T"), of("N")] },
    );
  }

  /**
   * A vector of `width` a text, in the order of the texts. `signal` ends it between two batches.
   * Rejects with LanguageModelError for a text beyond what the model was made for, unless texts are
   * cut, before any is run; with the signal's reason.
   */
  async embed(
    texts: readonly string[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Float32Array[]> {
    const { signal } = checkOptions("embed", options, { signal: 1 });
    signal?.throwIfAborted();
    const all = texts.map((text, i) => this.#tokensOf(text, i));
    // Texts of a length run together, since a batch is as long as its longest.
    const order = all.map((_, i) => i).sort((i, j) => all[i]!.length - all[j]!.length);
    const out: Float32Array[] = Array(texts.length);
    for (let at = 0; at < order.length; at += this.#batch) {
      signal?.throwIfAborted();
      const which = order.slice(at, at + this.#batch);
      const rows = await this.#run(which.map((i) => all[i]!));
      for (const [row, i] of which.entries()) out[i] = rows[row]!;
    }
    return out;
  }

  #tokensOf(text: string, i: number): readonly number[] {
    const { context } = this.net.config;
    const tokens = this.tokenizer.encode(text);
    if (tokens.length === 0)
      throw new LanguageModelError(`embed: text ${i} has no tokens\n  leave empty texts out`);
    if (tokens.length <= context) return tokens;
    if (this.#truncate) return [...tokens.slice(0, context - 1), tokens.at(-1)!];
    throw new LanguageModelError(
      `embed: text ${i} has ${tokens.length} tokens, the model was made for ${context}\n  split it, or pass { truncate: true }`,
    );
  }

  async #run(texts: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const length = Math.max(...texts.map((t) => t.length));
    const data = new Int32Array(texts.length * length);
    for (const [b, text] of texts.entries()) data.set(text, b * length);
    const shaped = { data, shape: [texts.length, length] };
    const lengths = Int32Array.from(texts, (t) => t.length);
    const y = (await (await this.#program(shaped, lengths)).data()) as Float32Array;
    const { width } = this.net.config;
    return texts.map((_, b) => y.slice(b * width, (b + 1) * width));
  }

  /** Gives back what its program takes. */
  async dispose(): Promise<void> {
    await this.#program.dispose();
  }
}

/** x / max(|x|, 1e-12) over the last axis. */
const unit = (x: Tensor): Tensor =>
  x.div(x.square().sum([-1], { keepDims: true }).sqrt().maximum(1e-12));
