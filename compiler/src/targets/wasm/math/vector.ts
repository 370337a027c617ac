/**
 * The instructions that the functions on four lanes are written in, as folded text. `madd` and `nmadd` are pseudo
 * instructions of the assembler: one fused operation in the relaxed variant, two rounded ones in the plain one.
 */

/** Binds an expression to a fresh local and returns `(local.get $name)`. A loop in the text may assign to the local. */
export type Bind = (type: "v128" | "i32" | "f64", expr: string) => string;
/** The text of a function: its arguments are cheap to repeat. */
export type MathText = (x: readonly string[], bind: Bind) => string;

const four = (shape: string, v: number | string): string =>
  `(v128.const ${shape} ${v} ${v} ${v} ${v})`;
export const f32 = (v: number): string => four("f32x4", Object.is(v, -0) ? "-0" : v);
export const i32 = (v: number): string => four("i32x4", v | 0);
export const f64 = (v: number): string => `(v128.const f64x2 ${v} ${v})`;

export const signBit: string = i32(0x80000000);
export const infinity: string = i32(0x7f800000);
export const nan: string = i32(0x7fc00000);

const unary =
  (name: string) =>
  (a: string): string =>
    `(${name} ${a})`;
const binary =
  (name: string) =>
  (a: string, b: string): string =>
    `(${name} ${a} ${b})`;
const ternary =
  (name: string) =>
  (a: string, b: string, c: string): string =>
    `(${name} ${a} ${b} ${c})`;

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
export const atMost = (x: string, bound: string): string => `(f32x4.pmin ${x} ${bound})`;
/** The greater, or x where x is NaN. */
export const atLeast = (x: string, bound: string): string => `(f32x4.pmax ${x} ${bound})`;
/** a·b + c. */
export const madd = ternary("f32x4.madd");
/** c − a·b. */
export const nmadd = ternary("f32x4.nmadd");

export const iadd = binary("i32x4.add");
export const isub = binary("i32x4.sub");
export const shiftLeft = (a: string, n: number): string => `(i32x4.shl ${a} (i32.const ${n}))`;
export const shiftRight = (a: string, n: number): string => `(i32x4.shr_s ${a} (i32.const ${n}))`;

export const and = binary("v128.and");
export const or = binary("v128.or");
export const xor = binary("v128.xor");
export const andNot = binary("v128.andnot");
/** a where the mask is set, else b. */
export const select = (mask: string, a: string, b: string): string =>
  `(v128.bitselect ${a} ${b} ${mask})`;

/** Σ coefficientᵢ·xⁱ by Horner's rule, highest power first. */
export function polynomial(coefficients: readonly number[], x: string): string {
  const [first, ...rest] = coefficients.map(f32);
  return rest.reduce((sum, c) => madd(sum, x, c), first!);
}

/** The sign of x given to a magnitude. */
export const withSign = (magnitude: string, x: string): string => or(magnitude, and(x, signBit));
