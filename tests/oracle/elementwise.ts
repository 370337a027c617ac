/** The oracle's elementwise ops: one element at a time, by the sentence that docs/ops.md has of each. */

import type { Dtype } from "@kiln-ml/ir";
import { bitsOf, converted, fromBits, isInt, isReal, limitsOf, type Num } from "./number.ts";

type Real = (...x: number[]) => number;
type Whole = (...x: bigint[]) => bigint;

const bool = (b: boolean): bigint => (b ? 1n : 0n);

function halfToEven(x: number): number {
  const down = Math.floor(x);
  const left = x - down;
  if (left === 0 || !Number.isFinite(x)) return x;
  const n = left < 0.5 ? down : left > 0.5 ? down + 1 : down % 2 === 0 ? down : down + 1;
  return n === 0 && x < 0 ? -0 : n;
}

/** IEEE 754-2019, 9.6: −0 is below 0, NaN wins. */
const maximum: Real = (a, b) => {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN;
  if (a === 0 && b === 0) return Object.is(a, -0) ? b : a;
  return Math.max(a!, b!);
};
const minimum: Real = (a, b) => -maximum(-a!, -b!);

/** Simpson's rule on [0, |x|], with 4,000 pieces: 10⁻¹⁵ where erf is not 1. */
function erf(x: number): number {
  if (Number.isNaN(x) || x === 0) return x;
  const a = Math.min(Math.abs(x), 6);
  const [pieces, h] = [4000, a / 4000];
  let sum = 1 + Math.exp(-a * a);
  for (let i = 1; i < pieces; i++) sum += (i % 2 ? 4 : 2) * Math.exp(-((i * h) ** 2));
  return Math.sign(x) * Math.min(1, (2 / Math.sqrt(Math.PI)) * (h / 3) * sum);
}

/** IEEE 754-2019, 9.2.1. */
function pow(x: number, y: number): number {
  if (x === 1 || y === 0 || (x === -1 && Math.abs(y) === Infinity)) return 1;
  return x ** y;
}

export const reals: Readonly<Record<string, Real>> = {
  neg: (x) => -x!,
  abs: (x) => Math.abs(x!),
  sign: (x) => (x! > 0 ? 1 : x! < 0 ? -1 : x!),
  floor: (x) => Math.floor(x!),
  ceil: (x) => Math.ceil(x!),
  trunc: (x) => Math.trunc(x!),
  round: (x) => halfToEven(x!),
  exp: (x) => Math.exp(x!),
  exp2: (x) => 2 ** x!,
  expm1: (x) => Math.expm1(x!),
  log: (x) => Math.log(x!),
  log2: (x) => Math.log2(x!),
  log1p: (x) => Math.log1p(x!),
  sqrt: (x) => Math.sqrt(x!),
  rsqrt: (x) => 1 / Math.sqrt(x!),
  reciprocal: (x) => 1 / x!,
  sin: (x) => Math.sin(x!),
  cos: (x) => Math.cos(x!),
  tan: (x) => Math.tan(x!),
  asin: (x) => Math.asin(x!),
  acos: (x) => Math.acos(x!),
  atan: (x) => Math.atan(x!),
  sinh: (x) => Math.sinh(x!),
  cosh: (x) => Math.cosh(x!),
  asinh: (x) => Math.asinh(x!),
  acosh: (x) => Math.acosh(x!),
  atanh: (x) => Math.atanh(x!),
  tanh: (x) => Math.tanh(x!),
  sigmoid: (x) => (x! < 0 ? Math.exp(x!) / (1 + Math.exp(x!)) : 1 / (1 + Math.exp(-x!))),
  erf: (x) => erf(x!),
  stopGradient: (x) => x!,
  after: (x) => x!,
  add: (a, b) => a! + b!,
  sub: (a, b) => a! - b!,
  mul: (a, b) => a! * b!,
  div: (a, b) => a! / b!,
  rem: (a, b) => a! % b!,
  pow: (a, b) => pow(a!, b!),
  atan2: (a, b) => Math.atan2(a!, b!),
  maximum,
  minimum,
};

