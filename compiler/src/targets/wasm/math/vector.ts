/**
 * The instructions that the functions on four lanes are written in. `madd` and `nmadd` are pseudo
 * instructions of the encoder: one fused operation in the relaxed variant, two rounded ones in the
 * plain one.
 */
import { type Code, i32Const, op, splat } from "../code.ts";
import type { PlainName } from "../opcodes.ts";

/**
 * Binds an expression to a fresh local and returns what reads it. A loop may assign to the local.
 */
export interface Bind {
  (type: "v128" | "i32" | "f64", value: Code): Code;
  /** Elements of a vector; 4 if it does not say. */
  readonly lanes?: number;
}
/** The code of a function: its arguments are cheap to repeat. */
export type MathCode = (x: readonly Code[], bind: Bind) => Code;

export const f32 = (v: number): Code => splat("f32x4", v);
export const i32 = (v: number): Code => splat("i32x4", v | 0);
export const f64 = (v: number): Code => splat("f64x2", v);

export const signBit: Code = i32(0x80000000);
export const infinity: Code = i32(0x7f800000);
export const nan: Code = i32(0x7fc00000);

const unary =
  (name: PlainName) =>
  (a: Code): Code =>
    op(name, a);
const binary =
  (name: PlainName) =>
  (a: Code, b: Code): Code =>
    op(name, a, b);
const ternary =
  (name: PlainName) =>
  (a: Code, b: Code, c: Code): Code =>
    op(name, a, b, c);

export const add = binary("f32x4.add");
export const sub = binary("f32x4.sub");
export const mul = binary("f32x4.mul");
export const div = binary("f32x4.div");
export const abs = unary("f32x4.abs");
export const neg = unary("f32x4.neg");
export const sqrt = unary("f32x4.sqrt");
export const nearest = unary("f32x4.nearest");
export const less = binary("f32x4.lt");
export const equal = binary("f32x4.eq");
/** The lesser, or x where x is NaN. */
export const atMost = (x: Code, bound: Code): Code => op("f32x4.pmin", x, bound);
/** The greater, or x where x is NaN. */
export const atLeast = (x: Code, bound: Code): Code => op("f32x4.pmax", x, bound);
/** a·b + c. */
export const madd = ternary("f32x4.madd");
/** c − a·b. */
export const nmadd = ternary("f32x4.nmadd");

export const iadd = binary("i32x4.add");
export const isub = binary("i32x4.sub");
export const shiftLeft = (a: Code, n: number): Code => op("i32x4.shl", a, i32Const(n));
export const shiftRight = (a: Code, n: number): Code => op("i32x4.shr_s", a, i32Const(n));

export const and = binary("v128.and");
export const or = binary("v128.or");
export const xor = binary("v128.xor");
export const andNot = binary("v128.andnot");
/** a where the mask is set, else b. */
export const select = (mask: Code, a: Code, b: Code): Code => op("v128.bitselect", a, b, mask);

/** Σ coefficientᵢ·xⁱ by Horner's rule, highest power first. */
export function polynomial(coefficients: readonly number[], x: Code): Code {
  const [first, ...rest] = coefficients.map(f32);
  return rest.reduce((sum, c) => madd(sum, x, c), first!);
}

/** The sign of x given to a magnitude. */
export const withSign = (magnitude: Code, x: Code): Code => or(magnitude, and(x, signBit));
