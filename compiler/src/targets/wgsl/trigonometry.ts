/**
 * Trigonometry for the WGSL prelude. The built-ins may be off by 2⁻¹¹ (sin, cos) or 4096 ulps
 * (atan) and more (WGSL 15.7.4); these are within a few ulps for every x. Same notation as
 * `prelude.ts`.
 */

/**
 * x − k·π/2 with k the nearest integer to x·2/π. π/2 in three parts, the first two so short that
 * their products with k are exact (Cody & Waite 1980). For |x| below 4096.
 */
const quarter = `fn $quarter(x: F) -> F {
  return round(x * 0.63661975);
}`;
const reduced = `fn $reduced(x: F, k: F) -> F {
  return ((x - k * 1.5703125) - k * 0.0004837513) - k * 7.54979e-08;
}`;

/** The high half of a product of 32 bits by 32, in halves of 16. */
const highProduct = `fn $highProduct(a: U, b: U) -> U {
  let low = (a & U(0xffffu)) * (b & U(0xffffu));
  let first = (a >> U(16u)) * (b & U(0xffffu)) + (low >> U(16u));
  let second = (a & U(0xffffu)) * (b >> U(16u)) + (first & U(0xffffu));
  return (a >> U(16u)) * (b >> U(16u)) + (first >> U(16u)) + (second >> U(16u));
}`;

/** Word n of the bits of 2/π, of which word 0 is before the point. */
const twoOverPi = `fn $twoOverPi(n: U) -> U {
  let early = select(select(U(0u), U(0xa2f9836eu), n == U(1u)), U(0x4e441529u), n == U(2u));
  let later = select(select(U(0xfc2757d1u), U(0xf534ddc0u), n == U(4u)), U(0xdb629599u), n == U(5u));
  return select(select(early, later, n > U(2u)), U(0x3c439041u), n == U(6u));
}`;
/**
 * 32 bits of 2/π, of which so many go before. A shift by 32 in two steps, as one would do nothing.
 */
const bitsOfTwoOverPi = `fn $bitsOfTwoOverPi(skip: U) -> U {
  let n = skip >> U(5u);
  let by = skip & U(31u);
  return ($twoOverPi(n) << by) | (($twoOverPi(n + U(1u)) >> U(1u)) >> (U(31u) - by));
}`;

/**
 * x − k·π/2 for 4096 ≤ |x| < ∞ (Payne & Hanek 1983). |x| = m·2^(e − 31), and of 2/π only those 96
 * bits count whose product with m is not a multiple of 4 nor too small: product = m·bits mod 2⁹⁶,
 * its top two bits are k, the rest a fraction of a quarter turn.
 */
const reducedFar = `fn $reducedFar(x: F, k: ptr<function, I>) -> F {
  let size = bitcast<U>(x) & U(0x7fffffffu);
  let m = (size << U(8u)) | U(0x80000000u);
  let skip = (size >> U(23u)) - U(128u);
  let b = $bitsOfTwoOverPi(skip + U(32u));
  let c = $bitsOfTwoOverPi(skip + U(64u));
  let low = m * c;
  let middle = m * b + $highProduct(m, c);
  let carry = select(U(0u), U(1u), middle < $highProduct(m, c));
  let high = m * $bitsOfTwoOverPi(skip) + $highProduct(m, b) + carry;
  let first = (high << U(2u)) | (middle >> U(30u));
  let second = (middle << U(2u)) | (low >> U(30u));
  let more = (first >> U(31u)) == U(1u);
  let next = ~second + U(1u);
  let over = select(~first, ~first + U(1u), next == U(0u));
  let turns = F(select(first, over, more)) * 2.3283064e-10 + F(select(second, next, more)) * 5.4210109e-20;
  let negative = more != (bitcast<I>(x) < I(0));
  let whole = I((high >> U(30u)) + select(U(0u), U(1u), more));
  *k = select(whole, -whole, bitcast<I>(x) < I(0));
  return select(turns, -turns, negative) * 1.5707964;
}`;
/**
 * The angle in [−π/4, π/4] that x is beside k quarter turns. What is huge is told by its bits, and
 * is neither infinite nor NaN.
 */
const turn = `fn $turn(x: F, k: ptr<function, I>) -> F {
  let q = $quarter(x);
  var r = $reduced(x, q);
  var n = I(q);
  let far = ((bitcast<U>(x) & U(0x7fffffffu)) - U(0x45800000u)) < U(0x3a000000u);
  if any(far) {
    var other: I;
    let s = $reducedFar(x, &other);
    r = select(r, s, far);
    n = select(n, other, far);
  }
  *k = n;
  return r;
}`;

