/**
 * Attention in several heads, with projections of its own; of keys and values of other widths, in
 * fewer heads, and beside a cache.
 */
import {
  checkOptions,
  concat,
  type Dim,
  GraphError,
  type OptionNames,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { type AttentionOptions, attend, attentionOptions } from "./attention.ts";
import { Dropout } from "./dropout.ts";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, checkRank, checkWithin } from "./parameter.ts";

export interface MultiHeadAttentionOptions {
  /** Biases of the projections; true by default. */
  readonly bias?: boolean;
  /** Rate of dropout of the weights in training, default 0. */
  readonly dropout?: number;
  /**
   * Heads of keys and values, each of which serves heads / kvHeads queries; as many as heads by
   * default.
   */
  readonly kvHeads?: number;
  /** The width of keys, `width` by default. */
  readonly keyWidth?: number;
  /** The width of values, `width` by default. */
  readonly valueWidth?: number;
}

const multiHeadOptions: OptionNames<MultiHeadAttentionOptions> = {
  bias: 1,
  dropout: 1,
  kvHeads: 1,
  keyWidth: 1,
  valueWidth: 1,
};

export interface MultiHeadInputs extends AttentionOptions {
  readonly key?: Tensor;
  readonly value?: Tensor;
}

const multiHeadInputs: OptionNames<MultiHeadInputs> = { ...attentionOptions, key: 1, value: 1 };

/** Keys and values of steps that are past, each f32[B, kvHeads, P, width / heads]. */
export interface KeyValueCache {
  readonly key: Tensor;
  readonly value: Tensor;
}

/**
 * Attention in `heads` parts of the width, each with its own projections, joined and projected once
 * more.
 *
 * x: f32[B, T, width] (and key, value f32[B, S, width], x by default) → f32[B, T, width]. By
 * default with biases, no dropout, as many heads of keys. Throws ShapeError if `heads` does not
 * divide `width`, or `kvHeads` not `heads`. Vaswani et al. 2017, section 3.2.2; heads that share
 * keys are those of Ainslie et al. 2023. `torch.nn.MultiheadAttention`.
 *
 * @example
 *   const attention = new nn.MultiHeadAttention(64, 8, { kvHeads: 2 });
 *   attention.forward(ones([1, 5, 64]), { causal: true }).shape // [1, 5, 64]
 */
export class MultiHeadAttention extends Module {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly out: Linear;
  readonly drop: Dropout | undefined;
  readonly width: number;
  readonly heads: number;
  readonly kvHeads: number;

  constructor(width: number, heads: number, options: MultiHeadAttentionOptions = {}) {
    super([width, heads, options]);
    const op = "multiHeadAttention";
    const {
      dropout = 0,
      kvHeads = heads,
      keyWidth = width,
      valueWidth = width,
      ...linear
    } = checkOptions(op, options, multiHeadOptions);
    checkCount(op, "width", width);
    checkCount(op, "heads", heads);
    checkCount(op, "kvHeads", kvHeads);
    checkWithin(op, "dropout", dropout, 0, 1);
    if (width % heads)
      throw new ShapeError(
        `multiHeadAttention: width ${width} is not a multiple of heads ${heads}`,
      );
    if (heads % kvHeads)
      throw new ShapeError(
        `multiHeadAttention: heads ${heads} are not a multiple of kvHeads ${kvHeads}`,
      );
    this.width = width;
    this.heads = heads;
    this.kvHeads = kvHeads;
    const shared = (width / heads) * kvHeads;
    this.query = new Linear(width, width, linear);
    this.key = new Linear(keyWidth, shared, linear);
    this.value = new Linear(valueWidth, shared, linear);
    this.out = new Linear(width, width, linear);
    if (dropout > 0) this.drop = new Dropout(dropout);
  }

  override forward(x: Tensor, options: MultiHeadInputs = {}): Tensor {
    const {
      key = x,
      value = key,
      ...rest
    } = checkOptions("multiHeadAttention", options, multiHeadInputs);
    if (options.value && !options.key)
      throw new GraphError("multiHeadAttention: value is given without key");
    this.check(x, key, value);
    const shared = this.keysOf(key, value);
    return this.joined(x, shared, rest);
  }

  /**
   * Attention of x to what is past and to itself, causal from the end: y and the cache with the
   * keys and values of x after those before.
   *
   * x: f32[B, T, width]; without `past` x is the beginning. T and the length of the cache may be
   * symbols.
   */
  step(x: Tensor, past?: KeyValueCache): { readonly y: Tensor; readonly cache: KeyValueCache } {
    this.check(x, x, x);
    const now = this.keysOf(x, x);
    const cache = past
      ? { key: concat([past.key, now.key], 2), value: concat([past.value, now.value], 2) }
      : now;
    return { y: this.joined(x, cache, { causal: "end" }), cache };
  }

  private check(x: Tensor, key: Tensor, value: Tensor): void {
    const widths = [this.width, this.key.inputs, this.value.inputs];
    for (const [i, t] of [x, key, value].entries()) {
      checkRank("multiHeadAttention", t, 3);
      checkExtent("multiHeadAttention", t, -1, widths[i]!, "widths");
    }
  }

  private keysOf(key: Tensor, value: Tensor): KeyValueCache {
    return {
      key: this.split(this.key.forward(key), this.kvHeads),
      value: this.split(this.value.forward(value), this.kvHeads),
    };
  }

  private joined(x: Tensor, { key, value }: KeyValueCache, options: AttentionOptions): Tensor {
    const { drop } = this;
    const joined = attend(
      this.split(this.query.forward(x), this.heads),
      this.shared(key),
      this.shared(value),
      options,
      (weights) => drop?.forward(weights) ?? weights,
    );
    const [batch, length] = x.shape as [Dim, Dim];
    return this.out.forward(joined.transpose([0, 2, 1, 3]).reshape([batch, length, this.width]));
  }

  /** Each head of keys as often as queries share it. */
  private shared(t: Tensor): Tensor {
    const group = this.heads / this.kvHeads;
    if (group === 1) return t;
    const [batch, heads, length, width] = t.shape as [Dim, Dim, Dim, Dim];
    return t
      .expandDims(2)
      .broadcastTo([batch, heads, group, length, width])
      .reshape([batch, this.heads, length, width]);
  }

  /** [B, T, heads·d] → [B, heads, T, d]. */
  private split(x: Tensor, heads: number): Tensor {
    const [batch, length] = x.shape as [Dim, Dim];
    return x.reshape([batch, length, heads, this.width / this.heads]).transpose([0, 2, 1, 3]);
  }

  override describe(): string {
    const shared = this.kvHeads === this.heads ? "" : `, ${this.kvHeads} of keys`;
    return `${this.width}, ${this.heads} heads${shared}`;
  }
}
