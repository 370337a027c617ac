/**
 * Functions that emitted JavaScript calls and the language lacks. Each stands alone or names those
 * it needs; only the ones a kernel uses go with it.
 */
import { sortPrelude } from "./sort.ts";

/**
 * Round to nearest, ties to even (IEEE 754, roundToIntegralTiesToEven): adding 2^52 drops the
 * fraction.
 */
const roundEven = `function roundEven(x) {
  const a = Math.abs(x);
  if (!(a < 4503599627370496)) return x;
  const r = a + 4503599627370496 - 4503599627370496;
  return x < 0 || Object.is(x, -0) ? -r : r;
}`;

/**
 * erf x: the series 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!! below 3, whose terms have one sign
 * (Abramowitz & Stegun 7.1.6), above it 1 − erfc x by the continued fraction 7.1.14. Step for step
 * what the op's record does, so that both give the same bits.
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

/** xʸ, with 1 to any power 1, NaN included, and −1 to ±∞ too (IEEE 754 pow). */
const power = `function powerOf(x, y) {
  return x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : x ** y;
}`;

/** xʸ of integers, modulo 2³²; without its fraction where y is negative. */
const integerPower = `function integerPower(x, y) {
  if (y < 0 && x !== 1 && x !== -1) return 0;
  let result = 1;
  for (let left = y >>> 0; left > 0; left >>>= 1) {
    if (left & 1) result = Math.imul(result, x);
    x = Math.imul(x, x);
  }
  return result;
}`;

/** Floats without their fraction, the nearest integer if out of range, 0 for NaN. */
const whole = (name: string, low: string, high: string): string => `function ${name}(x) {
  return x > ${low} ? (x < ${high} ? ${name === "toU32" ? "x >>> 0" : "x | 0"} : ${high}) : x <= ${low} ? ${low} : 0;
}`;

/** Shifts by 32 and more, or by a negative number, leave nothing. */
const shifted = (name: string, op: string, otherwise: string): string => `function ${name}(x, y) {
  return y >>> 0 < 32 ? x ${op} y : ${otherwise};
}`;

/**
 * eˣ for results that are rounded to f32: 2ⁿ·p(r) with x = n·ln 2 + r, p a polynomial of degree 7
 * whose relative error is below 2·10⁻¹⁰ (fitted at Chebyshev points). 2ⁿ is made from its bits.
 * NaN, infinities and what may overflow go to Math.exp. Two to three times as fast as that.
 */
const fastExp = `const powerOfTwo = new Float32Array(1);
const powerBits = new Int32Array(powerOfTwo.buffer);
function fastExp(x) {
  if (!(x > -87 && x < 88)) return Math.exp(x);
  const n = (x * 1.4426950408889634 + 1024.5) | 0;
  const r = x - (n - 1024) * 0.6931471805599453;
  const s = r * r;
  powerBits[0] = (n - 897) << 23;
  const low = 1 + r + s * (0.5000000013470307 + r * 0.1666666671903906);
  const high = 0.041666464895353306 + r * 0.008333298466448572 + s * (0.0013933652488015674 + r * 0.00019899287781498395);
  return (low + s * s * high) * powerOfTwo[0];
}`;

/** tanh x = 1 − 2/(e²ˣ + 1), or its series below 0.02, where that difference would lose digits. */
const fastTanh = `function fastTanh(x) {
  const s = x * x;
  if (s < 0.0004) return x * (1 + s * (s * 0.13333333333333333 - 0.3333333333333333));
  return 1 - 2 / (fastExp(2 * x) + 1);
}`;

/**
 * erf x for results that are rounded to f32: x·p(x²) below 1, above it 1 − e^(−x²)·q(1/(1 + x/2));
 * errors below 10⁻¹⁰.
 */
const fastErf = `function fastErf(x) {
  const a = Math.abs(x);
  if (a < 1) {
    const s = x * x;
    return x * (1.128379167062361 + s * (-0.3761263847599014 + s * (0.11283782622047146 + s * (-0.026865438309701183 + s * (0.005221053410333502 + s * (-0.0008484396519194107 + s * (0.00011268253668881237 - s * 0.000009673590170065557)))))));
  }
  if (a >= 4) return x < 0 ? -1 : 1;
  const t = 1 / (1 + 0.5 * a);
  const q = -0.0001454868610056972 + t * (0.28478660630205604 + t * (0.2604628572135361 + t * (0.34517139642570605 + t * (-0.09829056578529233 + t * (0.5568571775047246 + t * (-0.46693696263044726 + t * 0.1181420361869031))))));
  const y = 1 - fastExp(-a * a) * q;
  return x < 0 ? -y : y;
}`;

