/**
 * Trigonometry for the WGSL prelude. The built-ins may be off by 2⁻¹¹ (sin, cos) or 4096 ulps (atan) and more
 * (WGSL 15.7.4); these are within a few ulps while |x| < 10⁴. Same notation as `prelude.ts`.
 */

/**
 * x − k·π/2 with k the nearest integer to x·2/π. π/2 in three parts, the first two so short that their products
 * with k are exact (Cody & Waite 1980).
 */
const quarter = `fn $quarter(x: F) -> F {
  return round(x * 0.63661975);
}`;
const reduced = `fn $reduced(x: F, k: F) -> F {
  return ((x - k * 1.5703125) - k * 0.0004837513) - k * 7.54979e-08;
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
  let k = $quarter(x);
  return $turned($reduced(x, k), I(k));
}`;
const cosOf = `fn $cosOf(x: F) -> F {
  let k = $quarter(x);
  return $turned($reduced(x, k), I(k) + I(1));
}`;
const tanOf = `fn $tanOf(x: F) -> F {
  let k = $quarter(x);
  let r = $reduced(x, k);
  let s = $sinNear(r);
  let c = $cosNear(r);
  return select(s / c, -c / s, (I(k) & I(1)) == I(1));
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
/** The angle of (x, y): arctan of the lesser over the greater in the first octant, then by signs, those of zeros too. */
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
