/**
 * Functions that emitted JavaScript calls and the language lacks. Each stands alone or names those it needs;
 * only the ones a kernel uses go with it.
 */

/** Round to nearest, ties to even (IEEE 754, roundToIntegralTiesToEven): adding 2^52 drops the fraction. */
const roundEven = `function roundEven(x) {
  const a = Math.abs(x);
  if (!(a < 4503599627370496)) return x;
  const r = a + 4503599627370496 - 4503599627370496;
  return x < 0 || Object.is(x, -0) ? -r : r;
}`;

/**
 * erf x: the series 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!! below 3, whose terms have one sign (Abramowitz &
 * Stegun 7.1.6), above it 1 − erfc x by the continued fraction 7.1.14. Step for step what the op's record does, so
 * that both give the same bits.
 */
const erf = `function erfOf(x) {
  if (x !== x || x === 0) return x;
  const a = Math.abs(x);
  if (a >= 6) return Math.sign(x);
  if (a >= 3) {
    let tail = a;
    for (let k = 60; k >= 1; k--) tail = a + k / 2 / tail;
    return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / tail);
  }
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}`;

/** 2ˣ, which Math lacks. */
const exp2 = `function exp2(x) {
  return 2 ** x;
}`;

/** xʸ, with 1 to any power 1, NaN included (IEEE 754 pow). */
const power = `function powerOf(x, y) {
  return x === 1 ? 1 : x ** y;
}`;

export const prelude: Readonly<Record<string, string>> = {
  roundEven,
  erfOf: erf,
  powerOf: power,
  bitsToFloat: `const bitsToFloat = (() => {
  const float = new Float32Array(1);
  const bits = new Int32Array(float.buffer);
  return (x) => {
    bits[0] = x;
    return float[0];
  };
})();`,
  floatToBits: `const floatToBits = (() => {
  const float = new Float32Array(1);
  const bits = new Int32Array(float.buffer);
  return (x) => {
    float[0] = x;
    return bits[0];
  };
})();`,
  exp2,
};
