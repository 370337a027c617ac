/**
 * f16 and bf16 in memory, f32 in lanes. Narrowing rounds to nearest, ties to even; infinities and
 * NaN stay what they are.
 */
import type { Dtype } from "@kiln-ml/ir";
import { type Code, i32Const, op, splat } from "./code.ts";

type Bind = (value: Code) => Code;

const all = (v: number): Code => splat("i32x4", v | 0);
const floats = (v: number): Code => splat("f32x4", v);
const and = (a: Code, v: number): Code => op("v128.and", a, all(v));
const shift = (a: Code, n: number): Code =>
  n > 0 ? op("i32x4.shl", a, i32Const(n)) : op("i32x4.shr_u", a, i32Const(-n));

/**
 * A double as an f32 that rounds to a half as the double does: what is lost leaves a mark in the
 * last bit, which breaks ties. A number is so rounded once and not twice (Boldo and Melquiond 2008,
 * round to odd). In all lanes; `x` is cheap to repeat.
 */
export function oddFromDouble(x: Code, bind: (type: "i32" | "f64", value: Code) => Code): Code {
  const bits = bind("i32", op("i32.reinterpret_f32", op("f32.demote_f64", x)));
  const single = bind("f64", op("f64.promote_f32", op("f32.reinterpret_i32", bits)));
  const above = op("f64.gt", op("f64.abs", single), op("f64.abs", x));
  const odd = op("i32.or", op("i32.sub", bits, above), op("f64.ne", single, x));
  return op("i32x4.splat", odd);
}

/**
 * Integers that f32 cannot hold, with such a mark in the last bit that it can; `x` is cheap to
 * repeat.
 */
export function oddInteger(x: Code, signed: boolean): Code {
  const mark = and(op("i32x4.add", and(x, 0xff), all(0xff)), 0x100);
  const marked = op("v128.or", and(x, -256), mark);
  const held = signed
    ? op("i32x4.lt_u", op("i32x4.add", x, all(2 ** 24)), all(2 ** 25))
    : op("i32x4.lt_u", x, all(2 ** 24));
  return op("v128.bitselect", x, marked, held);
}

/** The value of 16 bits in the low half of each lane; `v` is cheap to repeat. */
export function fromHalf(dtype: Dtype, v: Code, bind: Bind): Code {
  if (dtype === "bf16") return shift(v, 16);
  const magnitude = bind(and(v, 0x7fff));
  // Exponent and fraction in the place of f32's, then the difference of the biases as a factor:
  // subnormals come out right.
  const scaled = op("f32x4.mul", shift(magnitude, 13), all(0x77800000));
  const special = op("i32x4.ge_u", magnitude, all(0x7c00));
  const infinite = op("v128.and", special, all(0x7f800000));
  return op("v128.or", op("v128.or", scaled, infinite), shift(and(v, 0x8000), 16));
}

/**
 * As `fromHalf` of f16, but of 16 bits with their sign in the lane's upper half: it then moves to
 * its place along with the rest, which takes three operations less.
 */
export function fromSignedHalf(v: Code, bind: Bind): Code {
  const placed = bind(and(shift(v, 13), 0x8fffffff));
  const scaled = op("f32x4.mul", placed, all(0x77800000));
  // Twice its bits leave out the sign; the least of infinities and NaN is 0x1f000000.
  const special = op("i32x4.gt_s", op("i32x4.add", placed, placed), all(0x1effffff));
  return op("v128.or", scaled, op("v128.and", special, all(0x7f800000)));
}

/** A value as 16 bits in the low half of each lane; `v` is cheap to repeat. */
export function toHalf(dtype: Dtype, v: Code, bind: Bind): Code {
  const nan = op("f32x4.ne", v, v);
  if (dtype === "bf16") {
    const odd = and(shift(v, -16), 1);
    const rounded = shift(op("i32x4.add", op("i32x4.add", v, all(0x7fff)), odd), -16);
    return op("v128.bitselect", all(0x7fc0), rounded, nan);
  }
  const magnitude = bind(and(v, 0x7fffffff));
  const odd = and(shift(magnitude, -13), 1);
  // From 2⁻¹⁴ on: the exponent moves by the difference of the biases, the fraction is rounded to 10
  // bits.
  const moved = op("i32x4.add", magnitude, all(0x0fff - 0x38000000));
  const normal = shift(op("i32x4.add", moved, odd), -13);
  // Below, the unit of an f16 is that of an f32 between ½ and 1.
  const small = op("i32x4.sub", op("f32x4.add", magnitude, floats(0.5)), all(0x3f000000));
  const finite = op("v128.bitselect", small, normal, op("i32x4.lt_u", magnitude, all(0x38800000)));
  // 65,520 and more round to infinity.
  const large = op("i32x4.ge_u", magnitude, all(0x477ff000));
  const bounded = op("v128.bitselect", all(0x7c00), finite, large);
  const value = op("v128.bitselect", all(0x7e00), bounded, nan);
  return op("v128.or", value, and(shift(v, -16), 0x8000));
}
