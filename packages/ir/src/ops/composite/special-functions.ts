/**
 * The gamma function's logarithm and its slope, and the error function's inverse, as formulas of
 * elementary functions. Relative errors are a few 1e-7 in f32 and about 1e-13 in f64, but near
 * zeros.
 */
import type { Tensor } from "../../node.ts";
import { select } from "../elementwise/compare.ts";
import { erfc } from "./erfc.ts";
import { inFloat, polynomial } from "./formulas.ts";

export { erfc } from "./erfc.ts";

/** How far arguments are raised before an asymptotic series is used. */
const raise = 8;

/** B₂ₖ/(2k·(2k − 1)), k = 1 …: Stirling's series (Abramowitz & Stegun 6.1.41). */
const stirling = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];
/** B₂ₖ/2k: that of digamma (6.3.18). */
const slopes = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12];

/** ζ(k) − 1, by its sum and Euler and Maclaurin's rest. */
function zetaLessOne(k: number): number {
  const n = 12;
  let sum = 0;
  for (let i = n - 1; i >= 2; i--) sum += i ** -k;
  return sum + n ** (1 - k) / (k - 1) + n ** -k / 2 + (k / 12) * n ** (-k - 1) - (k * (k + 1) * (k + 2) * n ** (-k - 3)) / 720; // biome-ignore format: one line
}

const euler = 0.5772156649015329;

/** ln Γ(2 + w) = (1 − γ)·w + Σ (−1)ᵏ·(ζ(k) − 1)·wᵏ/k (6.1.33), for |w| ≤ ½. */
const nearTwo = (w: Tensor): Tensor =>
  polynomial(w, [
    1 - euler,
    ...Array.from({ length: 26 }, (_, i) => ((i % 2 ? -1 : 1) * zetaLessOne(i + 2)) / (i + 2)),
  ]).mul(w);

/** ln Γ(z), z ≥ ½: about 2, reached by one step, and by Stirling's series further up. */
function logGammaAbove(z: Tensor): Tensor {
  const [low, near] = [z.less(1.5), z.less(3.5)];
  const high = near.and(z.greaterEqual(2.5));
  const small = select(near, z, 2);
  const w = select(low, small.sub(1), select(high, small.sub(3), small.sub(2)));
  const step = select(low, small.sub(1).log1p().neg(), select(high, select(high, small.sub(1), 1).log(), 0)); // biome-ignore format: one line
  const large = select(near, 4, z);
  const raised = large.less(16);
  const base = select(raised, large, 1);
  let product = base;
  for (let k = 1; k < raise; k++) product = product.mul(base.add(k));
  const v = select(raised, large.add(raise), large);
  const r = v.reciprocal();
  const series = polynomial(r.mul(r), stirling).mul(r);
  // (v − ½)·ln v − v, which is ∞ at ∞.
  const main = v
    .sub(0.5)
    .mul(v.log().sub(1))
    .add(0.5 * Math.log(2 * Math.PI) - 0.5);
  const far = main.add(series).sub(select(raised, product.log(), 0));
  return select(near, nearTwo(w).add(step), far);
}

/**
 * ln |Γ(x)|: ∞ at 0, −1, −2, …. Below ½ by reflection, ln π − ln |sin πx| − ln Γ(1 − x).
 *
 * x: float[…], integers become f32 → the same. The gradient is `digamma`. `torch.lgamma`,
 * `scipy.special.gammaln`.
 *
 * @example
 *   lgamma(tensor([1, 5])) // [0, ln 24]; ln 4!
 */
export const lgamma = (x: Tensor): Tensor =>
  inFloat("lgamma", x, (v) => {
    const below = v.less(0.5);
    const above = logGammaAbove(select(below, v.neg().add(1), v));
    const turn = select(below, v, 0.25);
    const sine = turn.sub(turn.round()).mul(Math.PI).sin().abs();
    const pole = sine.equal(0);
    const reflected = select(pole, 1, sine).log().neg().add(Math.log(Math.PI)).sub(above);
    const finite = select(below, select(pole, Number.POSITIVE_INFINITY, reflected), above);
    return select(isInfinite(v), Number.POSITIVE_INFINITY, finite);
  });

