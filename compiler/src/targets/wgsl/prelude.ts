/**
 * WGSL functions that the emitted text calls: ops the language lacks, or whose built-in goes wrong
 * on NaN, near zero or for huge arguments. Written once for any number of lanes: F, I, U and B
 * stand for the float, int, uint and bool types of the call's width, `$name` for another function
 * of the prelude at that width.
 */
import { halfPrelude } from "./half.ts";
import { nativeHalfPrelude } from "./native-half.ts";
import { trigonometry } from "./trigonometry.ts";

/** Bits, because implementations may assume that floats are never NaN (WGSL 15.7.2). */
const isNan = `fn $isNan(x: F) -> B {
  return (bitcast<U>(x) & U(0x7fffffffu)) > U(0x7f800000u);
}`;
const finite = `fn $isFinite(x: F) -> B {
  return (bitcast<U>(x) & U(0x7f800000u)) != U(0x7f800000u);
}`;

/** Constants that are no constant expressions, which may not be infinite or NaN (WGSL 8.1). */
const infinity = `var<private> infinityBits: u32 = 0x7f800000u;
fn infinity() -> f32 {
  return bitcast<f32>(infinityBits);
}`;
const nan = `var<private> nanBits: u32 = 0x7fc00000u;
fn nan() -> f32 {
  return bitcast<f32>(nanBits);
}`;

const maximum = `fn $maximum(a: F, b: F) -> F {
  return select(select(max(a, b), b, $isNan(b)), a, $isNan(a));
}`;
const minimum = `fn $minimum(a: F, b: F) -> F {
  return select(select(min(a, b), b, $isNan(b)), a, $isNan(a));
}`;
const signOf = `fn $signOf(x: F) -> F {
  return select(sign(x), x, $isNan(x) | (x == F(0.0)));
}`;

/**
 * eˣ − 1: its series to x⁹/9! below ½, where the difference would cancel. Products, as division is
 * several instructions.
 */
const expm1 = `fn $expm1(x: F) -> F {
  var p = 2.7557319e-6 * x + 2.4801588e-5;
  p = p * x + 1.984127e-4;
  p = p * x + 1.3888889e-3;
  p = p * x + 8.3333338e-3;
  p = p * x + 0.041666668;
  p = p * x + 0.16666667;
  p = p * x + 0.5;
  p = p * x + 1.0;
  return select($expOf(x) - 1.0, x * p, abs(x) < F(0.5));
}`;

/** eˣ; built-ins may make something else of NaN. */
const expOf = `fn $expOf(x: F) -> F {
  return select(exp(x), x, $isNan(x));
}`;

/** ln x away from 1, with the values at the edge of its domain that built-ins may miss. */
const logFar = `fn $logFar(x: F) -> F {
  let y = select(select(log(x), F(-infinity()), x == F(0.0)), F(nan()), x < F(0.0));
  return select(y, x, $isNan(x));
}`;
/** ln(1 + x) = 2 artanh s, s = x / (2 + x), by its series to s¹³/13 for −⅓ ≤ x ≤ ½. */
const logNear = `fn $logNear(x: F) -> F {
  let s = x / (x + 2.0);
  let q = s * s;
  let p = 1.0 + q * (1.0 / 3.0 + q * (0.2 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)))));
  return 2.0 * s * p;
}`;
const log1p = `fn $log1p(x: F) -> F {
  return select($logFar(1.0 + x), $logNear(x), (x < F(0.5)) & (x > F(-0.34)));
}`;
/** ln x, near 1 by the series: the built-in is only absolutely accurate there. */
const logOf = `fn $logOf(x: F) -> F {
  return select($logFar(x), $logNear(x - 1.0), (x < F(1.5)) & (x > F(0.7)));
}`;

const exp2Of = `fn $exp2Of(x: F) -> F {
  return select(exp2(x), x, $isNan(x));
}`;
/** log₂ x = ln x · log₂ e: the logarithm's edges and its accuracy near 1. */
const log2Of = `fn $log2Of(x: F) -> F {
  return $logOf(x) * 1.44269504;
}`;

/**
 * tanh |x| = 1 − 2 / (e^2|x| + 1), which is 1 from 9.1 on; below ⅝, where the difference would
 * cancel, x + x³·P(x²), P fitted to (tanh x / x − 1) / x² by least squares. Bits of |x| less those
 * of ⅝ wrap around below it, so one comparison finds what is below and NaN.
 */
