/**
 * Scaled dot-product attention on heads: what Attention of the standard and the attentions of ONNX Runtime have in common. Scores are
 * computed in f32 where the heads are half floats.
 */
import {
  convert,
  type Dim,
  dimValue,
  expandDims,
  floorDiv,
  iota,
  isStatic,
  matmul,
  type Operand,
  pad,
  reshape,
  select,
  subDim,
  swapAxes,
  Tensor,
  transpose,
} from "@kiln-ml/ir";
import { widened } from "./operands.ts";

/** x[B, S, H·D] → [B, H, S, D]. */
export function headsOf(x: Tensor, heads: number): Tensor {
  const [b, s, width] = x.shape as [Dim, Dim, Dim];
  return transpose(reshape(x, [b, s, heads, floorDiv(width, heads)]), [0, 2, 1, 3]);
}

/** x[B, H, S, D] → [B, S, H·D]. */
export function joinedHeads(x: Tensor): Tensor {
  const [b, , s] = x.shape as [Dim, Dim, Dim, Dim];
  const turned = transpose(x, [0, 2, 1, 3]);
  const [h, d] = [x.shape[1]!, x.shape[3]!];
  return reshape(turned, [b, s, isStatic(h) && isStatic(d) ? h * d : -1]);
}

/** Each head of x[B, H, S, D] as often as the queries' heads need it, neighbours alike. */
export function repeatedHeads(x: Tensor, heads: Dim): Tensor {
  const [b, own, s, d] = x.shape as [Dim, Dim, Dim, Dim];
  if (own === heads || !isStatic(own) || !isStatic(heads) || own === 0) return x;
  const spread = expandDims(x, 2).broadcastTo([b, own, heads / own, s, d]);
  return reshape(spread, [b, heads, s, d]);
}

/** Scores with a mask applied: bool, true where seen, or numbers to add. A mask that ends early hides the rest. */
export function masked(scores: Tensor, mask: Tensor): Tensor {
  const [have, want] = [mask.shape[mask.rank - 1]!, scores.shape[3]!];
  const hidden = mask.dtype === "bool" ? 0 : Number.NEGATIVE_INFINITY;
  const short = isStatic(have) && isStatic(want) && have !== 1 && have < want;
  const fill = mask.shape.map((_, a) => (a === mask.rank - 1 ? subDim(want, have) : 0));
  const whole = short ? pad(mask, hidden, 0, fill) : mask;
  if (mask.dtype === "bool") return select(whole, scores, Number.NEGATIVE_INFINITY);
  return scores.add(widened(whole));
}

/** True where key t is not after query s, which stands at place s + `past`. */
export function causalMask(scores: Tensor, past: Dim | Tensor): Tensor {
  const shape = [1, 1, ...scores.shape.slice(2)];
  const before = past instanceof Tensor ? past : dimValue(past);
  return iota(shape, 2).add(before).greaterEqual(iota(shape, 3));
}

/** q·kᵀ·scale, [B, H, S, T]. Heads of k serve several of q where there are fewer. */
export function scoresOf(q: Tensor, k: Tensor, scale: Operand): Tensor {
  const keys = repeatedHeads(widened(k), q.shape[1]!);
  return matmul(widened(q).mul(scale), swapAxes(keys, -1, -2));
}

/** The values v[B, H, T, D] by weights [B, H, S, T], in the dtype of the values. */
export const mixed = (weights: Tensor, v: Tensor): Tensor =>
  convert(matmul(weights, repeatedHeads(widened(v), weights.shape[1]!)), v.dtype);

/** cap·tanh(scores/cap); 0 is no cap. */
export const capped = (scores: Tensor, cap: number): Tensor =>
  cap > 0 ? scores.div(cap).tanh().mul(cap) : scores;

/** 1/√D of heads [..., D]. */
export const usualScale = (x: Tensor): Operand => {
  const d = x.shape[x.rank - 1]!;
  return isStatic(d) ? 1 / Math.sqrt(d) : dimValue(d, "f32").rsqrt();
};
