/**
 * eˣ and what is made of it. Reduction: x = n·ln 2 + r, |r| ≤ ½ ln 2, ln 2 in two parts of which n
 * times the first is exact (Cody & Waite 1980, chapter 6). Polynomials and rational functions are
 * minimax fits of our own (Lawson's weighted least squares at 400 points, coefficients rounded to
 * f32 from the lowest up, the rest fitted again).
 */
import { type Code, op } from "../code.ts";
import {
  abs,
  add,
  atLeast,
  atMost,
  type Bind,
  div,
  f32,
  i32,
  isub,
  less,
  type MathCode,
  madd,
  mul,
  nearest,
  nmadd,
  polynomial,
  select,
  shiftLeft,
  shiftRight,
  sub,
  withSign,
} from "./vector.ts";

/** Twice the offset of exponent bits. */
const bias = 254;
/**
 * Adding this much, 1.5·2²³ and more, rounds to an integer n, and leaves n + bias in the low bits.
 */
const magic = f32(12582912 + bias);
const ln2High = 0.693359375;
const ln2Low = -2.1219444e-4;

interface Reduced {
  /**
   * n + what the rounder adds, `bias` by default, as an integer in the low nine bits, and something
   * else above them.
   */
  readonly bits: Code;
  readonly n: Code;
  readonly r: Code;
}

/** x = n·ln 2 + r for |x| < 2²⁰. */
function reduce(x: Code, bind: Bind, rounder: Code = magic): Reduced {
  const bits = bind("v128", madd(x, f32(Math.LOG2E), rounder));
  const n = bind("v128", sub(bits, rounder));
  const r = bind("v128", nmadd(n, f32(ln2Low), nmadd(n, f32(ln2High), x)));
  return { bits, n, r };
}

/** e^r to 3·10⁻⁹. */
const expCoefficients = [0.0013942214, 0.008368849, 0.041666385, 0.1666652, 0.5, 1, 1];

/** 2ⁿ in two factors: 2^⌊n/2⌋ and the rest. */
function halves(bits: Code, bind: Bind): { first: Code; second: Code } {
  const half = bind("v128", shiftRight(bits, 1));
  return { first: shiftLeft(half, 23), second: shiftLeft(isub(bits, half), 23) };
}

/** p·2ⁿ, rounded once where it is subnormal. */
function scaled(p: Code, bits: Code, bind: Bind): Code {
  const { first, second } = halves(bits, bind);
  return mul(mul(p, first), second);
}

/** Beyond the bounds the result is 0 or overflows all the same. */
const clamp = (x: Code, low: number, high: number): Code => atLeast(atMost(x, f32(high)), f32(low));

const exp: MathCode = ([x], bind) => {
  const { bits, r } = reduce(bind("v128", clamp(x!, -104, 89)), bind);
  return scaled(polynomial(expCoefficients, r), bits, bind);
};

/** Odd as the bias of an exponent is, so that ties are rounded as with `magic`. */
const lift = 65;
const liftedMagic = f32(12582912 + 127 + lift);

/**
 * eˣ of x ≤ 0, bit for bit: p·2ⁿ⁺⁶⁵ is normal for all n that count, and rounded once when it is
 * brought down.
 */
export const expNonPositive: MathCode = ([x], bind) => {
  const c = bind("v128", atLeast(x!, f32(-104)));
  const { bits, r } = reduce(c, bind, liftedMagic);
  const high = mul(polynomial(expCoefficients, r), shiftLeft(bits, 23));
  return mul(high, f32(2 ** -lift));
};

/** 2^(n + rest) for whole n, |n| < 2²⁰, and |rest| ≤ ½. */
export function exp2Of(n: Code, rest: Code, bind: Bind): Code {
  const bits = bind("v128", add(n, magic));
  const r = bind("v128", mul(rest, f32(Math.LN2)));
  return scaled(polynomial(expCoefficients, r), bits, bind);
}

const exp2: MathCode = ([x], bind) => {
  const c = bind("v128", clamp(x!, -151, 129));
  const n = bind("v128", nearest(c));
  return exp2Of(n, sub(c, n), bind);
};

