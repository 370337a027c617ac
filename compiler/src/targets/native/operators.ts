/**
 * How C spells the instructions without immediates: a row each, with the types of its operands and
 * of its result. Vectors are GCC's and Clang's; what those have no operator for is a function of
 * the header `kiln.h`, which the device that compiles the text brings.
 *
 * Scalars of type i32 are `long`: index arithmetic is exact there, and stays what WebAssembly would
 * compute for every address below 4 GiB. Where an instruction sees its operand without a sign, or
 * 32 bits of it, the row says so.
 */

/** Vectors of f32, i32, u32 and f64; scalars, which need no cast. */
export type CType = "f" | "i" | "u" | "d" | "s";

export interface Operator {
  readonly takes: readonly CType[];
  readonly gives: CType;
  /** The expression, with `$0`, `$1`, … for the operands. */
  readonly text: string;
}

/** `name operands result expression`, the operands as letters. */
const table = `
i32.eqz s s !$0
i32.eq ss s ($0 == $1)
i32.ne ss s ($0 != $1)
i32.lt_s ss s ($0 < $1)
i32.gt_s ss s ($0 > $1)
i32.le_s ss s ($0 <= $1)
i32.ge_s ss s ($0 >= $1)
i32.lt_u ss s ((uint32_t)$0 < (uint32_t)$1)
i32.gt_u ss s ((uint32_t)$0 > (uint32_t)$1)
i32.le_u ss s ((uint32_t)$0 <= (uint32_t)$1)
i32.ge_u ss s ((uint32_t)$0 >= (uint32_t)$1)
i32.add ss s ($0 + $1)
i32.sub ss s ($0 - $1)
i32.mul ss s ($0 * $1)
i32.div_s ss s ($0 / $1)
i32.div_u ss s (long)((uint32_t)$0 / (uint32_t)$1)
i32.rem_s ss s ($0 % $1)
i32.rem_u ss s (long)((uint32_t)$0 % (uint32_t)$1)
i32.and ss s ($0 & $1)
i32.or ss s ($0 | $1)
i32.xor ss s ($0 ^ $1)
i32.shl ss s ($0 * (1L << ($1 & 31)))
i32.shr_s ss s ($0 >> ($1 & 31))
i32.shr_u ss s (long)((uint32_t)$0 >> ($1 & 31))
i32.reinterpret_f32 s s bits_of($0)
f32.reinterpret_i32 s s float_of((int32_t)$0)
f32.demote_f64 s s (float)$0
f64.promote_f32 s s (double)$0
f64.convert_i32_s s s (double)(int32_t)$0
f64.convert_i32_u s s (double)(uint32_t)$0
i32.trunc_sat_f64_s s s (long)whole_signed($0)
i32.trunc_sat_f64_u s s (long)whole_unsigned($0)
f64.eq ss s ($0 == $1)
f64.ne ss s ($0 != $1)
f64.lt ss s ($0 < $1)
f64.gt ss s ($0 > $1)
f64.le ss s ($0 <= $1)
f64.ge ss s ($0 >= $1)
f64.abs s s __builtin_fabs($0)
f64.neg s s (-$0)
f64.ceil s s __builtin_ceil($0)
f64.floor s s __builtin_floor($0)
f64.trunc s s __builtin_trunc($0)
f64.nearest s s __builtin_rint($0)
f64.sqrt s s __builtin_sqrt($0)
f64.add ss s ($0 + $1)
f64.sub ss s ($0 - $1)
f64.mul ss s ($0 * $1)
f64.div ss s ($0 / $1)
f64.min ss s least_double($0, $1)
f64.max ss s greatest_double($0, $1)
f64.copysign ss s __builtin_copysign($0, $1)
i32x4.splat s i all_ints((int32_t)$0)
f32x4.splat s f all_floats($0)
f64x2.splat s d all_doubles($0)
v128.not i i (~$0)
v128.and ii i ($0 & $1)
v128.andnot ii i ($0 & ~$1)
v128.or ii i ($0 | $1)
v128.xor ii i ($0 ^ $1)
v128.bitselect iii i choose($0, $1, $2)
v128.any_true i s any($0)
i32x4.eq ii i ($0 == $1)
i32x4.ne ii i ($0 != $1)
i32x4.lt_s ii i ($0 < $1)
i32x4.gt_s ii i ($0 > $1)
i32x4.le_s ii i ($0 <= $1)
i32x4.ge_s ii i ($0 >= $1)
i32x4.lt_u uu i ($0 < $1)
i32x4.gt_u uu i ($0 > $1)
i32x4.le_u uu i ($0 <= $1)
i32x4.ge_u uu i ($0 >= $1)
i32x4.abs i i abs_ints($0)
i32x4.neg u u (-$0)
i32x4.add uu u ($0 + $1)
i32x4.sub uu u ($0 - $1)
i32x4.mul uu u ($0 * $1)
i32x4.shl us u ($0 << (int)($1 & 31))
i32x4.shr_s is i ($0 >> (int)($1 & 31))
i32x4.shr_u us u ($0 >> (int)($1 & 31))
i32x4.min_s ii i min_ints($0, $1)
i32x4.max_s ii i max_ints($0, $1)
i32x4.min_u uu u min_words($0, $1)
i32x4.max_u uu u max_words($0, $1)
i16x8.shl is i shl_halves($0, $1)
i16x8.shr_s is i shr_halves($0, $1)
i32x4.dot_i16x8_s ii i dot_halves($0, $1)
i32x4.trunc_sat_f32x4_s f i whole_ints($0)
i32x4.trunc_sat_f32x4_u f u whole_words($0)
f32x4.convert_i32x4_s i f __builtin_convertvector($0, vf)
f32x4.convert_i32x4_u u f __builtin_convertvector($0, vf)
f32x4.eq ff i ($0 == $1)
f32x4.ne ff i ($0 != $1)
f32x4.lt ff i ($0 < $1)
f32x4.gt ff i ($0 > $1)
f32x4.le ff i ($0 <= $1)
f32x4.ge ff i ($0 >= $1)
f32x4.ceil f f ceil_floats($0)
f32x4.floor f f floor_floats($0)
f32x4.trunc f f trunc_floats($0)
f32x4.nearest f f nearest_floats($0)
f32x4.abs i i ($0 & 0x7fffffff)
f32x4.neg f f (-$0)
f32x4.sqrt f f sqrt_floats($0)
f32x4.add ff f ($0 + $1)
f32x4.sub ff f ($0 - $1)
f32x4.mul ff f ($0 * $1)
f32x4.div ff f ($0 / $1)
f32x4.min ff f min_floats($0, $1)
f32x4.max ff f max_floats($0, $1)
f32x4.pmin ff f lesser_floats($0, $1)
f32x4.pmax ff f greater_floats($0, $1)
f32x4.madd fff f fma_floats($0, $1, $2)
f32x4.nmadd fff f fnma_floats($0, $1, $2)
f32x4.demote_f64x2_zero d f low_floats($0)
f64x2.promote_low_f32x4 f d low_doubles($0)
f64x2.nearest d d nearest_doubles($0)
f64x2.trunc d d trunc_doubles($0)
f64x2.neg d d (-$0)
f64x2.add dd d ($0 + $1)
f64x2.sub dd d ($0 - $1)
f64x2.mul dd d ($0 * $1)
f64x2.div dd d ($0 / $1)
f64x2.pmin dd d lesser_doubles($0, $1)
f64x2.pmax dd d greater_doubles($0, $1)
f64x2.madd ddd d ($0 * $1 + $2)
f64x2.nmadd ddd d ($2 - $0 * $1)
`;

/** The instructions that C has a spelling for, by name. */
export const operators: ReadonlyMap<string, Operator> = new Map(
  table
    .trim()
    .split("\n")
    .map((row) => {
      const [name, takes, gives, ...text] = row.split(" ");
      return [
        name!,
        { takes: [...takes!] as CType[], gives: gives as CType, text: text.join(" ") },
      ] as const;
    }),
);

/** The C type of each kind of vector. */
export const vectorTypes: Readonly<Record<Exclude<CType, "s">, string>> = {
  f: "vf",
  i: "vi",
  u: "vu",
  d: "vd",
};
