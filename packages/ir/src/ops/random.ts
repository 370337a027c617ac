/**
 * Random numbers from explicit keys: the same key gives the same numbers on every target. A key is u32[2] and is
 * used once; `split` and `fold` make new ones. Everything is built from `randomBits`.
 */
import type { Dtype } from "../dtype.ts";
import { isFloat } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { checkAxis } from "../shape.ts";
import type { Operand } from "./broadcast.ts";
import { asTensor } from "./broadcast.ts";
import { lerp } from "./composite/arithmetic.ts";
import { add, shiftRight, xor } from "./elementwise/binary.ts";
import { less, select } from "./elementwise/compare.ts";
import { convert } from "./elementwise/convert.ts";
import { constant, type Extent, iota, randomBits } from "./source.ts";

/** A key from a seed: an integer below 2⁵³, or a scalar of the graph. */
export function key(seed: number | Tensor): Tensor {
  const [high, low] =
    typeof seed === "number"
      ? [constant(Math.floor(seed / 2 ** 32), "u32"), constant(seed >>> 0, "u32")]
      : [constant(0, "u32"), convert(seed, "u32")];
  return select(iota([2], 0, "u32").equal(0), high, low);
}

/** A key for the n-th use of `parent`; distinct n give independent keys. */
export function fold(parent: Tensor, n: number | Tensor): Tensor {
  const count = typeof n === "number" ? constant(n, "u32") : convert(n, "u32");
  // The golden ratio keeps fold(k, 0) apart from the first two bits drawn with k itself.
  return randomBits(xor(parent, add(count, constant(0x9e3779b9, "u32"))), [2]);
}

/** `count` independent keys. */
export function split(parent: Tensor, count = 2): Tensor[] {
  const children = fold(parent, 0x5eed);
  return Array.from({ length: count }, (_, i) => fold(children, i));
}

/** Uniform u32. */
export const bits = (from: Tensor, shape: readonly Extent[]): Tensor => randomBits(from, shape);

/** Bits of the significand, the leading one included. */
const precision: Partial<Record<Dtype, number>> = { f64: 53, f32: 24, f16: 11, bf16: 8 };

/** Multiples of 2⁻ᵖ in [0, 1), p the precision of the dtype. */
function unit(from: Tensor, shape: readonly Extent[], dtype: Dtype): Tensor {
  const p = precision[dtype];
  if (p === undefined) throw new DtypeError(`uniform: dtype must be a float, got ${dtype}`);
  const first = randomBits(from, shape);
  if (p <= 32) return convert(shiftRight(first, 32 - p), dtype).mul(2 ** -p);
  const second = randomBits(fold(from, 1), shape);
  const high = convert(shiftRight(first, 5), dtype).mul(2 ** 26);
  return high.add(convert(shiftRight(second, 6), dtype)).mul(2 ** -53);
}

export interface UniformOptions {
  readonly low?: Operand;
  readonly high?: Operand;
  readonly dtype?: Dtype;
}

const uniformOptions: OptionNames<UniformOptions> = { low: 1, high: 1, dtype: 1 };

/** low + (high − low)·u with u uniform in [0, 1). Rounding may reach `high`. */
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
  readonly mean?: Operand;
  readonly std?: Operand;
  readonly dtype?: Dtype;
}

const normalOptions: OptionNames<NormalOptions> = { mean: 1, std: 1, dtype: 1 };

/**
 * mean + std·z with z = √(−2 ln u)·cos(2πv), u in (0, 1] and v in [0, 1). Box & Muller 1958.
 *
 * In f32 |z| is at most √(48 ln 2) = 5.77. f16 and bf16 are computed in f32.
 */
export function normal(
  from: Tensor,
  shape: readonly Extent[],
  options: NormalOptions = {},
): Tensor {
  const { mean = 0, std = 1, dtype = "f32" } = checkOptions("normal", options, normalOptions);
  if (!isFloat(dtype)) throw new DtypeError(`normal: dtype must be a float, got ${dtype}`);
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

/** True with probability p. */
export const bernoulli = (from: Tensor, p: Operand, shape: readonly Extent[]): Tensor =>
  less(unit(from, shape, "f32"), p);

/**
 * One index along `axis` for each place on the other axes, index i with probability softmax(logits)ᵢ; one of −∞ never. Divide logits
 * by a temperature first; with `topK`, the logits are its values.
 *
 * logits: f32[…, n, …] → i32[…]. Gumbel 1954: the place of the largest of logits + g, g = −ln(−ln u).
 */
export function categorical(from: Tensor, logits: Tensor, axis = -1): Tensor {
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