const tanhOf = `fn $tanhOf(x: F) -> F {
  let bits = bitcast<U>(x);
  let size = bits & U(0x7fffffffu);
  let q = x * x;
  var p = -0.0056919856 * q + 0.020626292;
  p = p * q - 0.05373532;
  p = p * q + 0.13331382;
  p = p * q - 0.3333328;
  let near = x * (p * q + 1.0);
  let far = 1.0 - 2.0 / (exp(2.0 * min(abs(x), F(10.0))) + 1.0);
  let signed = bitcast<F>(bitcast<U>(far) | (bits ^ size));
  return select(signed, near, (size - U(0x3f200000u)) > U(0x40600000u));
}`;

/**
 * sinh |x| = (t + t / (t + 1)) / 2 with t = e^|x| − 1; from 80 on (½e^½|x|)·e^½|x|, which overflows
 * only where sinh does.
 */
const sinhOf = `fn $sinhOf(x: F) -> F {
  let a = abs(x);
  let t = $expm1(min(a, F(80.0)));
  let h = exp(0.5 * a);
  let y = select(0.5 * (t + t / (t + 1.0)), (0.5 * h) * h, a > F(80.0));
  return select(select(y, -y, x < F(0.0)), x, $isNan(x) | (x == F(0.0)));
}`;
const coshOf = `fn $coshOf(x: F) -> F {
  let a = abs(x);
  let h = exp(0.5 * a);
  let e = exp(min(a, F(80.0)));
  return select(select(0.5 * (e + 1.0 / e), (0.5 * h) * h, a > F(80.0)), x, $isNan(x));
}`;

/** arsinh |x| = log1p(|x| + x² / (1 + √(1 + x²))); from 2³⁰ on ln 2|x|. */
const asinhOf = `fn $asinhOf(x: F) -> F {
  let a = abs(x);
  let c = min(a, F(1073741824.0));
  let near = $log1p(c + c * c / (1.0 + sqrt(1.0 + c * c)));
  let y = select(near, log(a) + 0.69314718, a > c);
  return select(select(y, -y, x < F(0.0)), x, $isNan(x) | (x == F(0.0)));
}`;
/** arcosh x = log1p(t + √(2t + t²)) with t = x − 1. */
const acoshOf = `fn $acoshOf(x: F) -> F {
  let t = min(x, F(1073741824.0)) - 1.0;
  let y = select($log1p(t + sqrt(2.0 * t + t * t)), log(x) + 0.69314718, x > F(1073741824.0));
  return select(F(nan()), y, x >= F(1.0));
}`;
const atanhOf = `fn $atanhOf(x: F) -> F {
  let a = abs(x);
  let y = select(F(nan()), 0.5 * $log1p(2.0 * a / (1.0 - a)), a < F(1.0));
  let edge = select(y, F(infinity()), a == F(1.0));
  return select(select(edge, -edge, x < F(0.0)), x, $isNan(x) | (x == F(0.0)));
}`;

/**
 * IEEE 754 pow: the built-in has no negative bases; x⁰ and 1ʸ are 1 for every x and y. −0 has a
 * sign, which only its bits tell.
 */
const powOf = `fn $powOf(x: F, y: F) -> F {
  let a = abs(x);
  let one = select(pow(a, y), F(1.0), a == F(1.0));
  let pole = select(one, F(infinity()), (a == F(0.0)) & (y < F(0.0)));
  let m = select(pole, F(0.0), (a == F(0.0)) & (y > F(0.0)));
  let whole = floor(y) == y;
  let odd = whole & (floor(0.5 * y) * 2.0 != y);
  let signed = select(m, -m, (bitcast<I>(x) < I(0)) & odd);
  let real = select(signed, F(nan()), (x < F(0.0)) & $isFinite(x) & !whole);
  let known = select(real, x + y, $isNan(x) | $isNan(y));
  return select(known, F(1.0), (y == F(0.0)) | (x == F(1.0)));
}`;

/**
 * x − y·trunc(x / y), y in two halves of 12 bits so that their products with a quotient below 2¹²
 * are exact; a quotient rounded up to the next integer shows in the sign. x where y is infinite.
 */
