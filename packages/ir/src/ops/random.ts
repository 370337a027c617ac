/**
 * Random numbers from explicit keys: the same key gives the same numbers on every target. A key is
 * u32[2] and is used once; `split` and `fold` make new ones. Everything is built from `randomBits`.
 */

import type { Dtype } from "../dtype.ts";
import { isFloat } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { checkAxis } from "../shape.ts";
import { checkTensor } from "./apply.ts";
import type { Operand } from "./broadcast.ts";
import { asTensor } from "./broadcast.ts";
import { lerp } from "./composite/arithmetic.ts";
import { add, shiftRight, xor } from "./elementwise/binary.ts";
import { less, select } from "./elementwise/compare.ts";
import { convert } from "./elementwise/convert.ts";
import { constant, type Extent, iota, randomBits } from "./source.ts";

/**
 * A key from a seed: an integer below 2⁵³, or a scalar of the graph. `jax.random.key`;
 * `torch.manual_seed` has no key.
 * @example
 *   const key = random.key(42);
 *   random.normal(key, [3]).equal(random.normal(random.key(42), [3])).all() // true
 */
export function key(seed: number | Tensor): Tensor {
  const [high, low] =
    typeof seed === "number"
      ? [constant(Math.floor(seed / 2 ** 32), "u32"), constant(seed >>> 0, "u32")]
      : [constant(0, "u32"), convert(seed, "u32")];
  return select(iota([2], 0, "u32").equal(0), high, low);
}

/**
 * A key for the n-th use of `parent`; distinct n give independent keys. `jax.random.fold_in`.
 *
 * @param n A number from 0, or a scalar of the graph: a step, say.
 * @example
 *   const [a, b] = [random.fold(key, 0), random.fold(key, 1)];
 *   random.uniform(a, [2]).equal(random.uniform(b, [2])) // [false, false]
 */
export function fold(parent: Tensor, n: number | Tensor): Tensor {
  const count = typeof n === "number" ? constant(n, "u32") : convert(n, "u32");
  // The golden ratio keeps fold(k, 0) apart from the first two bits drawn with k itself.
  return randomBits(xor(parent, add(count, constant(0x9e3779b9, "u32"))), [2]);
}

/**
 * `count` independent keys. `jax.random.split`.
 *
 * @param parent A key, u32[2].
 * @example
 *   const [first, second] = random.split(key);
 *   random.uniform(first, [2]).equal(random.uniform(second, [2])) // [false, false]
 */
export function split(parent: Tensor, count = 2): Tensor[] {
  const children = fold(parent, 0x5eed);
  return Array.from({ length: count }, (_, i) => fold(children, i));
}

/**
 * Uniform u32. `jax.random.bits`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   random.bits(key, [3]).dtype // "u32"
 */
export const bits = (from: Tensor, shape: readonly Extent[]): Tensor => randomBits(from, shape);

/** Bits of the significand, the leading one included. */
const precision: Partial<Record<Dtype, number>> = { f64: 53, f32: 24, f16: 11, bf16: 8 };

/** Multiples of 2⁻ᵖ in [0, 1), p the precision of the dtype. */
function unit(from: Tensor, shape: readonly Extent[], dtype: Dtype): Tensor {
  const p = precision[dtype];
  if (p === undefined)
    throw new DtypeError(
      `uniform: dtype must be a float, got ${dtype}\n  take randint for integers, or "f32"`,
    );
  const first = randomBits(from, shape);
  if (p <= 32) return convert(shiftRight(first, 32 - p), dtype).mul(2 ** -p);
  const second = randomBits(fold(from, 1), shape);
  const high = convert(shiftRight(first, 5), dtype).mul(2 ** 26);
  return high.add(convert(shiftRight(second, 6), dtype)).mul(2 ** -53);
}

export interface UniformOptions {
  /** Broadcast, default 0. */
  readonly low?: Operand;
  /** Broadcast, default 1. */
  readonly high?: Operand;
  /** A float, default f32. */
  readonly dtype?: Dtype;
}

const uniformOptions: OptionNames<UniformOptions> = { low: 1, high: 1, dtype: 1 };

/**
 * low + (high − low)·u with u uniform in [0, 1). Rounding may reach `high`. `torch.rand`,
 * `jax.random.uniform`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   const x = random.uniform(key, [100], { low: -1, high: 1 });
 *   x.abs().lessEqual(1).all() // true
 */