/**
 * s / (s + p·s·2ⁿ) with p·2ⁿ = e⁻ˣ and s = 2^−⌊n/2⌋: nothing in it overflows, and the quotient is
 * rounded once.
 */
const sigmoid: MathCode = ([x], bind) => {
  const { bits, r } = reduce(bind("v128", op("f32x4.neg", clamp(x!, -104, 104))), bind);
  const { first, second } = halves(bits, bind);
  const s = bind("v128", isub(i32(2 * 0x3f800000), first));
  return div(s, madd(polynomial(expCoefficients, r), second, s));
};

/** tanh x = x·P(x²)/Q(x²) to 3·10⁻⁸ up to 9.02, from where on it is 1. */
const tanhP = [1.338428e-8, 2.0635815e-5, 0.0034974571, 0.13382687, 1];
const tanhQ = [7.790245e-7, 3.2885166e-4, 0.025884358, 0.46716008, 1];
const tanh: MathCode = ([x], bind) => {
  const c = bind("v128", clamp(x!, -9.02, 9.02));
  const s = bind("v128", mul(c, c));
  return clamp(div(mul(c, polynomial(tanhP, s)), polynomial(tanhQ, s)), -1, 1);
};

/** erf x = x·P(x²)/Q(x²) to 5·10⁻⁸ up to 3.95, from where on it is 1, so that 1 − erf x is 0. */
const erfP = [2.0419716e-6, 2.8480872e-4, 0.0037796104, 0.052790288, 0.19078384, 1.1283791];
const erfQ = [3.800409e-5, 0.0011652132, 0.014997439, 0.11425753, 0.5024105, 1];
const erf: MathCode = ([x], bind) => {
  const c = bind("v128", clamp(x!, -4.1, 4.1));
  const s = bind("v128", mul(c, c));
  return clamp(div(mul(c, polynomial(erfP, s)), polynomial(erfQ, s)), -1, 1);
};

/** e^r = 1 + r + r²·P(r), P to 2·10⁻¹⁰ of r. */
const expm1Coefficients = [1.9944269e-4, 0.0013932708, 0.008333208, 0.04166649, 0.16666667, 0.5];

/** 2·(2ⁿ⁻¹·(e^r − 1) + (2ⁿ⁻¹ − ½)): 2ⁿ itself may overflow. x itself near 0. */
const expm1: MathCode = ([x], bind) => {
  const { bits, r } = reduce(bind("v128", clamp(x!, -25, 89)), bind);
  const power = bind("v128", isub(shiftLeft(bits, 23), i32(0x40000000)));
  const near = madd(mul(r, r), polynomial(expm1Coefficients, r), r);
  const y = bind("v128", madd(near, power, sub(power, f32(0.5))));
  return select(less(abs(x!), f32(1e-8)), x!, add(y, y));
};

/** h = ½·e^|x| and 1/(4·h), the two halves of sinh and cosh. */
function halfPowers(x: Code, bind: Bind): { rising: Code; falling: Code } {
  const { bits, r } = reduce(bind("v128", atMost(abs(x), f32(91))), bind);
  const lower = bind("v128", isub(bits, i32(1)));
  const rising = bind("v128", scaled(polynomial(expCoefficients, r), lower, bind));
  return { rising, falling: div(f32(0.25), rising) };
}

const cosh: MathCode = ([x], bind) => {
  const { rising, falling } = halfPowers(x!, bind);
  return add(rising, falling);
};

/** Below 1, where the difference would cancel, x + x³·P(x²), P to 3·10⁻¹⁰. */
const sinhCoefficients = [2.7839258e-6, 1.9842635e-4, 0.008333311, 0.16666667];
const sinh: MathCode = ([x], bind) => {
  const { rising, falling } = halfPowers(x!, bind);
  const far = withSign(sub(rising, falling), x!);
  const s = bind("v128", mul(x!, x!));
  const near = madd(mul(x!, s), polynomial(sinhCoefficients, s), x!);
  return select(less(s, f32(1)), near, far);
};

// biome-ignore format: one row
export const exponential: Readonly<Record<string, MathCode>> = { exp, exp2, expm1, sigmoid, tanh, erf, sinh, cosh };