const remOf = `fn $remOf(x: F, y: F) -> F {
  let quotient = x / y;
  let q = trunc(quotient);
  let high = bitcast<F>(bitcast<U>(y) & U(0xfffff000u));
  let near = (x - q * high) - q * (y - high);
  let r = select(near, near + abs(y) * sign(x), near * sign(x) < F(0.0));
  var whole = select(r, x, $isFinite(x) & !$isFinite(y) & !$isNan(y));
  let large = (bitcast<U>(quotient) & U(0x7fffffffu)) >= U(0x45800000u);
  let far = large & $isFinite(x) & $isFinite(y) & (y != F(0.0));
  if any(far) {
    whole = select(whole, $remFar(x, y), far);
  }
  return whole;
}`;
/**
 * The same for larger quotients: the fraction of x modulo that of y, for eight bits of the quotient
 * at a time.
 */
const remFar = `fn $remFar(x: F, y: F) -> F {
  let a = bitcast<U>(x) & U(0x7fffffffu);
  let b = bitcast<U>(y) & U(0x7fffffffu);
  let low = max(b >> U(23u), U(1u));
  let d = max((b & U(0x7fffffu)) | select(U(0u), U(0x800000u), b >= U(0x800000u)), U(1u));
  var m = ((a & U(0x7fffffu)) | select(U(0u), U(0x800000u), a >= U(0x800000u))) % d;
  var left = max(a >> U(23u), low) - low;
  while any(left != U(0u)) {
    let step = min(left, U(8u));
    m = (m << step) % d;
    left = left - step;
  }
  let size = F(m) * 1.1920929e-7 * bitcast<F>(low << U(23u));
  return bitcast<F>(bitcast<U>(size) | (bitcast<U>(x) & U(0x80000000u)));
}`;

/**
 * Floats without their fraction. WGSL says nothing of NaN, and brings what is too large to the
 * greatest float that fits, not integer.
 */
const wholeUint = `fn $wholeUint(x: F) -> U {
  let far = select(U(clamp(x, F(0.0), F(4294967040.0))), U(0xffffffffu), x >= F(4294967296.0));
  return select(far, U(0u), $isNan(x));
}`;
const wholeInt = `fn $wholeInt(x: F) -> I {
  let far = select(I(clamp(x, F(-2147483648.0), F(2147483520.0))), I(0x7fffffff), x >= F(2147483648.0));
  return select(far, I(0), $isNan(x));
}`;

/** Shifts count modulo 32 in WGSL; by more than that, as by less than 0, all bits go. */
const shiftLeftInt = `fn $shiftLeftInt(x: I, y: I) -> I {
  let by = bitcast<U>(y);
  return select(x << (by & U(31u)), I(0), by > U(31u));
}`;
const shiftLeftUint = `fn $shiftLeftUint(x: U, y: U) -> U {
  return select(x << (y & U(31u)), U(0u), y > U(31u));
}`;
const shiftRightInt = `fn $shiftRightInt(x: I, y: I) -> I {
  return x >> min(bitcast<U>(y), U(31u));
}`;
const shiftRightUint = `fn $shiftRightUint(x: U, y: U) -> U {
  return select(x >> (y & U(31u)), U(0u), y > U(31u));
}`;

/**
 * Powers of integers, wrapped: a square and a product for each bit of the exponent. 0 for negative
 * ones, unless of 1 or −1.
 */
const powUint = `fn $powUint(x: U, y: U) -> U {
  var result = U(1u);
  var factor = x;
  var left = y;
  for (var bit = 0; bit < 32; bit++) {
    result = select(result, result * factor, (left & U(1u)) == U(1u));
    factor = factor * factor;
    left = left >> U(1u);
  }
  return result;
}`;
const powInt = `fn $powInt(x: I, y: I) -> I {
  let whole = bitcast<I>($powUint(bitcast<U>(x), bitcast<U>(y)));
  return select(whole, I(0), (y < I(0)) & (x != I(1)) & (x != I(-1)));
}`;