const isInfinite = (x: Tensor): Tensor => x.abs().equal(Number.POSITIVE_INFINITY);

/**
 * ψ(x), the slope of ln Γ: NaN at −1, −2, …, −∞ at 0. Below ½ by reflection, ψ(1 − x) − π/tan πx.
 *
 * x: float[…], integers become f32 → the same. `torch.digamma`.
 *
 * @example
 *   digamma(tensor([1])) // [−0.5772…]
 */
export const digamma = (x: Tensor): Tensor =>
  inFloat("digamma", x, (v) => {
    const below = v.less(0.5);
    const z = select(below, v.neg().add(1), v);
    const raised = z.less(16);
    const base = select(raised, z, 1);
    let steps = base.reciprocal();
    for (let k = 1; k < raise; k++) steps = steps.add(base.add(k).reciprocal());
    const top = select(raised, z.add(raise), z);
    const r = top.reciprocal();
    const tail = polynomial(r.mul(r), slopes).mul(r).mul(r).add(r.mul(0.5));
    const above = top
      .log()
      .sub(tail)
      .sub(select(raised, steps, 0));
    const turn = select(below, v, 0.25);
    const part = turn.sub(turn.round()).mul(Math.PI);
    const pole = below.and(part.equal(0));
    const reflected = above.sub(
      part
        .cos()
        .div(select(pole, 1, part.sin()))
        .mul(Math.PI),
    );
    const value = select(below, reflected, above);
    return select(pole, select(v.equal(0), Number.NEGATIVE_INFINITY, Number.NaN), value);
  });

// Giles 2010, Approximating the erfinv function, single precision; the highest power first.
// biome-ignore format: tables
const central = [2.81022636e-8, 3.43273939e-7, -3.5233877e-6, -4.39150654e-6, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941];
// biome-ignore format: tables
const outer = [-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682];

const halfRootPi = Math.sqrt(Math.PI) / 2;

/** The value alone; of doubles with two steps of Newton's rule on the side that does not cancel. */
function inverseErf(x: Tensor): Tensor {
  const w = x.neg().add(1).mul(x.add(1)).log().neg();
  const near = w.less(5);
  const p = polynomial(select(near, w, 0).sub(2.5), [...central].reverse());
  const q = polynomial(select(near, 9, w).sqrt().sub(3), [...outer].reverse());
  let y = select(near, p, q).mul(x);
  if (x.dtype !== "f64") return y;
  for (let k = 0; k < 2; k++) {
    const sign = select(x.less(0), -1, 1);
    const miss = erfc(y.mul(sign)).sub(x.mul(sign).neg().add(1)).mul(sign);
    y = y.add(miss.mul(y.mul(y).exp()).mul(halfRootPi));
  }
  return y;
}

/**
 * The y with erf y = x: ±∞ at ±1, NaN outside. Slopes are y′ = ½√π·e^(y²), y″ = 2y·y′² and
 * y‴ = (2 + 8y²)·y′³, exact to the third order.
 *
 * x: float[…], integers become f32 → the same. `torch.erfinv`. Giles 2010.
 *
 * @example
 *   erfinv(tensor([0.5])) // [0.47693…]
 */
export const erfinv = (x: Tensor): Tensor =>
  inFloat("erfinv", x, (v) => {
    const inside = v.abs().less(1);
    const safe = select(inside, v, 0);
    const held = safe.stopGradient();
    const y = inverseErf(held).stopGradient();
    const [d, slope] = [safe.sub(held), y.mul(y).exp().mul(halfRootPi)];
    // Taylor's series about the value: d is 0, and its slopes are not.
    const s = d.mul(slope);
    const third = y.mul(y).mul(8).add(2).div(6);
    const value = y.add(s).add(s.mul(s).mul(y)).add(s.mul(s).mul(s).mul(third));
    const end = select(v.greater(0), Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
    const edge = select(v.abs().equal(1), end, Number.NaN);
    return select(inside, value, edge);
  });
