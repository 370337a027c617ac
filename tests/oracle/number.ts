/**
 * Numbers of the oracle: integers and bool are bigints, floats are doubles that a format can hold. Written from IEEE 754 and the pages in
 * `docs/`, not from the compiler's own evaluator, with which it shares no code.
 */
import type { Dtype } from "@kiln-ml/ir";

export type Num = number | bigint;

export interface Array_ {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly data: readonly Num[];
}

interface Format {
  readonly precision: number;
  readonly least: number;
  readonly greatest: number;
}

/** Bits of the significand, exponents of the least normal number and of the greatest (IEEE 754, table 3.5). */
const formats: { readonly [K in Dtype]?: Format } = {
  f32: { precision: 24, least: -126, greatest: 127 },
  f16: { precision: 11, least: -14, greatest: 15 },
  bf16: { precision: 8, least: -126, greatest: 127 },
};

/** Bits, and whether there is a sign. */
const integers: { readonly [K in Dtype]?: readonly [number, boolean] } = {
  i32: [32, true],
  u32: [32, false],
  i8: [8, true],
  u8: [8, false],
};

export const isInt = (dtype: Dtype): boolean => integers[dtype] !== undefined;
export const isReal = (dtype: Dtype): boolean => dtype === "f64" || formats[dtype] !== undefined;

const view = new DataView(new ArrayBuffer(8));

/** ⌊log₂ |x|⌋ of a normal double. */
function exponentOf(x: number): number {
  view.setFloat64(0, x);
  const e = (view.getUint32(0) >>> 20) & 2047;
  return e === 0 ? -1022 : e - 1023;
}

/** To nearest, ties to even. */
export function roundReal(dtype: Dtype, x: number): number {
  const f = formats[dtype];
  if (!f || !Number.isFinite(x) || x === 0) return x;
  const unit = Math.max(exponentOf(x), f.least) - f.precision + 1;
  const scaled = Math.abs(x) * 2 ** -unit;
  const below = Math.floor(scaled);
  const left = scaled - below;
  const up = left > 0.5 || (left === 0.5 && below % 2 === 1);
  const size = (below + (up ? 1 : 0)) * 2 ** unit;
  const all = size >= 2 ** (f.greatest + 1) ? Infinity : size;
  return x < 0 ? -all : all;
}

/** An integer modulo 2^bits, in the range of the dtype. */
export function wrap(dtype: Dtype, x: bigint): bigint {
  const [bits, signed] = integers[dtype]!;
  return signed ? BigInt.asIntN(bits, x) : BigInt.asUintN(bits, x);
}

export function limitsOf(dtype: Dtype): readonly [bigint, bigint] {
  const [bits, signed] = integers[dtype]!;
  const half = 1n << BigInt(bits - 1);
  return signed ? [-half, half - 1n] : [0n, 2n * half - 1n];
}

/** What a value of any kind is in a dtype, after an op that gives it exactly. */
export const fitted = (dtype: Dtype, x: Num): Num =>
  typeof x === "bigint" ? (dtype === "bool" ? x : wrap(dtype, x)) : roundReal(dtype, x);

/** `convert`: floats lose their fraction and saturate, integers wrap, all but 0 is true. */
export function converted(to: Dtype, x: Num): Num {
  if (to === "bool") return BigInt(Number(x) !== 0);
  if (isReal(to)) return roundReal(to, Number(x));
  if (typeof x === "bigint") return wrap(to, x);
  const [low, high] = limitsOf(to);
  if (Number.isNaN(x)) return 0n;
  if (x <= Number(low)) return low;
  return x >= Number(high) ? high : BigInt(Math.trunc(x));
}

/** The bits of a value, as an unsigned integer, and back. */
export function bitsOf(dtype: Dtype, x: Num): bigint {
  if (typeof x === "bigint") return BigInt.asUintN(integers[dtype]![0], x);
  if (dtype === "f64" || dtype === "f32") {
    if (dtype === "f64") view.setFloat64(0, x);
    else view.setFloat32(0, x);
    return dtype === "f64" ? view.getBigUint64(0) : BigInt(view.getUint32(0));
  }
  return halfBits(formats[dtype]!, x);
}

function halfBits(f: Format, x: number): bigint {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000n : 0n;
  const stored = BigInt(f.precision - 1);
  const top = BigInt(f.greatest * 2 + 1) << stored;
  if (Number.isNaN(x)) return top | (1n << (stored - 1n));
  const a = Math.abs(x);
  if (a === Infinity) return sign | top;
  if (a < 2 ** f.least) return sign | BigInt(a * 2 ** (f.precision - 1 - f.least));
  const e = exponentOf(a);
  const fraction = BigInt((a / 2 ** e - 1) * 2 ** (f.precision - 1));
  return sign | (BigInt(e + f.greatest) << stored) | fraction;
}

export function fromBits(dtype: Dtype, bits: bigint): Num {
  if (isInt(dtype)) return wrap(dtype, bits);
  if (dtype === "f64" || dtype === "f32") {
    if (dtype === "f64") view.setBigUint64(0, bits);
    else view.setUint32(0, Number(bits));
    return dtype === "f64" ? view.getFloat64(0) : view.getFloat32(0);
  }
  const f = formats[dtype]!;
  const fraction = Number(bits) & (2 ** (f.precision - 1) - 1);
  const e = (Number(bits) & 0x7fff) >> (f.precision - 1);
  const sign = Number(bits) & 0x8000 ? -1 : 1;
  if (e === 2 * f.greatest + 1) return fraction ? Number.NaN : sign * Infinity;
  const part = fraction / 2 ** (f.precision - 1);
  return sign * (e === 0 ? part * 2 ** f.least : (1 + part) * 2 ** (e - f.greatest));
}
