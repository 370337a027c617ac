/**
 * Random numbers of other distributions, and draws without putting back, over `random.ts`. Methods
 * that reject try a fixed number of times, so that they run as one program on every target; what is
 * left after that is said at each.
 */
import { type Dtype, isFloat } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames } from "../errors.ts";
import { kindOf } from "../kind.ts";
import type { Tensor } from "../node.ts";
import { checkAxis, printShape, type Shape } from "../shape.ts";
import { checkTensor } from "./apply.ts";
import { asTensor, broadcastTo, type Operand } from "./broadcast.ts";
import { lgamma } from "./composite/special-functions.ts";
import { softmax } from "./composite/statistics.ts";
import { select } from "./elementwise/compare.ts";
import { convert } from "./elementwise/convert.ts";
import { stopGradient } from "./elementwise/unary.ts";
import { take } from "./gather.ts";
import { fold, normal, split, uniform } from "./random.ts";
import { scan } from "./scan.ts";
import { argSort, topK } from "./sort.ts";
import { type Extent, iota } from "./source.ts";

/** A uniform number that is not 0. */
const open = (from: Tensor, shape: readonly Extent[]): Tensor =>
  uniform(from, shape).maximum(2 ** -25);

function checkKey(op: string, from: Tensor): void {
  checkTensor(op, from);
  if (from.dtype !== "u32" || from.rank !== 1)
    throw new DtypeError(
      `${op}: the key is ${from.dtype}${printShape(from.shape)}, not u32[2]\n  make one with random.key(seed)`,
    );
}

/**
 * −ln(1 − u)/rate: times between events of `rate` a unit of time. → f32 of the shape.
 * `torch.Tensor.exponential_`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   random.exponential(key, [3], 2).greaterEqual(0).all() // true
 */
export function exponential(from: Tensor, shape: readonly Extent[], rate: Operand = 1): Tensor {
  checkKey("exponential", from);
  return uniform(from, shape).neg().log1p().neg().div(rate);
}

/**
 * −ln(−ln u): the standard Gumbel distribution. → f32 of the shape. Gumbel 1954.
 * `jax.random.gumbel`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   const scores = tensor([0, 9]).add(random.gumbel(key, [2]));
 *   scores.argMax(0) // 1; a draw with probabilities softmax([0, 9])
 */
export function gumbel(from: Tensor, shape: readonly Extent[]): Tensor {
  checkKey("gumbel", from);
  return open(from, shape).log().neg().log().neg();
}

export interface GumbelSoftmaxOptions {
  /** Temperature, above 0; default 1. */
  readonly tau?: number;
  /** One 1 and zeros, with the gradient of the soft weights; false by default. */
  readonly hard?: boolean;
  /** The last by default. */
  readonly axis?: number;
}

const gumbelOptions: OptionNames<GumbelSoftmaxOptions> = { tau: 1, hard: 1, axis: 1 };

/**
 * softmax((logits + g)/tau), g Gumbel: a draw from a category that has a gradient. logits:
 * float[...] → the same. `torch.nn.functional.gumbel_softmax`. Jang, Gu & Poole 2017.
 *
 * Throws GraphError for a tau of 0 or less.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @example
 *   const y = random.gumbelSoftmax(key, tensor([1, 2, 3]), { tau: 0.5, hard: true });
 *   y.sum() // 1
 *   y.max() // 1; one-hot, with the gradient of the softmax
 */
export function gumbelSoftmax(
  from: Tensor,
  logits: Tensor,
  options: GumbelSoftmaxOptions = {},
): Tensor {
  checkTensor("gumbelSoftmax", logits);
  const {
    tau = 1,
    hard = false,
    axis = -1,
  } = checkOptions("gumbelSoftmax", options, gumbelOptions);
  if (!(tau > 0))
    throw new GraphError(
      `gumbelSoftmax: tau must be above 0, got ${kindOf(tau)}\n  leave it out for 1`,
    );
  const a = checkAxis("gumbelSoftmax", axis, logits.rank);
  const soft = softmax(logits.add(gumbel(from, logits.shape)).div(tau), a);
  if (!hard) return soft;
  const best = soft.argMax(a, { keepDims: true });
  const one = iota(logits.shape, a).equal(best).convert(soft.dtype);
  return one.sub(stopGradient(soft)).add(soft);
}

