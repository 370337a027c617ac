/**
 * Logarithms. Reduction: x = 2ᵉ·(1 + f) with 1 + f in [√½, √2); ln(1 + f) = f − f²/2 + f³·P(f), P a
 * minimax fit of our own as in `exponential.ts`.
 */
import { type Code, op } from "../code.ts";
import {
  abs,
  add,
  and,
  atMost,
  type Bind,
  div,
  equal,
  f32,
  i32,
  iadd,
  infinity,
  isub,
  less,
  type MathCode,
  madd,
  mul,
  or,
  polynomial,
  select,
  shiftLeft,
  shiftRight,
  sqrt,
  sub,
  withSign,
} from "./vector.ts";

/** x = 2ᵉ·(1 + f). */
interface Split {
  readonly exponent: Code;
  readonly e: Code;
  readonly f: Code;
}

const rootHalf = i32(0x3f3504f3);

/** e and f of a positive normal x; `shift` is added to e. */
function split(x: Code, shift: Code | undefined, bind: Bind): Split {
  const exponent = bind("v128", shiftRight(isub(x, rootHalf), 23));
  const f = bind("v128", sub(isub(x, shiftLeft(exponent, 23)), f32(1)));
  const whole = shift ? iadd(exponent, shift) : exponent;
  const e = bind("v128", op("f32x4.convert_i32x4_s", whole));
  return { exponent, e, f };
}

/** Brings subnormal numbers into the normal range before they are split. */
export function splitAny(x: Code, bind: Bind): Split {
  const tiny = bind("v128", less(x, f32(1.17549435e-38)));
  const normal = bind("v128", select(tiny, mul(x, f32(8388608)), x));
  return split(normal, and(tiny, i32(-23)), bind);
}

const coefficients = [
  -0.07636428, 0.12762213, -0.1315961, 0.1420158, -0.16623409, 0.20001242, -0.2500082, 0.3333333,
];

/** The terms of ln(1 + f) after f. */
function afterFirst(f: Code, bind: Bind): Code {
  const s = bind("v128", mul(f, f));
  return madd(s, f32(-0.5), mul(mul(s, f), polynomial(coefficients, f)));
}

/** e·ln 2 + f + rest, smallest first. */
const joined = (e: Code, f: Code, rest: Code): Code =>
  madd(e, f32(0.693359375), add(f, madd(e, f32(-2.1219444e-4), rest)));

/** y, but −∞ at 0, NaN below it, and x where x is infinite or NaN. */
function edges(y: Code, x: Code): Code {
  const finite = select(less(x, infinity), y, x);
  return or(select(equal(x, f32(0)), i32(0xff800000), finite), less(x, f32(0)));
}

const log: MathCode = ([x], bind) => {
  const { e, f } = splitAny(x!, bind);
  return edges(joined(e, f, afterFirst(f, bind)), x!);
};

const log2: MathCode = ([x], bind) => {
  const { e, f } = splitAny(x!, bind);
  const rest = bind("v128", afterFirst(f, bind));
  const low = madd(rest, f32(Math.LOG2E), mul(f, f32(0.44269504)));
  return edges(add(e, add(f, low)), x!);
};

/**
 * ln(1 + x) of u = 1 + x as rounded: what u lost is added to f, scaled as f is (Goldberg 1991,
 * theorem 4).
 */
function logOnePlus(x: Code, bind: Bind): Code {
  const u = bind("v128", add(x, f32(1)));
  const { exponent, e, f } = split(u, undefined, bind);
  // 0 where 2⁻ᵉ is subnormal: nothing was lost of numbers that large.
  const scale = op("i32x4.max_s", isub(i32(0x3f800000), shiftLeft(exponent, 23)), i32(0));
  const lost = sub(x, sub(u, f32(1)));
  const whole = bind("v128", madd(lost, scale, f));
  return bind("v128", edges(joined(e, whole, afterFirst(whole, bind)), u));
}

/** The sign, which the sum loses at −0, is that of x. */
const log1p: MathCode = ([x], bind) => withSign(logOnePlus(x!, bind), x!);

const large = f32(1073741824);
/** Arguments beyond 2³⁰, where ln(x + √(x² ± 1)) is ln x + ln 2. */
const logOrTwice = (near: Code, x: Code, bind: Bind): Code => {
  const far = bind("v128", less(large, x));
  const y = logOnePlus(bind("v128", select(far, x, near)), bind);
  return add(y, and(far, f32(Math.LN2)));
};

/** arsinh a = ln(1 + a + a²/(1 + √(1 + a²))). */
const asinh: MathCode = ([x], bind) => {
  const a = bind("v128", abs(x!));
  const c = bind("v128", atMost(a, large));
  const s = bind("v128", mul(c, c));
  const near = add(c, div(s, add(f32(1), sqrt(add(s, f32(1))))));
  return withSign(logOrTwice(near, a, bind), x!);
};

/** arcosh x = ln(1 + t + √(2t + t²)) with t = x − 1; NaN below 1. */
const acosh: MathCode = ([x], bind) => {
  const t = bind("v128", sub(atMost(x!, large), f32(1)));
  const near = add(t, sqrt(mul(t, add(t, f32(2)))));
  return or(logOrTwice(near, x!, bind), less(x!, f32(1)));
};

/** artanh a = ½·ln(1 + 2a/(1 − a)). */
const atanh: MathCode = ([x], bind) => {
  const a = bind("v128", abs(x!));
  const near = bind("v128", div(add(a, a), sub(f32(1), a)));
  return withSign(mul(f32(0.5), logOnePlus(near, bind)), x!);
};

// biome-ignore format: one row
export const logarithm: Readonly<Record<string, MathCode>> = { log, log2, log1p, asinh, acosh, atanh };
