/**
 * The inverse trigonometric functions. atan t = t + t³·P(t²) on [0, 1], asin t = t + t³·P(t²) on
 * [0, ½], with minimax fits of our own as in `exponential.ts`; multiples of π/2 are added in two
 * parts.
 */
import type { Code } from "../code.ts";
import {
  abs,
  add,
  and,
  andNot,
  type Bind,
  div,
  equal,
  f32,
  less,
  type MathCode,
  madd,
  mul,
  polynomial,
  select,
  shiftRight,
  signBit,
  sqrt,
  sub,
  withSign,
  xor,
} from "./vector.ts";

const pi = { high: f32(Math.PI), low: f32(-8.742278e-8) };
const halfPi = { high: f32(1.5707964), low: f32(-4.371139e-8) };
const one = f32(1);
const half = f32(0.5);

/** An angle of which `base` picks the multiple of π/2, given its two parts, plus t. */
const turned = (base: (part: "high" | "low") => Code, t: Code): Code =>
  add(base("high"), add(t, base("low")));

// biome-ignore format: one row
const atanCoefficients = [-0.0017821759, 0.010866363, -0.031093631, 0.057878915, -0.08399209, 0.10950861, -0.14264014, 0.1999853, -0.333333];
const asinCoefficients = [0.042219684, 0.024148172, 0.045476656, 0.07495249, 0.16666754];

/** t + t·s·P(s). */
const odd = (t: Code, s: Code, coefficients: readonly number[]): Code =>
  madd(mul(t, s), polynomial(coefficients, s), t);

function atanBelowOne(t: Code, bind: Bind): Code {
  return bind("v128", odd(t, bind("v128", mul(t, t)), atanCoefficients));
}

/** atan a = π/2 − atan(1/a) above 1. */
const atan: MathCode = ([x], bind) => {
  const a = bind("v128", abs(x!));
  const big = bind("v128", less(one, a));
  const t = bind("v128", div(select(big, one, a), select(big, a, one)));
  const r = xor(atanBelowOne(t, bind), and(big, signBit));
  return withSign(
    turned((part) => and(big, halfPi[part]), r),
    x!,
  );
};

/**
 * The angle of (|x|, |y|), from the lesser over the greater, taken to the quadrant of the signs.
 */
const atan2: MathCode = ([y, x], bind) => {
  const ax = bind("v128", abs(x!));
  const ay = bind("v128", abs(y!));
  const steep = bind("v128", less(ax, ay));
  const above = bind("v128", select(steep, ax, ay));
  const below = bind("v128", select(steep, ay, ax));
  // Equal ones may be both infinite, or both 0.
  const diagonal = andNot(one, equal(below, f32(0)));
  const t = bind("v128", select(equal(above, below), diagonal, div(above, below)));
  const left = bind("v128", shiftRight(x!, 31));
  const r = xor(atanBelowOne(t, bind), and(xor(steep, left), signBit));
  return withSign(
    turned((part) => select(steep, halfPi[part], and(left, pi[part])), r),
    y!,
  );
};

/** asin |x| below ½, above it asin √((1 − |x|)/2); `far` says where. */
function asinNear(x: Code, bind: Bind): { far: Code; angle: Code } {
  const a = bind("v128", abs(x));
  const far = bind("v128", less(half, a));
  const s = bind("v128", select(far, mul(sub(one, a), half), mul(a, a)));
  const t = bind("v128", select(far, sqrt(s), a));
  return { far, angle: bind("v128", odd(t, s, asinCoefficients)) };
}

/** asin a = π/2 − 2·asin √((1 − a)/2). */
const asin: MathCode = ([x], bind) => {
  const { far, angle } = asinNear(x!, bind);
  const beyond = add(sub(halfPi.high, add(angle, angle)), halfPi.low);
  return withSign(select(far, beyond, angle), x!);
};

/**
 * acos x = π/2 − asin x below ½; 2·asin √((1 − a)/2) or π less that, by the sign of x, above it.
 */
const acos: MathCode = ([x], bind) => {
  const { far, angle } = asinNear(x!, bind);
  const left = bind("v128", shiftRight(x!, 31));
  const t = bind("v128", select(far, add(angle, angle), angle));
  const signed = xor(t, and(xor(x!, andNot(signBit, far)), signBit));
  return turned((part) => select(far, and(left, pi[part]), halfPi[part]), signed);
};

export const angle: Readonly<Record<string, MathCode>> = { atan, atan2, asin, acos };
