/**
 * Element types: their sizes, ranges and promotion. Knows nothing of shapes or nodes.
 */
import { DtypeError } from "./errors.ts";

export type Dtype = "f64" | "f32" | "f16" | "bf16" | "i32" | "u32" | "i8" | "u8" | "bool";

// biome-ignore format: one dtype a row
const facts: Record<Dtype, { bytes: number; rank: number; float: boolean; integer: boolean; min: number; max: number }> = {
  bool: { bytes: 1, rank: 0, float: false, integer: false, min: 0,           max: 1 },
  u8:   { bytes: 1, rank: 1, float: false, integer: true,  min: 0,           max: 255 },
  i8:   { bytes: 1, rank: 2, float: false, integer: true,  min: -128,        max: 127 },
  u32:  { bytes: 4, rank: 3, float: false, integer: true,  min: 0,           max: 4294967295 },
  i32:  { bytes: 4, rank: 4, float: false, integer: true,  min: -2147483648, max: 2147483647 },
  bf16: { bytes: 2, rank: 5, float: true,  integer: false, min: -3.3895313892515355e38, max: 3.3895313892515355e38 },
  f16:  { bytes: 2, rank: 6, float: true,  integer: false, min: -65504,      max: 65504 },
  f32:  { bytes: 4, rank: 7, float: true,  integer: false, min: -3.4028234663852886e38, max: 3.4028234663852886e38 },
  f64:  { bytes: 8, rank: 8, float: true,  integer: false, min: -Number.MAX_VALUE, max: Number.MAX_VALUE },
};

export const dtypes = Object.keys(facts) as Dtype[];

export const isDtype = (x: unknown): x is Dtype => typeof x === "string" && Object.hasOwn(facts, x);
export const bytesOf = (dtype: Dtype): number => facts[dtype].bytes;
export const isFloat = (dtype: Dtype): boolean => facts[dtype].float;
/** f16 or bf16. */
export const isHalf = (dtype: Dtype): boolean => dtype === "f16" || dtype === "bf16";
export const isInteger = (dtype: Dtype): boolean => facts[dtype].integer;
export const minOf = (dtype: Dtype): number => facts[dtype].min;
export const maxOf = (dtype: Dtype): number => facts[dtype].max;

/**
 * The dtype two operands meet in: the higher of bool < u8 < i8 < u32 < i32 < bf16 < f16 < f32 < f64,
 * except that pairs which would lose values widen: (u8, i8) and (u32, any signed) → i32 and f16 with bf16 → f32.
 */
export function promote(a: Dtype, b: Dtype): Dtype {
  if (a === b) return a;
  const [low, high] = facts[a].rank < facts[b].rank ? [a, b] : [b, a];
  if (low === "u8" && high === "i8") return "i32";
  if (low === "i8" && high === "u32") return "i32";
  if (low === "bf16" && high === "f16") return "f32";
  return high;
}

/** The dtype in which terms are added up or multiplied: i32 for what 8 bits or one hold, as sums of it need more. */
export const sumDtype = (dtype: Dtype): Dtype =>
  dtype === "u8" || dtype === "i8" || dtype === "bool" ? "i32" : dtype;

/** The dtype a JavaScript number takes beside a tensor: the tensor's, unless it cannot hold the kind. */
export function weakDtype(value: number | boolean, beside: Dtype): Dtype {
  if (typeof value === "boolean") return beside;
  if (isFloat(beside)) return beside;
  if (!Number.isInteger(value)) return "f32";
  return beside === "bool" ? "i32" : beside;
}

const one = new Float32Array(1);
const bits = new Uint32Array(one.buffer);

/** The value nearest to `x` that the dtype can hold: IEEE ties-to-even, integers wrap, NaN → 0 in integers. */
export function roundTo(dtype: Dtype, x: number): number {
  switch (dtype) {
    case "f64":
      return x;
    case "f32":
      return Math.fround(x);
    case "f16":
      return roundToBits(x, 10, -14, 65504, 65520);
    case "bf16":
      if (Number.isNaN(x)) return x;
      one[0] = x;
      // What f32 loses leaves a mark in the last bit, which breaks ties, so that x is rounded once and not twice.
      if (one[0] !== x) bits[0] = (bits[0]! - (Math.abs(one[0]!) > Math.abs(x) ? 1 : 0)) | 1;
      bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
      return one[0]!;
    case "i32":
      return x | 0;
    case "u32":
      return x >>> 0;
    case "i8":
      return (x << 24) >> 24;
    case "u8":
      return x & 255;
    case "bool":
      // NaN is not 0, so it is true.
      return Number(x) === 0 ? 0 : 1;
    default:
      throw new DtypeError(`roundTo: unknown dtype ${String(dtype satisfies never)}`);
  }
}

/**
 * A number of dtype `from` in dtype `to`, as `convert` gives it: a float becomes an integer without its fraction, the nearest that there
 * is if it is out of range, NaN 0. All else is rounded.
 */
export function convertNumber(from: Dtype, to: Dtype, x: number): number {
  if (!isFloat(from) || !isInteger(to)) return roundTo(to, x);
  if (Number.isNaN(x)) return 0;
  return Math.min(maxOf(to), Math.max(minOf(to), Math.trunc(x))) + 0;
}

/** Ties-to-even rounding to a binary format with `mantissa` bits and smallest normal exponent `emin`. */
function roundToBits(x: number, mantissa: number, emin: number, max: number, overflow: number) {
  if (!Number.isFinite(x) || x === 0) return x;
  const a = Math.abs(x);
  if (a >= overflow) return x < 0 ? -Infinity : Infinity;
  const exponent = Math.max(Math.floor(Math.log2(a)), emin);
  const ulp = 2 ** (exponent - mantissa);
  const q = a / ulp;
  const f = Math.floor(q);
  const r = q - f;
  const n = r > 0.5 || (r === 0.5 && f % 2 === 1) ? f + 1 : f;
  return Math.sign(x) * Math.min(n * ulp, max);
}
