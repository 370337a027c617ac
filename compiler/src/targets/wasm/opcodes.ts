/**
 * The instructions that the target knows, as rows: WebAssembly 2.0 numeric, memory and vector
 * instructions with their operand counts, and the two fused multiply-adds that each variant of a
 * module spells in its own way. No tables, globals, references or atomics, nor arithmetic on lanes
 * of 8, 16 and 64-bit integers: kernels have none, and the table is read at every start. Codes:
 * WebAssembly specification 2.0, appendix "Index of Instructions"; relaxed SIMD proposal.
 */

/** Which immediates an instruction has, or which structure it opens. */
export type Kind =
  | "plain"
  | "memory"
  | "memoryLane"
  | "lane"
  | "shuffle"
  | "constant"
  | "local"
  | "branch"
  | "call"
  | "block"
  | "if"
  | "clause"
  | "madd"
  | "nmadd"
  | "comment";

export interface Instruction {
  readonly name: string;
  readonly kind: Kind;
  /** Opcode; with a prefix byte, that byte shifted by 16 plus the number after it. */
  readonly code: number;
  /** Operands on the stack; −1 where any number may stand. */
  readonly operands: number;
  /** Bytes that a memory instruction touches, or lanes that a lane index may name. */
  readonly width: number;
}

type Row = readonly [code: number, operands: number, type: string, ops: string];
type WideRow = readonly [code: number, operands: number, width: number, name: string];

const fc = 0xfc0000;
const fd = 0xfd0000;

const compareInt = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u";
const compareFloat = "eq ne lt gt le ge";
const arithmeticInt = "add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr";
const unaryFloat = "abs neg ceil floor trunc nearest sqrt";
const arithmeticFloat = "add sub mul div min max copysign";
const laneFloat = "add sub mul div min max pmin pmax";

// Codes of one row follow each other.
// biome-ignore format: one group a row
const scalarRows = [
  [0x00, 0, "", "unreachable nop"],
  [0x0f, -1, "", "return"],
  [0x1a, 1, "", "drop"],
  [0x1b, 3, "", "select"],
  [0x45, 1, "i32.", "eqz"],
  [0x46, 2, "i32.", compareInt],
  [0x50, 1, "i64.", "eqz"],
  [0x51, 2, "i64.", compareInt],
  [0x5b, 2, "f32.", compareFloat],
  [0x61, 2, "f64.", compareFloat],
  [0x67, 1, "i32.", "clz ctz popcnt"],
  [0x6a, 2, "i32.", arithmeticInt],
  [0x79, 1, "i64.", "clz ctz popcnt"],
  [0x7c, 2, "i64.", arithmeticInt],
  [0x8b, 1, "f32.", unaryFloat],
  [0x92, 2, "f32.", arithmeticFloat],
  [0x99, 1, "f64.", unaryFloat],
  [0xa0, 2, "f64.", arithmeticFloat],
  [0xa7, 1, "i32.", "wrap_i64 trunc_f32_s trunc_f32_u trunc_f64_s trunc_f64_u"],
  [0xac, 1, "i64.", "extend_i32_s extend_i32_u trunc_f32_s trunc_f32_u trunc_f64_s trunc_f64_u"],
  [0xb2, 1, "f32.", "convert_i32_s convert_i32_u convert_i64_s convert_i64_u demote_f64"],
  [0xb7, 1, "f64.", "convert_i32_s convert_i32_u convert_i64_s convert_i64_u promote_f32"],
  [0xbc, 1, "", "i32.reinterpret_f32 i64.reinterpret_f64 f32.reinterpret_i32 f64.reinterpret_i64"],
  [0xc0, 1, "", "i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s i64.extend32_s"],
  [fc + 0, 1, "i32.", "trunc_sat_f32_s trunc_sat_f32_u trunc_sat_f64_s trunc_sat_f64_u"],
  [fc + 4, 1, "i64.", "trunc_sat_f32_s trunc_sat_f32_u trunc_sat_f64_s trunc_sat_f64_u"],
] as const satisfies readonly Row[];

