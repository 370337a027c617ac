/**
 * The error function's complement, and the normal distribution's share below x, with all their
 * digits where they are small. Relative errors are a few 1e-7 in f32 and about 1e-13 in f64; slopes
 * are as right.
 */
import type { Tensor } from "../../node.ts";
import { select } from "../elementwise/compare.ts";
import { inFloat, polynomial } from "./formulas.ts";

// Cody 1969, Rational Chebyshev approximations for the error function: erfc between 0.46875 and 4,
// and above; the highest power first.
// biome-ignore format: tables
const middle = {
  over: [2.1531153547440383e-8, 0.5641884969886701, 8.883149794388377, 66.11919063714163, 298.6351381974001, 881.952221241769, 1712.0476126340707, 2051.0783778260716, 1230.3393547979972],
  under: [1, 15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903, 3290.7992357334597, 4362.619090143247, 3439.3676741437216, 1230.3393548037495],
};
// biome-ignore format: tables
const tail = {
  over: [0.016315387137302097, 0.30532663496123236, 0.36034489994980445, 0.12578172611122926, 0.016083785148742275, 0.0006587491615298378],
  under: [1, 2.568520192289822, 1.8729528499234673, 0.5279051029514285, 0.06051834131244132, 0.0023352049762686918],
};

const ratio = (x: Tensor, { over, under }: { over: readonly number[]; under: readonly number[] }): Tensor =>
  polynomial(x, [...over].reverse()).div(polynomial(x, [...under].reverse())); // biome-ignore format: short

// e^(a²)·erfc a·(a + c) for a ≥ 0 as a polynomial of u = (a − c)/(a + c): interpolated at
// Chebyshev's nodes, to 9·10⁻⁹; the lowest power first.
const scaledCentre = 2.5;
// biome-ignore format: tables
const scaledSeries = [1.0540318203057182, -0.8046519341164874, 0.4539142497453342, -0.17124941864200874, 0.028358867110182456, 0.008382888215827177, -0.0048034551099035185, -0.0004136038002351228, 0.000666220797106765, 0.000026865591834401973, -0.00007292145695975868];

/** x within ±60, its square, and in f32 what the square's rounding left. */
interface Squared {
  readonly held: Tensor;
  readonly square: Tensor;
  readonly left: Tensor | undefined;
}

/** What is left is a sum of products of the halves of x at sixty-fourths. Dekker 1971. */
function squared(x: Tensor): Squared {
  const held = select(x.greater(60), 60, select(x.less(-60), -60, x));
  const square = held.mul(held);
  if (x.dtype !== "f32") return { held, square, left: undefined };
  const high = held
    .mul(64)
    .round()
    .mul(1 / 64);
  const low = held.sub(high);
  const left = high.mul(high).sub(square).add(high.mul(low).mul(2)).add(low.mul(low));
  return { held, square, left: left.stopGradient() };
}

/**
 * e^(−k·x²). With the rounded square alone an f32 would be wrong by 4·10⁻⁶ where the result is
 * smallest.
 */
function bell(x: Tensor, k: number): Tensor {
  const { square, left } = squared(x);
  const main = square.mul(-k).exp();
  return left ? main.mul(left.mul(-k).add(1)) : main;
}

/** e^(a²)·erfc a of doubles, a ≥ 0.46875. */
function scaledDouble(a: Tensor): Tensor {
  const far = a.greater(4);
  const m = select(far, 1, a);
  const t = select(far, select(a.greater(30), 30, a), 5);
  const r = t.mul(t).reciprocal();
  const inTail = ratio(r, tail)
    .mul(r)
    .neg()
    .add(1 / Math.sqrt(Math.PI))
    .div(t);
  return select(far, inTail, ratio(m, middle));
}

/** e^(a²)·erfc a, a ≥ 0. */
function scaledSingle(a: Tensor): Tensor {
  const r = a.add(scaledCentre).reciprocal();
  return polynomial(r.mul(-2 * scaledCentre).add(1), scaledSeries).mul(r);
}

/** erfc v where e^(−v²) is known. */
function erfcBy(v: Tensor, square: Tensor): Tensor {
  const below = v.less(0);
  const a = select(below, v.neg(), v);
  if (v.dtype !== "f64") {
    const above = square.mul(scaledSingle(a));
    return select(below, above.neg().add(2), above);
  }
  const small = a.less(0.46875);
  const above = square.mul(scaledDouble(select(small, 1, a)));
  const turned = select(below, above.neg().add(2), above);
  return select(small, select(small, v, 0).erf().neg().add(1), select(v.isNan(), v, turned));
}

/**
 * 1 − erf x, without cancelling where erf is near 1.
 *
 * x: float[…], integers become f32 → the same. `torch.erfc`. Cody 1969 for f64.
 *
 * @example
 *   erfc(tensor([5])) // [1.537e−12]
 */
export const erfc = (x: Tensor): Tensor => inFloat("erfc", x, (v) => erfcBy(v, bell(v, 1)));

/**
 * The standard normal distribution's share below x, Φ(x) = ½·erfc(−x/√2), without cancelling where
 * it is small. Its slopes are those of ½·erf(x/√2), with what its square's rounding takes put back:
 * those of the series' own steps are some twenty values that a backward pass would keep. erf is
 * finite, so that nothing is taken from the value.
 */
export function normalCdf(x: Tensor): Tensor {
  const value = erfcBy(x.mul(-Math.SQRT1_2), bell(x, 0.5)).mul(0.5).stopGradient();
  const { held, square, left } = squared(x);
  const scaled = held.mul(Math.SQRT1_2);
  const off = left && scaled.mul(scaled).sub(square.mul(0.5)).sub(left.mul(0.5));
  const share = scaled.erf().mul(0.5);
  const near = off ? share.mul(off.add(1).stopGradient()) : share;
  return value.add(near.sub(near.stopGradient()));
}