/** Ops whose double may differ in its last bits from another correct one. */
export const inexact: ReadonlySet<string> = new Set(["erf", "sigmoid"]);

/** `Math.max` knows no bigints. */
const larger = (a: bigint, b: bigint, greatest: boolean): bigint => (a > b === greatest ? a : b);

/** With the dtype for ops that depend on its width. */
const wholes: Readonly<Record<string, (dtype: Dtype) => Whole>> = {
  neg: () => (x) => -x!,
  abs: () => (x) => (x! < 0n ? -x! : x!),
  sign: () => (x) => (x! > 0n ? 1n : x! < 0n ? -1n : 0n),
  floor: () => (x) => x!,
  ceil: () => (x) => x!,
  trunc: () => (x) => x!,
  round: () => (x) => x!,
  stopGradient: () => (x) => x!,
  after: () => (x) => x!,
  bitwiseNot: () => (x) => -x! - 1n,
  add: () => (a, b) => a! + b!,
  sub: () => (a, b) => a! - b!,
  mul: () => (a, b) => a! * b!,
  div: () => (a, b) => (b === 0n ? 0n : a! / b!),
  rem: () => (a, b) => (b === 0n ? 0n : a! % b!),
  pow: () => (a, b) => {
    if (b! < 0n) return a === 1n ? 1n : a === -1n ? (b! % 2n === 0n ? 1n : -1n) : 0n;
    let [result, base, left] = [1n, a!, b!];
    for (; left > 0n; left >>= 1n, base = BigInt.asIntN(64, base * base))
      if (left & 1n) result = BigInt.asIntN(64, result * base);
    return result;
  },
  maximum: () => (a, b) => larger(a!, b!, true),
  minimum: () => (a, b) => larger(a!, b!, false),
  and: () => (a, b) => a! & b!,
  or: () => (a, b) => a! | b!,
  xor: () => (a, b) => a! ^ b!,
  shiftLeft: (d) => (a, b) => (b! < 0n || b! >= widthOf(d) ? 0n : a! << b!),
  shiftRight: (d) => (a, b) => (b! < 0n || b! >= widthOf(d) ? (a! < 0n ? -1n : 0n) : a! >> b!),
};

const widthOf = (dtype: Dtype): bigint => {
  const [low, high] = limitsOf(dtype);
  return BigInt((high - low + 1n).toString(2).length - 1);
};

const tests: Readonly<Record<string, (a: Num, b: Num) => boolean>> = {
  equal: (a, b) => a === b,
  notEqual: (a, b) => a !== b,
  less: (a, b) => a < b,
  lessEqual: (a, b) => a <= b,
  greater: (a, b) => a > b,
  greaterEqual: (a, b) => a >= b,
  isNan: (a) => Number.isNaN(a),
  isFinite: (a) => typeof a === "bigint" || Number.isFinite(a),
  not: (a) => a === 0n,
};

export const elementwiseOps: readonly string[] = [
  ...new Set([...Object.keys(reals), ...Object.keys(wholes), ...Object.keys(tests)]),
  "select",
  "convert",
  "bitcast",
];

/** One element, exact or in double precision: the caller brings it to the dtype of the result. */
export function element(op: string, from: Dtype, to: Dtype, x: readonly Num[]): Num {
  if (op === "select") return x[0] !== 0n ? x[1]! : x[2]!;
  if (op === "convert") return converted(to, x[0]!);
  if (op === "bitcast") return fromBits(to, bitsOf(from, x[0]!));
  const test = tests[op];
  if (test) return bool(test(x[0]!, x[1]!));
  if (isReal(from)) return reals[op]!(...(x as number[]));
  if (!isInt(from) && op === "stopGradient") return x[0]!;
  return wholes[op]!(from)(...(x as bigint[]));
}
