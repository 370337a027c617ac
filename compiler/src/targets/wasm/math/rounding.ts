/**
 * Rounding, sign, and what one or two instructions give correctly rounded.
 */
import { op } from "../code.ts";
import type { PlainName } from "../opcodes.ts";
import { abs, div, f32, less, type MathCode, select, sqrt, withSign } from "./vector.ts";

const instruction =
  (name: PlainName): MathCode =>
  ([x]) =>
    op(name, x!);

const one = f32(1);

export const rounding: Readonly<Record<string, MathCode>> = {
  floor: instruction("f32x4.floor"),
  ceil: instruction("f32x4.ceil"),
  trunc: instruction("f32x4.trunc"),
  round: instruction("f32x4.nearest"),
  sqrt: instruction("f32x4.sqrt"),
  rsqrt: ([x]) => div(one, sqrt(x!)),
  reciprocal: ([x]) => div(one, x!),
  // Zeros and NaN stay what they are.
  sign: ([x]) => select(less(f32(0), abs(x!)), withSign(one, x!), x!),
};