/**
 * The numbers 0 … n − 1 in a random order: i32[n]. `torch.randperm`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param n How many, which may be symbolic.
 * @example
 *   random.permutation(key, 5).sort() // [0, 1, 2, 3, 4]
 */
export function permutation(from: Tensor, n: Extent): Tensor {
  checkKey("permutation", from);
  // Two draws that are equal would stand in their order: among 2²⁴ numbers that is seldom, and of
  // 2⁴⁸ never in practice.
  const [a, b] = split(from, 2) as [Tensor, Tensor];
  const first = argSort(uniform(a, [n]));
  return take(first, argSort(uniform(b, [n])));
}

/**
 * `count` different places along the last axis, place i with odds like softmax(logits)ᵢ among those
 * that are left: i32[..., count]. `torch.multinomial(p, count, replacement=False)` of p = eˡᵒᵍⁱᵗˢ;
 * `jax.random.choice`. Of `random.categorical` one comes back several times.
 *
 * The places of the largest of logits + g, g Gumbel. Efraimidis & Spirakis 2006. Throws ShapeError
 * if there are fewer than `count`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param logits float[n], log-probabilities up to a constant.
 * @example
 *   const drawn = random.choice(key, zeros([10]), 3);
 *   drawn.shape // [3]; three of ten, none twice
 */
export function choice(from: Tensor, logits: Tensor, count: number): Tensor {
  checkKey("choice", from);
  checkTensor("choice", logits);
  if (!isFloat(logits.dtype))
    throw new DtypeError(
      `choice: logits must be floats, got ${logits.dtype}\n  give zeros for even odds`,
    );
  return topK(logits.add(gumbel(from, logits.shape)), count, -1).indices;
}

/**
 * Tries of a method that rejects less than one in twenty: what is left after them is one in 10¹⁰.
 */
const tries = 8;

/**
 * The gamma distribution of shape `alpha` and scale 1: f32 of the shape. `alpha` is a number or a
 * tensor that stretches to the shape, above 0. No gradient flows to it.
 * `torch.distributions.Gamma`, `jax.random.gamma`. Marsaglia & Tsang 2000.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   random.gamma(key, [100], 2.5).greater(0).all() // true
 */
export function gamma(from: Tensor, shape: readonly Extent[], alpha: Operand): Tensor {
  checkKey("gamma", from);
  const a = stretched(alpha, shape);
  const small = a.less(1);
  const d = select(small, a.add(1), a).sub(1 / 3);
  const c = d.mul(9).rsqrt();
  const y = tried(from, d, (key, before) => {
    const [u, z] = split(key, 2) as [Tensor, Tensor];
    const x = normal(z, shape);
    const root = c.mul(x).add(1);
    const v = root.mul(root).mul(root);
    const inside = v.greater(0);
    const log = select(inside, v, 1).log();
    const bound = x
      .mul(x)
      .mul(0.5)
      .add(d.mul(log.sub(v).add(1)));
    return select(inside.and(open(u, shape).log().less(bound)), d.mul(v), before);
  });
  // Of a shape below 1 from that of one more.
  const power = open(fold(from, tries), shape).log().div(a).exp();
  return stopGradient(select(small, y.mul(power), y));
}

/**
 * The beta distribution: x/(x + y) of gammas of shape `a` and `b`. f32 of the shape, in (0, 1).
 * `torch.distributions.Beta`.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   const x = random.beta(key, [100], 2, 5);
 *   x.greater(0).and(x.less(1)).all() // true
 */
export function beta(from: Tensor, shape: readonly Extent[], a: Operand, b: Operand): Tensor {
  const [p, q] = split(from, 2) as [Tensor, Tensor];
  const x = gamma(p, shape, a);
  return x.div(x.add(gamma(q, shape, b)).maximum(2 ** -126));
}