/**
 * The bits of a number's double: the sign, exponent and 20 digits of its fraction in the high word.
 */
const words = `const doubleOf = new Float64Array(1);
const wordsOf = new Uint32Array(doubleOf.buffer);`;

/**
 * f16 in storage is 16 bits, in expressions a number. A double is rounded at once, to nearest, ties
 * to even: what its low word says only matters as "more than nothing". Below 2⁻¹⁴ the unit is 2⁻²⁴,
 * and adding 2⁵² rounds to whole ones.
 */
const toF16 = `function toF16(x) {
  doubleOf[0] = x;
  const high = wordsOf[1];
  const sign = (high >>> 16) & 0x8000;
  const a = (high & 0x7fffffff) | (wordsOf[0] === 0 ? 0 : 1);
  if (a >= 0x40effe00) return a > 0x7ff00000 ? 0x7e00 : sign | 0x7c00;
  if (a < 0x3f100000) return sign | (Math.abs(x) * 16777216 + 4503599627370496 - 4503599627370496);
  return sign | ((a - 0x3f000000 + 0x1ff + ((a >> 10) & 1)) >> 10);
}`;

/**
 * Exponent and fraction in the place of f32's, then the difference of the biases as a factor:
 * subnormals come out right.
 */
const fromF16 = `function fromF16(h) {
  const a = h & 0x7fff;
  if (a >= 0x7c00) return a > 0x7c00 ? NaN : h > a ? -Infinity : Infinity;
  patternOf[0] = ((h & 0x8000) << 16) | (a << 13);
  return floatOf[0] * 5.192296858534828e33;
}`;

/**
 * bf16 is the high half of an f32, rounded to nearest, ties to even. What f32 loses of a double
 * leaves a mark in its last bit, which breaks ties, so that a number is rounded once.
 */
const toBf16 = `function toBf16(x) {
  if (x !== x) return 0x7fc0;
  floatOf[0] = x;
  let b = patternOf[0];
  if (floatOf[0] !== x) b = (b - (Math.abs(floatOf[0]) > Math.abs(x) ? 1 : 0)) | 1;
  return (b + 0x7fff + ((b >>> 16) & 1)) >>> 16;
}`;

const fromBf16 = `function fromBf16(h) {
  patternOf[0] = h << 16;
  return floatOf[0];
}`;

const pattern = `const floatOf = new Float32Array(1);
const patternOf = new Uint32Array(floatOf.buffer);`;

/** What a function of the prelude calls. */
const needs: Readonly<Record<string, readonly string[]>> = {
  fastTanh: ["fastExp"],
  fastErf: ["fastExp"],
  toF16: ["doubleOf"],
  fromF16: ["floatOf"],
  toBf16: ["floatOf"],
  fromBf16: ["floatOf"],
  roundF16: ["doubleOf", "floatOf", "toF16", "fromF16"],
  roundBf16: ["floatOf", "toBf16", "fromBf16"],
};

/** The lines that `used` functions need, each after what it calls. */
export function preludeLines(used: Iterable<string>): string[] {
  const names = new Set<string>();
  const add = (name: string): void => {
    for (const other of needs[name] ?? []) add(other);
    names.add(name);
  };
  for (const name of used) add(name);
  return [...names].flatMap((name) => prelude[name]!.split("\n"));
}

const prelude: Readonly<Record<string, string>> = {
  ...sortPrelude,
  fastExp,
  fastTanh,
  fastErf,
  roundEven,
  erfOf: erf,
  powerOf: power,
  integerPower,
  toI32: whole("toI32", "-2147483648", "2147483647"),
  toU32: whole("toU32", "0", "4294967295"),
  toI8: whole("toI8", "-128", "127"),
  toU8: whole("toU8", "0", "255"),
  leftBy: shifted("leftBy", "<<", "0"),
  rightBy: shifted("rightBy", ">>", "x >> 31"),
  rightByU: shifted("rightByU", ">>>", "0"),
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
  doubleOf: words,
  floatOf: pattern,
  toF16,
  fromF16,
  toBf16,
  fromBf16,
  roundF16: `const roundF16 = (x) => fromF16(toF16(x));`,
  roundBf16: `const roundBf16 = (x) => fromBf16(toBf16(x));`,
};

/** Every name that the prelude declares, those beside its functions too. */
export const preludeNames: readonly string[] = Object.values(prelude).flatMap((text) =>
  Array.from(text.matchAll(/^(?:function|const|let) (\w+)/gm), ([, name]) => name!),
);
