/**
 * Conversions. StableHLO leaves open what becomes of numbers that the result's dtype does not have, so none is handed to its
 * `convert`: floats are held within the integers there are first, and integers lose their upper bits by masks and shifts.
 */
import { bytesOf, type Dtype, isFloat, isInteger, maxOf, minOf, roundTo } from "@kiln-ml/ir";
import type { Builder, Ref } from "../builder.ts";
import type { Rows } from "../row.ts";
import { isSigned } from "./integer.ts";

/** NaN gives 0, what is out of range the nearest integer there is; the fraction is lost. */
function floatToInteger(b: Builder, x: Ref, dtype: Dtype): Ref {
  const [least, most] = [minOf(dtype), maxOf(dtype)];
  // The first float that is too great. Where the dtype has no such number it is ∞, as of f16 and 2³¹.
  const above = b.compare("GE", x, b.like(x, roundTo(x.dtype, most + 1)));
  const below = b.compare("LE", x, b.like(x, roundTo(x.dtype, least)));
  const nan = b.compare("NE", x, x);
  const out = b.map("or", b.map("or", above, below), nan);
  const inside = b.convert(b.select(out, b.like(x, 0), x), dtype);
  const limited = b.select(below, b.constant(dtype, least, x.shape), inside);
  return b.select(above, b.constant(dtype, most, x.shape), limited);
}

/** Modulo 2^bits. */
function integerToInteger(b: Builder, x: Ref, dtype: Dtype): Ref {
  const [from, to] = [bytesOf(x.dtype), bytesOf(dtype)];
  if (from === to) return b.bitcast(x, dtype);
  if (from < to) {
    // A negative number keeps its sign on the way up, and is read without one last.
    if (isSigned(x.dtype) && !isSigned(dtype)) return b.bitcast(b.convert(x, "i32"), dtype);
    return b.convert(x, dtype);
  }
  if (!isSigned(dtype)) return b.convert(b.map("and", x, b.like(x, maxOf(dtype))), dtype);
  const wide = b.bitcast(x, "i32");
  const by = b.like(wide, 32 - 8 * to);
  const low = b.map("shift_right_arithmetic", b.map("shift_left", wide, by), by);
  return b.convert(low, dtype);
}

/** The values of x in another dtype, as Kiln converts them. */
export function convertTo(b: Builder, x: Ref, dtype: Dtype): Ref {
  if (x.dtype === dtype) return x;
  if (dtype === "bool") return b.compare("NE", x, b.like(x, 0));
  if (x.dtype === "bool") return b.convert(x, dtype);
  if (isFloat(x.dtype) && isInteger(dtype)) return floatToInteger(b, x, dtype);
  if (isInteger(x.dtype) && isInteger(dtype)) return integerToInteger(b, x, dtype);
  return b.convert(x, dtype);
}

export const conversions: Rows = {
  convert: ({ b, type }, x) => convertTo(b, x!, type.dtype),
  bitcast: ({ b, type }, x) => b.bitcast(x!, type.dtype),
};
