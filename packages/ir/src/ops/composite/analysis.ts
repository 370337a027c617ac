/**
 * Sums under curves, the Bessel function of windows, correlations, the most common element, and a
 * softmax that may choose nothing.
 */
import { isFloat } from "../../dtype.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, printShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { cummax } from "../cumulative.ts";
import { maximum } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { takeAlongAxis } from "../gather.ts";
import { concat } from "../join.ts";
import { expandDims, sliceAxis, squeeze } from "../movement.ts";
import { argMax, max, sum } from "../reduce.ts";
import { sort } from "../sort.ts";
import { iota, tensor } from "../source.ts";
import { inFloat32 } from "./in-float32.ts";
import { cov } from "./order-statistics.ts";
import { mean } from "./statistics.ts";
import { diagonal } from "./triangle.ts";

export interface TrapezoidOptions {
  /** Places of the values: of their shape, or of the axis's extent. */
  readonly x?: Tensor;
  /** Distance of places, where `x` is not given; default 1. */
  readonly dx?: number;
  /** The last by default. */
  readonly axis?: number;
}

const trapezoidOptions: OptionNames<TrapezoidOptions> = { x: 1, dx: 1, axis: 1 };

/**
 * The area under a curve by the trapezoidal rule: Σ (yᵢ + yᵢ₊₁)/2·(xᵢ₊₁ − xᵢ) along an axis, the
 * last by default. y: float[…, n, …] → [...]. `torch.trapezoid`, `numpy.trapezoid`.
 * @example
 *   trapezoid(tensor([1, 2, 3])) // 4
 */
export function trapezoid(y: Tensor, options: TrapezoidOptions = {}): Tensor {
  checkTensor("trapezoid", y);
  const { x, dx = 1, axis = -1 } = checkOptions("trapezoid", options, trapezoidOptions);
  const a = checkAxis("trapezoid", axis, y.rank);
  const middle = neighbours(y, a, (p, q) => p.add(q).mul(0.5));
  if (!x) return sum(middle, a).mul(dx);
  if (x.rank !== 1 && x.rank !== y.rank)
    throw new ShapeError(
      `trapezoid: places ${printShape(x.shape)} do not fit values ${printShape(y.shape)}\n  give one for each value, or one for each place of the axis`,
    );
  const line = x.rank === 1 && y.rank > 1;
  const steps = neighbours(x, line ? 0 : a, (p, q) => q.sub(p));
  const after = y.shape.slice(a + 1).map(() => 1);
  const wide = line ? steps.reshape([steps.shape[0]!, ...after]) : steps;
  return sum(middle.mul(wide), a);
}

/** Of each element and the next along an axis. */
const neighbours = (t: Tensor, axis: number, of: (p: Tensor, q: Tensor) => Tensor): Tensor =>
  of(sliceAxis(t, axis, 0, -1), sliceAxis(t, axis, 1));

/**
 * Nodes of the rule by which `i0` is computed: with so many it is exact as far as the dtype reaches
 * before it overflows.
 */
const nodes = { f32: 40, f64: 128 } as const;

/**
 * The modified Bessel function of the first kind and order 0: 1/π·∫₀^π e^(x·cos t) dt, by the
 * midpoint rule, which converges as fast as the integrand is periodic; 40 exponentials an element
 * in f32, 128 in f64. x: float[...] → the same. `torch.i0`, `numpy.i0`.
 *
 * @example
 *   i0(tensor([0, 1])) // [1, 1.2661]
 */
export function i0(x: Tensor): Tensor {
  checkTensor("i0", x);
  if (!isFloat(x.dtype))
    throw new DtypeError(`i0: takes floats, got ${x.dtype}\n  convert it: x.convert("f32")`);
  return inFloat32([x], (wide) => {
    const dtype = wide.dtype === "f64" ? "f64" : "f32";
    const n = nodes[dtype];
    // Halves of the interval are mirrors: cosh needs one.
    const cosines = Float64Array.from({ length: n }, (_, k) => Math.cos((Math.PI * (k + 0.5)) / n));
    const places = tensor(dtype === "f64" ? cosines : Float32Array.from(cosines));
    return mean(expandDims(wide, -1).mul(places).exp(), -1);
  });
}

/**
 * Correlations of variables, one a row: cov(i, j)/√(cov(i, i)·cov(j, j)). x: float[v, n] → [v, v].
 * NaN for one that does not vary. `torch.corrcoef`, `numpy.corrcoef`.
 * @example
 *   corrcoef(tensor([[1, 2, 3], [6, 4, 2]])) // [[1, −1], [−1, 1]]
 */
export function corrcoef(x: Tensor): Tensor {
  checkTensor("corrcoef", x);
  if (x.rank !== 2)
    throw new ShapeError(`corrcoef: x is ${printShape(x.shape)}, not [variables, observations]`);
  const c = cov(x);
  const deviation = diagonal(c).sqrt();
  return c.div(expandDims(deviation, 1)).div(expandDims(deviation, 0));
}

/**
 * The element that stands most often along an axis, the least of those that do: [..., n, ...] →
 * [...]. The gradient goes to places of it. Throws ShapeError for a scalar. `torch.mode`,
 * `scipy.stats.mode`.
 *
 * @param x The tensor.
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   mode(tensor([3, 1, 3, 2])) // 3
 */
export function mode(x: Tensor, axis = -1): Tensor {
  checkTensor("mode", x);
  if (x.rank === 0) throw new ShapeError("mode: a scalar has no axis\n  it is the element itself");
  const a = checkAxis("mode", axis, x.rank);
  const sorted = sort(x, a);
  const places = iota(x.shape, a);
  const first = sliceAxis(sorted, a, 0, 1);
  // Where a run of equal elements begins, and how far each place is from there.
  const begins = concat([first.equal(first), neighbours(sorted, a, (p, q) => p.notEqual(q))], a);
  const run = places.sub(cummax(select(begins, places, 0), a));
  const at = argMax(run, a, { keepDims: true });
  return squeeze(takeAlongAxis(sorted, at, a), a);
}

/**
 * eˣ/(1 + Σeˣ) along `axis`: a softmax beside a 0 that it need not choose from, so that a row of
 * low scores weighs little. x: float[...] → the same. Miller 2023, Attention is off by one. No
 * counterpart in PyTorch.
 *
 * @example
 *   quietSoftmax(tensor([0, 0])) // [⅓, ⅓]
 */
export function quietSoftmax(x: Tensor, axis = -1): Tensor {
  checkTensor("quietSoftmax", x);
  const a = checkAxis("quietSoftmax", axis, x.rank);
  return inFloat32([x], (wide) => {
    const peak = maximum(max(wide, a, { keepDims: true, empty: "identity" }), 0).stopGradient();
    const e = wide.sub(peak).exp();
    return e.div(sum(e, a, { keepDims: true }).add(peak.neg().exp()));
  });
}