/** Integer division truncates; by zero it gives 0, where WGSL's gives x. */
const divInt = `fn $divInt(x: I, y: I) -> I {
  return select(x / y, I(0), y == I(0));
}`;
const divUint = `fn $divUint(x: U, y: U) -> U {
  return select(x / y, U(0u), y == U(0u));
}`;
const remInt = `fn $remInt(x: I, y: I) -> I {
  return x % y;
}`;
const remUint = `fn $remUint(x: U, y: U) -> U {
  return x % y;
}`;

/** Hides a constant from constant evaluation, which makes overflow an error of the shader. */
const given = `fn $given(x: F) -> F {
  return x;
}`;
const givenInt = `fn $givenInt(x: I) -> I {
  return x;
}`;
const givenUint = `fn $givenUint(x: U) -> U {
  return x;
}`;

const sigmoid = `fn $sigmoid(x: F) -> F {
  return 1.0 / (1.0 + $expOf(-x));
}`;

/**
 * erf x: below 1 its Taylor series to x²¹; above it 1 − e^(−x²)·Q(1 / (1 + x/2)), Q a polynomial
 * fitted to e^(x²)·erfc x on [1, 4] by least squares.
 */
const erf = `fn $erf(x: F) -> F {
  let a = min(abs(x), F(4.0));
  let q = a * a;
  var p = F(1.4807193e-08);
  p = p * q - 1.6365844e-07;
  p = p * q + 1.6462114e-06;
  p = p * q - 1.492565e-05;
  p = p * q + 0.000120553326;
  p = p * q - 0.0008548327;
  p = p * q + 0.005223978;
  p = p * q - 0.026866172;
  p = p * q + 0.11283792;
  p = p * q - 0.37612638;
  p = p * q + 1.1283792;
  let t = 1.0 / (1.0 + 0.5 * a);
  var c = F(0.019375598);
  c = c * t + 0.043283306;
  c = c * t - 0.3417104;
  c = c * t + 0.43843508;
  c = c * t - 0.029074509;
  c = c * t + 0.31957585;
  c = c * t + 0.2663089;
  c = c * t + 0.28403282;
  c = c * t - 0.000103489874;
  let y = select(1.0 - exp(-q) * c, a * p, a < F(1.0));
  return select(select(y, -y, x < F(0.0)), x, $isNan(x) | (x == F(0.0)));
}`;

export const prelude: Readonly<Record<string, string>> = {
  ...trigonometry,
  isNan,
  isFinite: finite,
  infinity,
  nan,
  maximum,
  minimum,
  signOf,
  expm1,
  expOf,
  logFar,
  logNear,
  log1p,
  logOf,
  exp2Of,
  log2Of,
  tanhOf,
  sinhOf,
  coshOf,
  asinhOf,
  acoshOf,
  atanhOf,
  powOf,
  remOf,
  remFar,
  wholeUint,
  wholeInt,
  shiftLeftInt,
  shiftLeftUint,
  shiftRightInt,
  shiftRightUint,
  powUint,
  powInt,
  ...halfPrelude,
  ...nativeHalfPrelude,
  divInt,
  divUint,
  remInt,
  remUint,
  given,
  givenInt,
  givenUint,
  sigmoid,
  erf,
};

/** The scalar type names and what they are called at a width. */
const widen = (text: string, lanes: number): string =>
  text.replace(/\b([FHIUB])\b/g, (_, t: "F" | "H" | "I" | "U" | "B") => {
    const scalar = { F: "f32", H: "f16", I: "i32", U: "u32", B: "bool" }[t];
    return lanes === 1 ? scalar : `vec${lanes}<${scalar}>`;
  });

/** The name of a prelude function at a width. */
export const preludeName = (name: string, lanes: number): string =>
  lanes === 1 || name === "nan" || name === "infinity" ? name : `${name}${lanes}`;

/** The declarations of `name` at a width and of all it calls, those needed first. */
export function preludeText(name: string, lanes: number, done: Map<string, string>): void {
  const full = preludeName(name, lanes);
  if (done.has(full)) return;
  const text = prelude[name]!;
  for (const [, called] of text.matchAll(/\$(\w+)/g))
    if (called !== name) preludeText(called!, lanes, done);
  for (const [, called] of text.matchAll(/\b(nan|infinity)\(\)/g))
    if (called !== name) preludeText(called!, 1, done);
  const named = text.replace(/\$(\w+)/g, (_, n: string) => preludeName(n, lanes));
  done.set(full, widen(named, lanes));
}
