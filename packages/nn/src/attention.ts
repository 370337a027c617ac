/**
 * Scaled dot-product attention, plain and with several heads. Written as one expression; the compiler is what
 * recognises it and keeps the scores out of memory.
 */
import {
  asFactor,
  autocast,
  type Dim,
  DtypeError,
  GraphError,
  inFull,
  iota,
  minOf,
  printShape,
  ShapeError,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, checkRank } from "./parameter.ts";

export interface AttentionOptions {
  /** bool: true where a query may attend to a key; or floats, added to the scores. Broadcasts to [..., T, S]. */
  readonly mask?: Tensor;
  /** Lets query t attend to keys 0 … t only. */
  readonly causal?: boolean;
  /** Factor of the scores, 1/√d by default. */
  readonly scale?: number;
}

/**
 * softmax(q·kᵀ·scale + mask)·v.
 *
 * q: f32[..., T, d], k: f32[..., S, d], v: f32[..., S, e] → f32[..., T, e]. A query that may attend to nothing
 * attends to all keys evenly. Vaswani et al. 2017, eq. 1.
 */
export function attention(q: Tensor, k: Tensor, v: Tensor, options: AttentionOptions = {}): Tensor {
  const width = q.shape.at(-1);
  if (options.scale === undefined && typeof width !== "number")
    throw new ShapeError(`attention: the last axis of ${printShape(q.shape)} is not a known size`);
  const scale = options.scale ?? 1 / Math.sqrt(width as number);
  // Mixed precision rounds operands and result as of any product. Between them all is f32: scores are not stored.
  const [a, b, c] = [q, k, v].map((t) => inFull(asFactor(t))) as [Tensor, Tensor, Tensor];
  const y = autocast("f32", () => {
    const scores = a.matmul(swapLast(b)).mul(scale);
    return masked(scores, options).softmax(-1).matmul(c);
  });
  return asFactor(y);
}

function swapLast(x: Tensor): Tensor {
  const order = x.shape.map((_, i) => i);
  return x.transpose([...order.slice(0, -2), x.rank - 1, x.rank - 2]);
}

/** Scores that must not count become the lowest finite value: −∞ would make a row without any NaN. */
function masked(scores: Tensor, { mask, causal }: AttentionOptions): Tensor {
  const lowest = minOf(scores.dtype) / 2;
  let out = scores;
  if (mask) {
    if (mask.dtype !== "bool" && mask.dtype !== scores.dtype)
      throw new DtypeError(
        `attention: mask must be bool or ${scores.dtype}, got ${mask.dtype}\n  compare to get bool: mask.notEqual(0) is true where keys count`,
      );
    out = mask.dtype === "bool" ? select(mask, out, lowest) : out.add(mask);
  }
  if (!causal) return out;
  const square = scores.shape.slice(-2);
  return select(iota(square, 1).lessEqual(iota(square, 0)), out, lowest);
}

export interface MultiHeadAttentionOptions {
  readonly bias?: boolean;
}

/**
 * Attention in `heads` parts of the width, each with its own projections, joined and projected once more.
 *
 * x: f32[B, T, width] (and key, value f32[B, S, width], x by default) → f32[B, T, width].
 * Throws ShapeError if `heads` does not divide `width`. Vaswani et al. 2017, section 3.2.2.
 */
export class MultiHeadAttention extends Module {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly out: Linear;
  readonly width: number;
  readonly heads: number;

  constructor(width: number, heads: number, options: MultiHeadAttentionOptions = {}) {
    super();
    checkCount("multiHeadAttention", "width", width);
    checkCount("multiHeadAttention", "heads", heads);
    if (width % heads)
      throw new ShapeError(
        `multiHeadAttention: width ${width} is not a multiple of heads ${heads}`,
      );
    this.width = width;
    this.heads = heads;
    this.query = new Linear(width, width, options);
    this.key = new Linear(width, width, options);
    this.value = new Linear(width, width, options);
    this.out = new Linear(width, width, options);
  }

  override forward(
    x: Tensor,
    options: AttentionOptions & { readonly key?: Tensor; readonly value?: Tensor } = {},
  ): Tensor {
    const { key = x, value = key, ...rest } = options;
    for (const t of [x, key, value]) {
      checkRank("multiHeadAttention", t, 3);
      checkExtent("multiHeadAttention", t, -1, this.width, "widths");
    }
    if (options.value && !options.key)
      throw new GraphError("multiHeadAttention: value is given without key");
    const joined = attention(
      this.#split(this.query.forward(x)),
      this.#split(this.key.forward(key)),
      this.#split(this.value.forward(value)),
      rest,
    );
    const [batch, length] = x.shape as [Dim, Dim];
    return this.out.forward(joined.transpose([0, 2, 1, 3]).reshape([batch, length, this.width]));
  }

  /** [B, T, width] → [B, heads, T, width / heads]. */
  #split(x: Tensor): Tensor {
    const [batch, length] = x.shape as [Dim, Dim];
    return x.reshape([batch, length, this.heads, this.width / this.heads]).transpose([0, 2, 1, 3]);
  }

  override describe(): string {
    return `${this.width}, ${this.heads} heads`;
  }
}
