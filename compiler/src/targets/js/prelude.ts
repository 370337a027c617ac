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
 * Error function. Series erf x = 2/√π · e^(−x²) Σ 2ⁿ x^(2n+1) / (2n+1)!! below 3 (all terms positive, so
 * no cancellation); continued fraction of erfc above it (Abramowitz & Stegun 7.1.6, 7.1.14).
 */
const erf = `function erf(x) {
  const a = Math.abs(x);
  if (!(a < 6)) return x !== x ? x : Math.sign(x);
  if (a < 3) {
    let term = x;
    let sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1.1283791670955126 * Math.exp(-x * x) * sum;
  }
  let f = 0;
  for (let n = 60; n > 0; n--) f = n / 2 / (a + f);
  const tail = (0.5641895835477563 * Math.exp(-a * a)) / (a + f);
  return x < 0 ? tail - 1 : 1 - tail;
}`;

export const prelude: Readonly<Record<string, string>> = {
  roundEven,
  erf,
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
};