/** Taylor polynomials on [−π/4, π/4]: to r⁹/9! and r¹⁰/10!. */
const sinNear = `fn $sinNear(r: F) -> F {
  let z = r * r;
  let p = -1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * (1.0 / 362880.0)));
  return r + r * z * p;
}`;
const cosNear = `fn $cosNear(r: F) -> F {
  let z = r * r;
  let p = 1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40320.0 - z * (1.0 / 3628800.0)));
  return (1.0 - 0.5 * z) + z * z * p;
}`;

/** sin(r + k·π/2), by k mod 4. */
const turned = `fn $turned(r: F, k: I) -> F {
  let y = select($sinNear(r), $cosNear(r), (k & I(1)) == I(1));
  return select(y, -y, (k & I(2)) == I(2));
}`;
const sinOf = `fn $sinOf(x: F) -> F {
  var k: I;
  let r = $turn(x, &k);
  return $turned(r, k);
}`;
const cosOf = `fn $cosOf(x: F) -> F {
  var k: I;
  let r = $turn(x, &k);
  return $turned(r, k + I(1));
}`;
const tanOf = `fn $tanOf(x: F) -> F {
  var k: I;
  let r = $turn(x, &k);
  let s = $sinNear(r);
  let c = $cosNear(r);
  return select(s / c, -c / s, (k & I(1)) == I(1));
}`;

/** arctan t / t on [0, 1] as a polynomial of t²; minimax fit, relative error 1.5e-8. */
const atanNear = `fn $atanNear(t: F) -> F {
  let z = t * t;
  var p = F(0.002849787);
  p = p * z - 0.016068218;
  p = p * z + 0.042690855;
  p = p * z - 0.07504238;
  p = p * z + 0.10640908;
  p = p * z - 0.14203638;
  p = p * z + 0.19992618;
  p = p * z - 0.33333072;
  p = p * z + 1.0;
  return t * p;
}`;
/** arctan |x| = π/2 − arctan 1/|x| above 1. */
const atanOf = `fn $atanOf(x: F) -> F {
  let a = abs(x);
  let near = $atanNear(select(a, 1.0 / a, a > F(1.0)));
  let y = select(near, 1.5707964 - near, a > F(1.0));
  return select(select(y, -y, x < F(0.0)), x, $isNan(x) | (x == F(0.0)));
}`;
/**
 * The angle of (x, y): arctan of the lesser over the greater in the first octant, then by signs,
 * those of zeros too.
 */
const atan2Of = `fn $atan2Of(y: F, x: F) -> F {
  let a = abs(x);
  let b = abs(y);
  let ratio = min(a, b) / max(a, b);
  let equal = select(ratio, F(1.0), a == b);
  let t = $atanNear(select(equal, F(0.0), max(a, b) == F(0.0)));
  let octant = select(t, 1.5707964 - t, b > a);
  let half = select(octant, 3.1415927 - octant, bitcast<I>(x) < I(0));
  let angle = select(half, -half, bitcast<I>(y) < I(0));
  return select(angle, x + y, $isNan(x) | $isNan(y));
}`;

/** arcsin s / s on [0, ½] as a polynomial of s²; minimax fit, relative error 4.4e-9. */
const asinNear = `fn $asinNear(s: F) -> F {
  let z = s * s;
  var p = F(0.042635437);
  p = p * z + 0.023858298;
  p = p * z + 0.045550156;
  p = p * z + 0.07494435;
  p = p * z + 0.16666791;
  p = p * z + 1.0;
  return s * p;
}`;
/** Above ½, arcsin a = π/2 − 2 arcsin √((1 − a)/2). */
const asinOf = `fn $asinOf(x: F) -> F {
  let a = abs(x);
  let far = a > F(0.5);
  let s = $asinNear(select(a, sqrt(0.5 - 0.5 * a), far));
  let y = select(s, 1.5707964 - 2.0 * s, far);
  return select(select(y, -y, x < F(0.0)), x, x == F(0.0));
}`;
const acosOf = `fn $acosOf(x: F) -> F {
  let a = abs(x);
  let far = a > F(0.5);
  let s = $asinNear(select(a, sqrt(0.5 - 0.5 * a), far));
  let high = select(2.0 * s, 3.1415927 - 2.0 * s, x < F(0.0));
  let low = 1.5707964 - select(s, -s, x < F(0.0));
  return select(low, high, far);
}`;

export const trigonometry: Readonly<Record<string, string>> = {
  quarter,
  reduced,
  highProduct,
  twoOverPi,
  bitsOfTwoOverPi,
  reducedFar,
  turn,
  sinNear,
  cosNear,
  turned,
  sinOf,
  cosOf,
  tanOf,
  atanNear,
  atanOf,
  atan2Of,
  asinNear,
  asinOf,
  acosOf,
};
