/**
 * f16 and bf16 in memory, f32 in lanes. Narrowing rounds to nearest, ties to even; infinities and NaN stay what
 * they are.
 */
import type { Dtype } from "@kiln-ml/ir";
import { type Code, i32Const, op, splat } from "./code.ts";

type Bind = (value: Code) => Code;

const all = (v: number): Code => splat("i32x4", v | 0);
const floats = (v: number): Code => splat("f32x4", v);
const and = (a: Code, v: number): Code => op("v128.and", a, all(v));
const shift = (a: Code, n: number): Code =>
  n > 0 ? op("i32x4.shl", a, i32Const(n)) : op("i32x4.shr_u", a, i32Const(-n));

/** The value of 16 bits in the low half of each lane; `v` is cheap to repeat. */
export function fromHalf(dtype: Dtype, v: Code, bind: Bind): Code {
  if (dtype === "bf16") return shift(v, 16);
  const magnitude = bind(and(v, 0x7fff));
  // Exponent and fraction in the place of f32's, then the difference of the biases as a factor: subnormals come out right.
  const scaled = op("f32x4.mul", shift(magnitude, 13), all(0x77800000));
  const special = op("i32x4.ge_u", magnitude, all(0x7c00));
  const infinite = op("v128.and", special, all(0x7f800000));
  return op("v128.or", op("v128.or", scaled, infinite), shift(and(v, 0x8000), 16));
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
  // From 2⁻¹⁴ on: the exponent moves by the difference of the biases, the fraction is rounded to 10 bits.
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
