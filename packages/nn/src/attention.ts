/**
 * Scaled dot-product attention. Written as one expression; the compiler is what
 * recognises it and keeps the scores out of memory.
 */
import {
  asFactor,
  autocast,
  checkOptions,
  checkTensor,
  type Dim,
  DtypeError,
  dimValue,
  GraphError,
  iota,
  isStatic,
  minOf,
  type OptionNames,
  printShape,
  roundedOnce,
  ShapeError,
  sameDim,
  select,
  subDim,
  type Tensor,
  widened,
} from "@kiln-ml/ir";

export interface AttentionOptions {
  /**
   * bool: true where a query may attend to a key; or floats, added to the scores. Broadcasts to
   * [..., T, S].
   */
  readonly mask?: Tensor;
  /**
   * Lets query t attend to keys 0 … t only. With "end" the last query stands at the last key, as
   * beside a cache of keys: query t attends to keys 0 … t + S − T.
   */
  readonly causal?: boolean | "end";
  /** Factor of the scores, 1/√d by default. */
  readonly scale?: number;
}

export const attentionOptions: OptionNames<AttentionOptions> = { mask: 1, causal: 1, scale: 1 };

/**
 * softmax(q·kᵀ·scale + mask)·v.
 *
 * q: f32[..., T, d], k: f32[..., S, d], v: f32[..., S, e] → f32[..., T, e]. The result of a query
 * that may attend to nothing is 0, and so are its gradients: where `mask` is false, −∞ or the
 * lowest number of its dtype for all keys, or `causal` leaves none. Throws ShapeError if d is a
 * symbol and `scale` is missing, DtypeError for a mask of another dtype, GraphError for an unknown
 * `causal`. Vaswani et al. 2017, eq. 1. `F.scaled_dot_product_attention`.
 *
 * @example
 *   const [q, k] = [tensor([[9, 0]]), tensor([[9, 0], [0, 9]])];
 *   nn.attention(q, k, tensor([[1, 1], [2, 2]])) // [[1, 1]]; the value of the key that fits
 */
export function attention(q: Tensor, k: Tensor, v: Tensor, options: AttentionOptions = {}): Tensor {
  checkOptions("attention", options, attentionOptions);
  return attend(q, k, v, options, (weights) => weights);
}

/** `attention` with something done to its weights, as dropout is. */
export function attend(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: AttentionOptions,
  drop: (weights: Tensor) => Tensor,
): Tensor {
  for (const t of [q, k, v]) checkTensor("attention", t);
  const width = q.shape.at(-1);
  if (options.scale === undefined && typeof width !== "number")
    throw new ShapeError(`attention: the last axis of ${printShape(q.shape)} is not a known size`);
  const scale = options.scale ?? 1 / Math.sqrt(width as number);
  // Mixed precision rounds operands and result as of any product. Between them all is f32: scores
  // are not stored.
  const factors = [q, k, v].map(asFactor) as [Tensor, Tensor, Tensor];
  return roundedOnce(factors, (a, b, c) =>
    autocast("f32", () => {
      const scores = a.matmul(swapLast(b)).mul(scale);
      return drop(masked(scores, options).maskedSoftmax(-1)).matmul(c);
    }),
  );
}

function swapLast(x: Tensor): Tensor {
  const order = x.shape.map((_, i) => i);
  return x.transpose([...order.slice(0, -2), x.rank - 1, x.rank - 2]);
}

/** Scores that must not count become the lowest number: `maskedSoftmax` gives them no weight. */
function masked(scores: Tensor, options: AttentionOptions): Tensor {
  const { causal = false } = options;
  const lowest = minOf(scores.dtype);
  let out = scores;
  if (options.mask) {
    checkTensor("attention: the mask", options.mask);
    const mask = widened(options.mask);
    if (mask.dtype !== "bool" && mask.dtype !== scores.dtype)
      throw new DtypeError(
        `attention: mask must be bool or ${scores.dtype}, got ${mask.dtype}\n  compare to get bool: mask.notEqual(0) is true where keys count`,
      );
    out = mask.dtype === "bool" ? select(mask, out, lowest) : out.add(mask);
  }
  return causal === false ? out : select(seenBy(scores, causal), out, lowest);
}

/** True where a query may attend to a key under a causal mask: bool[T, S]. */
function seenBy(scores: Tensor, causal: unknown): Tensor {
  if (causal !== true && causal !== "end")
    throw new GraphError(`attention: causal must be true, false or "end", got ${String(causal)}`);
  const square = scores.shape.slice(-2);
  const [queries, keys] = square as [Dim, Dim];
  const [query, key] = [iota(square, 0), iota(square, 1)];
  if (causal === true || sameDim(queries, keys)) return key.lessEqual(query);
  // Of numbers the difference; of symbols both sides, since S − T may be negative.
  const before = subDim(keys, queries);
  if (isStatic(before)) return key.lessEqual(query.add(before));
  return key.add(dimValue(queries)).lessEqual(query.add(dimValue(keys)));
}
