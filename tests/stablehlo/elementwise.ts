/**
 * Elementwise ops of StableHLO and CHLO as the specification has them. What it leaves to the implementation is an error here:
 * the exporter must not write it.
 */
import { bytesOf, type Dtype, isFloat, maxOf, minOf } from "@kiln-ml/ir";
import { erfOf, roundHalfEven } from "../../packages/ir/src/special.ts";

export type Element = (x: number[], from: Dtype, to: Dtype) => number;

const open = (what: string): never => {
  throw new Error(`stablehlo leaves open: ${what}`);
};

const real =
  (f: (x: number, y: number) => number): Element =>
  ([x, y]) =>
    f(x!, y!);

/** Floats by one function, integers by another. */
const either =
  (
    onFloat: (x: number, y: number) => number,
    onInteger: (x: number, y: number, d: Dtype) => number,
  ): Element =>
  ([x, y], from) =>
    isFloat(from) ? onFloat(x!, y!) : onInteger(x!, y!, from);

function divisor(x: number, y: number, dtype: Dtype): void {
  if (y === 0) open("division by zero");
  if (y === -1 && x === minOf(dtype)) open("the least integer by -1");
}

const shift =
  (f: (x: number, y: number) => number): Element =>
  ([x, y], from) =>
    y! < 0 || y! >= 8 * bytesOf(from) ? open(`a shift by ${y}`) : f(x!, y!);

const convert: Element = ([x], from, to) => {
  if (from === "bool" || isFloat(to)) return x!;
  const whole = Math.trunc(x!);
  return whole >= minOf(to) && whole <= maxOf(to) ? whole : open(`${x} as ${to}`);
};

const unsigned = (x: number, dtype: Dtype): number => (dtype === "i32" ? x >>> 0 : x);

// biome-ignore format: one op a row
export const elements: Readonly<Record<string, Element>> = {
  add: real((x, y) => x + y),
  subtract: real((x, y) => x - y),
  multiply: either((x, y) => x * y, (x, y) => Math.imul(x, y)),
  divide: either((x, y) => x / y, (x, y, d) => { divisor(x, y, d); return Math.trunc(x / y); }),
  remainder: either((x, y) => x % y, (x, y, d) => { divisor(x, y, d); return x % y; }),
  power: either((x, y) => x ** y, () => open("an integer's power")),
  maximum: real(Math.max),
  minimum: real(Math.min),
  atan2: real(Math.atan2),
  and: real((x, y) => x & y),
  or: real((x, y) => x | y),
  xor: real((x, y) => x ^ y),
  not: ([x], from) => (from === "bool" ? 1 - x! : ~x!),
  shift_left: shift((x, y) => x * 2 ** y),
  shift_right_arithmetic: shift((x, y) => Math.floor(x / 2 ** y)),
  shift_right_logical: ([x, y], from) =>
    shift((a, b) => Math.floor(a / 2 ** b))([unsigned(x!, from), y!], from, from),
  negate: real((x) => -x),
  abs: real(Math.abs),
  sign: real(Math.sign),
  floor: real(Math.floor),
  ceil: real(Math.ceil),
  round_nearest_even: real(roundHalfEven),
  exponential: real(Math.exp),
  exponential_minus_one: real(Math.expm1),
  log: real(Math.log),
  log_plus_one: real(Math.log1p),
  sqrt: real(Math.sqrt),
  rsqrt: real((x) => 1 / Math.sqrt(x)),
  sine: real(Math.sin),
  cosine: real(Math.cos),
  tan: real(Math.tan),
  tanh: real(Math.tanh),
  logistic: real((x) => 1 / (1 + Math.exp(-x))),
  is_finite: real((x) => Number(Number.isFinite(x))),
  select: ([c, x, y]) => (c ? x! : y!),
  convert,
  "chlo.erf": real(erfOf),
  "chlo.asin": real(Math.asin),
  "chlo.acos": real(Math.acos),
  "chlo.sinh": real(Math.sinh),
  "chlo.cosh": real(Math.cosh),
  "chlo.asinh": real(Math.asinh),
  "chlo.acosh": real(Math.acosh),
  "chlo.atanh": real(Math.atanh),
};

const directions: Readonly<Record<string, (x: number, y: number) => boolean>> = {
  EQ: (x, y) => x === y,
  NE: (x, y) => x !== y,
  LT: (x, y) => x < y,
  LE: (x, y) => x <= y,
  GT: (x, y) => x > y,
  GE: (x, y) => x >= y,
};

/** The test of a `compare` by its attributes, which must say how the dtype is compared. */
export function comparison(attributes: ReadonlyMap<string, string>, dtype: Dtype) {
  const word = (key: string) => /(\w+)>$/.exec(attributes.get(key) ?? "")?.[1] ?? "";
  const wanted = isFloat(dtype) ? "FLOAT" : minOf(dtype) < 0 ? "SIGNED" : "UNSIGNED";
  if (word("compare_type") !== wanted)
    throw new Error(`${dtype} compared as ${word("compare_type")}`);
  const holds = directions[word("comparison_direction")]!;
  return (x: number, y: number): number => Number(holds(x, y));
}
