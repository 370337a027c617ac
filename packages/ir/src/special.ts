/**
 * Special functions in double precision, for the reference values of op records. Not used by emitted code.
 */

/** The nearest integer, a half to the even one; the sign of zero is kept. */
export function roundHalfEven(x: number): number {
  if (!Number.isFinite(x) || Math.abs(x) >= 2 ** 52) return x;
  const f = Math.floor(x);
  const r = x - f;
  const n = r > 0.5 || (r === 0.5 && f % 2 !== 0) ? f + 1 : f;
  return n === 0 && (x < 0 || Object.is(x, -0)) ? -0 : n;
}

/**
 * erf x = 2/√π · ∫₀ˣ e^(−t²) dt to about 1e-15.
 *
 * Below 3 the series 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms all have one sign (Abramowitz & Stegun
 * 7.1.6); above it 1 − erfc x.
 */
export function erfOf(x: number): number {
  if (Number.isNaN(x) || x === 0) return x;
  const a = Math.abs(x);
  if (a >= 6) return Math.sign(x);
  if (a >= 3) return Math.sign(x) * (1 - erfcTail(a));
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** xʸ of doubles as IEEE 754 has it: 1 to any power is 1, NaN too, and so is −1 to ±∞; JavaScript gives NaN. */
export const powerOf = (x: number, y: number): number =>
  x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : x ** y;

/** xʸ of integers, exact modulo 2³²; of a negative y the integer part: 0 unless x is 1 or −1. */
export function integerPower(x: number, y: number): number {
  if (y < 0 && x !== 1 && x !== -1) return 0;
  let [result, factor] = [1, x];
  for (let left = y >>> 0; left > 0; left >>>= 1) {
    if (left & 1) result = Math.imul(result, factor);
    factor = Math.imul(factor, factor);
  }
  return result;
}

/** erfc x for x ≥ 3: the continued fraction e^(−x²)/√π · 1/(x + ½/(x + 1/(x + 3⁄2/(x + …)))) (A&S 7.1.14). */
function erfcTail(x: number): number {
  let tail = x;
  for (let k = 60; k >= 1; k--) tail = x + k / 2 / tail;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / tail;
}