export function uniform(
  from: Tensor,
  shape: readonly Extent[],
  options: UniformOptions = {},
): Tensor {
  const { low = 0, high = 1, dtype = "f32" } = checkOptions("uniform", options, uniformOptions);
  const u = unit(from, shape, dtype);
  if (low === 0 && high === 1) return u;
  const [start, end] = [low, high].map((x) => convert(asTensor(x, dtype), dtype));
  return lerp(start!, end!, u);
}

export interface NormalOptions {
  /** Broadcast, default 0. */
  readonly mean?: Operand;
  /** Broadcast, default 1. */
  readonly std?: Operand;
  /** A float, default f32. */
  readonly dtype?: Dtype;
}

const normalOptions: OptionNames<NormalOptions> = { mean: 1, std: 1, dtype: 1 };

/**
 * mean + std·z with z = √(−2 ln u)·cos(2πv), u in (0, 1] and v in [0, 1). Box & Muller 1958.
 *
 * In f32 |z| is at most √(48 ln 2) = 5.77. f16 and bf16 are computed in f32. `torch.normal`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   const x = random.normal(key, [10000], { mean: 3, std: 2 });
 *   x.mean().round() // 3
 */
export function normal(
  from: Tensor,
  shape: readonly Extent[],
  options: NormalOptions = {},
): Tensor {
  const { mean = 0, std = 1, dtype = "f32" } = checkOptions("normal", options, normalOptions);
  if (!isFloat(dtype))
    throw new DtypeError(
      `normal: dtype must be a float, got ${dtype}\n  take "f32", and convert the result`,
    );
  const inner = dtype === "f64" ? "f64" : "f32";
  const [a, b] = split(from, 2) as [Tensor, Tensor];
  const radius = unit(a, shape, inner).neg().add(1).log().mul(-2).sqrt();
  const z = radius.mul(
    unit(b, shape, inner)
      .mul(2 * Math.PI)
      .cos(),
  );
  return convert(mean === 0 && std === 1 ? z : z.mul(std).add(mean), dtype);
}

/**
 * True with probability p. `torch.bernoulli`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param p The probability of true, broadcast to the shape.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   const coins = random.bernoulli(key, 0.25, [4000]);
 *   coins.dtype // "bool"
 *   coins.convert("f32").mean().sub(0.25).abs().less(0.03) // true
 */
export const bernoulli = (from: Tensor, p: Operand, shape: readonly Extent[]): Tensor =>
  less(unit(from, shape, "f32"), p);

/**
 * One index along `axis` for each place on the other axes, index i with probability
 * softmax(logits)ᵢ; one of −∞ never. Divide logits by a temperature first; with `topK`, the logits
 * are its values.
 *
 * logits: f32[…, n, …] → i32[…]. Gumbel 1954: the place of the largest of logits + g, g = −ln(−ln
 * u). `torch.multinomial` of one draw, `jax.random.categorical`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @example
 *   random.categorical(key, tensor([[0, -Infinity], [-Infinity, 0]])) // [0, 1]
 */
export function categorical(from: Tensor, logits: Tensor, axis = -1): Tensor {
  for (const t of [from, logits]) checkTensor("categorical", t);
  const a = checkAxis("categorical", axis, logits.rank);
  if (!isFloat(logits.dtype))
    throw new DtypeError(`categorical: logits must be floats, got ${logits.dtype}`);
  // Where u is 0, g would be −∞ too.
  const u = unit(from, logits.shape, "f32").maximum(2 ** -25);
  return logits.add(u.log().neg().log().neg()).argMax(a);
}

/**
 * Integers in [low, high). The remainder of 32 bits, so the odds of two values differ by less than
 * (high − low)/2³². Throws GraphError unless low and high are integers, and high the greater.
 * `torch.randint`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @param low The least.
 * @param high The end, which is not reached.
 * @param dtype The dtype of the result.
 * @example
 *   const die = random.randint(key, [100], 1, 7);
 *   die.min() // 1
 *   die.max() // 6
 */
export function randint(
  from: Tensor,
  shape: readonly Extent[],
  low: number,
  high: number,
  dtype: Dtype = "i32",
): Tensor {
  if (!Number.isInteger(low) || !Number.isInteger(high) || high <= low || high - low > 2 ** 32)
    throw new GraphError(`randint: no integers are in [${low}, ${high})`);
  const span = constant(high - low, "u32");
  return convert(randomBits(from, shape).rem(span), dtype).add(constant(low, dtype));
}