/**
 * Counts that the sum of probabilities goes over for a mean below 10: beyond it less than 10⁻¹⁵ is
 * left.
 */
const counts = 44;

/**
 * Counts of events of mean `rate`: i32 of the shape. `rate` is a number or a tensor that stretches
 * to the shape, 0 or more. `torch.poisson`.
 *
 * Below a mean of 10 by the sum of probabilities, above by transformed rejection of Hörmann 1993
 * (PTRS), of which one in 10⁷ ends undecided with the nearest count.
 *
 * @param from A key, u32[2], which is used up: `split` or `fold` it for more.
 * @param shape The shape of the result; extents may be symbolic.
 * @example
 *   random.poisson(key, [4000], 3).mean().sub(3).abs().less(0.1) // true
 */
export function poisson(from: Tensor, shape: readonly Extent[], rate: Operand): Tensor {
  checkKey("poisson", from);
  const mean = stretched(rate, shape);
  const large = mean.greaterEqual(10);
  const many = transformed(fold(from, 1), shape, select(large, mean, 10));
  const few = summed(fold(from, 2), shape, select(large, 1, mean));
  return stopGradient(convert(select(large, many, few), "i32"));
}

/** How many sums P(0) + … + P(k) are below a uniform number. */
function summed(from: Tensor, shape: readonly Extent[], mean: Tensor): Tensor {
  const u = uniform(from, shape);
  const first = mean.neg().exp();
  const begin = [first, first, convert(first.lessEqual(u), "f32")];
  const { carry } = scan(
    begin,
    [],
    ([p, below, count], _none, k) => {
      const next = p!.mul(mean).div(convert(k, "f32").add(1));
      const sum = below!.add(next);
      return { carry: [next, sum, count!.add(convert(sum.lessEqual(u), "f32"))], ys: [] };
    },
    { length: counts },
  );
  return carry[2]!;
}

/** What is left of `begin` after so many tries, each with a key of its own. */
function tried(from: Tensor, begin: Tensor, next: (key: Tensor, before: Tensor) => Tensor): Tensor {
  const { carry } = scan(
    [begin],
    [],
    ([before], _none, i) => ({ carry: [next(fold(from, i), before!)], ys: [] }),
    { length: tries },
  );
  return carry[0]!;
}

function transformed(from: Tensor, shape: readonly Extent[], mean: Tensor): Tensor {
  const log = mean.log();
  const b = mean.sqrt().mul(2.53).add(0.931);
  const a = b.mul(0.02483).sub(0.059);
  const inverse = b.sub(3.4).reciprocal().mul(1.1328).add(1.1239);
  const sure = b.sub(2).reciprocal().mul(-3.6224).add(0.9277);
  return tried(from, mean.round(), (key, before) => {
    const [s, t] = split(key, 2) as [Tensor, Tensor];
    const u = uniform(s, shape).sub(0.5);
    const v = open(t, shape);
    const near = u
      .abs()
      .neg()
      .add(0.5)
      .maximum(2 ** -25);
    const k = a.mul(2).div(near).add(b).mul(u).add(mean).add(0.43).floor();
    const kept = k.maximum(0);
    const bound = log
      .mul(kept)
      .sub(mean)
      .sub(lgamma(kept.add(1)));
    const height = v
      .mul(inverse)
      .div(a.div(near.mul(near)).add(b))
      .log();
    const quick = near.greaterEqual(0.07).and(v.lessEqual(sure));
    const never = near.less(0.013).and(v.greater(near));
    const takes = quick.or(never.not().and(height.lessEqual(bound)));
    return select(k.greaterEqual(0).and(takes), kept, before);
  });
}

/** f32 of the shape. */
function stretched(x: Operand, shape: readonly Extent[]): Tensor {
  const t = convert(asTensor(x, "f32" as Dtype), "f32");
  return broadcastTo(t, [...shape] as Shape);
}