// biome-ignore format: one group a row
const vectorRows = [
  [fd + 17, 1, "", "i32x4.splat i64x2.splat"],
  [fd + 19, 1, "", "f32x4.splat f64x2.splat"],
  [fd + 55, 2, "i32x4.", compareInt],
  [fd + 65, 2, "f32x4.", compareFloat],
  [fd + 71, 2, "f64x2.", compareFloat],
  [fd + 77, 1, "v128.", "not"],
  [fd + 78, 2, "v128.", "and andnot or xor"],
  [fd + 82, 3, "v128.", "bitselect"],
  [fd + 83, 1, "v128.", "any_true"],
  [fd + 94, 1, "", "f32x4.demote_f64x2_zero f64x2.promote_low_f32x4"],
  [fd + 103, 1, "f32x4.", "ceil floor trunc nearest"],
  [fd + 116, 1, "f64x2.", "ceil floor"],
  [fd + 122, 1, "f64x2.", "trunc"],
  [fd + 135, 1, "i16x8.", "extend_low_i8x16_s extend_high_i8x16_s extend_low_i8x16_u extend_high_i8x16_u"],
  [fd + 139, 2, "i16x8.", "shl shr_s"],
  [fd + 148, 1, "f64x2.", "nearest"],
  [fd + 160, 1, "i32x4.", "abs neg"],
  [fd + 163, 1, "i32x4.", "all_true bitmask"],
  [fd + 167, 1, "i32x4.", "extend_low_i16x8_s extend_high_i16x8_s extend_low_i16x8_u extend_high_i16x8_u"],
  [fd + 171, 2, "i32x4.", "shl shr_s shr_u add"],
  [fd + 177, 2, "i32x4.", "sub"],
  [fd + 181, 2, "i32x4.", "mul min_s min_u max_s max_u dot_i16x8_s"],
  [fd + 224, 1, "f32x4.", "abs neg"],
  [fd + 227, 1, "f32x4.", "sqrt"],
  [fd + 228, 2, "f32x4.", laneFloat],
  [fd + 236, 1, "f64x2.", "abs neg"],
  [fd + 239, 1, "f64x2.", "sqrt"],
  [fd + 240, 2, "f64x2.", laneFloat],
  [fd + 248, 1, "", "i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u"],
] as const satisfies readonly Row[];

// biome-ignore format: one instruction a row
const memoryRows = [
  [0x28, 1, 4, "i32.load"],
  [0x29, 1, 8, "i64.load"],
  [0x2a, 1, 4, "f32.load"],
  [0x2b, 1, 8, "f64.load"],
  [0x2c, 1, 1, "i32.load8_s"],
  [0x2d, 1, 1, "i32.load8_u"],
  [0x2e, 1, 2, "i32.load16_s"],
  [0x2f, 1, 2, "i32.load16_u"],
  [0x30, 1, 1, "i64.load8_s"],
  [0x31, 1, 1, "i64.load8_u"],
  [0x32, 1, 2, "i64.load16_s"],
  [0x33, 1, 2, "i64.load16_u"],
  [0x34, 1, 4, "i64.load32_s"],
  [0x35, 1, 4, "i64.load32_u"],
  [0x36, 2, 4, "i32.store"],
  [0x37, 2, 8, "i64.store"],
  [0x38, 2, 4, "f32.store"],
  [0x39, 2, 8, "f64.store"],
  [0x3a, 2, 1, "i32.store8"],
  [0x3b, 2, 2, "i32.store16"],
  [0x3c, 2, 1, "i64.store8"],
  [0x3d, 2, 2, "i64.store16"],
  [0x3e, 2, 4, "i64.store32"],
  [fd + 0, 1, 16, "v128.load"],
  [fd + 3, 1, 8, "v128.load16x4_s"],
  [fd + 4, 1, 8, "v128.load16x4_u"],
  [fd + 9, 1, 4, "v128.load32_splat"],
  [fd + 11, 2, 16, "v128.store"],
  [fd + 92, 1, 4, "v128.load32_zero"],
] as const satisfies readonly WideRow[];

// biome-ignore format: one instruction a row
const memoryLaneRows = [
  [fd + 84, 2, 1, "v128.load8_lane"],
  [fd + 85, 2, 2, "v128.load16_lane"],
  [fd + 86, 2, 4, "v128.load32_lane"],
  [fd + 87, 2, 8, "v128.load64_lane"],
  [fd + 88, 2, 1, "v128.store8_lane"],
  [fd + 89, 2, 2, "v128.store16_lane"],
  [fd + 90, 2, 4, "v128.store32_lane"],
  [fd + 91, 2, 8, "v128.store64_lane"],
] as const satisfies readonly WideRow[];

// biome-ignore format: one instruction a row
const laneRows = [
  [fd + 27, 1, 4, "i32x4.extract_lane"],
  [fd + 28, 2, 4, "i32x4.replace_lane"],
  [fd + 29, 1, 2, "i64x2.extract_lane"],
  [fd + 30, 2, 2, "i64x2.replace_lane"],
  [fd + 31, 1, 4, "f32x4.extract_lane"],
  [fd + 32, 2, 4, "f32x4.replace_lane"],
  [fd + 33, 1, 2, "f64x2.extract_lane"],
  [fd + 34, 2, 2, "f64x2.replace_lane"],
] as const satisfies readonly WideRow[];

type KindRow = readonly [kind: Kind, code: number, operands: number, name: string];

// biome-ignore format: one word a row
const otherRows = [
  ["block", 0x02, -1, "block"],
  ["block", 0x03, -1, "loop"],
  ["if", 0x04, -1, "if"],
  ["clause", 0, -1, "then"],
  ["clause", 0x05, -1, "else"],
  ["branch", 0x0c, -1, "br"],
  ["branch", 0x0d, 1, "br_if"],
  ["call", 0x10, -1, "call"],
  ["local", 0x20, 0, "local.get"],
  ["local", 0x21, 1, "local.set"],
  ["local", 0x22, 1, "local.tee"],
  ["constant", 0x41, 0, "i32.const"],
  ["constant", 0x42, 0, "i64.const"],
  ["constant", 0x43, 0, "f32.const"],
  ["constant", 0x44, 0, "f64.const"],
  ["constant", fd + 12, 0, "v128.const"],
  ["shuffle", fd + 13, 2, "i8x16.shuffle"],
  ["plain", fc + 10, 3, "memory.copy"],
  ["plain", fc + 11, 3, "memory.fill"],
  // The code is of the relaxed instruction.
  ["madd", fd + 0x105, 3, "f32x4.madd"],
  ["nmadd", fd + 0x106, 3, "f32x4.nmadd"],
  ["madd", fd + 0x107, 3, "f64x2.madd"],
  ["nmadd", fd + 0x108, 3, "f64x2.nmadd"],
  ["comment", 0, 0, ";;"],
] as const satisfies readonly KindRow[];

/** `f32x4.mul`, `.add` and `.sub`, and those of f64x2: what `madd` and `nmadd` are when plain. */
export const fused = {
  f32x4: { mul: fd + 230, add: fd + 228, sub: fd + 229 },
  f64x2: { mul: fd + 242, add: fd + 240, sub: fd + 241 },
};

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;
type Spread<R extends Row> = R extends Row ? `${R[2]}${Words<R[3]>}` : never;
type Other = (typeof otherRows)[number];
type NameOf<K extends Kind> = Extract<Other, readonly [K, ...unknown[]]>[3];

/**
 * Names of instructions, so that one which the table lacks does not compile: those without
 * immediates, and the others by kind.
 */
export type PlainName =
  | Spread<(typeof scalarRows)[number] | (typeof vectorRows)[number]>
  | NameOf<"plain" | "madd" | "nmadd">;
export type MemoryName = (typeof memoryRows)[number][3];
export type MemoryLaneName = (typeof memoryLaneRows)[number][3];
export type LaneName = (typeof laneRows)[number][3];
export type InstructionName = PlainName | MemoryName | MemoryLaneName | LaneName | Other[3];

export const memoryCopy: number = fc + 10;
export const memoryFill: number = fc + 11;

function spread([code, operands, type, ops]: Row): Instruction[] {
  return ops.split(" ").map((op, i) => {
    return { name: type + op, kind: "plain", code: code + i, operands, width: 0 };
  });
}

function wide(kind: Kind): (row: WideRow) => Instruction {
  return ([code, operands, width, name]) => ({ name, kind, code, operands, width });
}

/** Every instruction, clauses and comments among them. */
export const instructions: readonly Instruction[] = [
  ...scalarRows.flatMap(spread),
  ...vectorRows.flatMap(spread),
  ...memoryRows.map(wide("memory")),
  ...memoryLaneRows.map(wide("memoryLane")),
  ...laneRows.map(wide("lane")),
  ...otherRows.map(([kind, code, operands, name]) => ({ name, kind, code, operands, width: 0 })),
];
