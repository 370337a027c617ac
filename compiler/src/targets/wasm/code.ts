/**
 * Instructions as trees: each node a row of the instruction table, its operands, and what the
 * instruction says besides. `encode.ts` makes bytes of them and `listing.ts` text. Checks nothing;
 * what is wrong shows when it is encoded or validated.
 */
import { prec, type Value } from "../scope.ts";
import {
  type Instruction,
  type InstructionName,
  instructions,
  type LaneName,
  type MemoryLaneName,
  type MemoryName,
  type PlainName,
} from "./opcodes.ts";

/** Types of values in locals and on the stack. */
export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";
export type Shape = "i32x4" | "f32x4" | "f64x2";

/**
 * By the kind of the instruction. local, call: the name. constant: the number, of v128 the lanes.
 * memory: the offset. lane: the lane. shuffle: the lanes. block, if, branch: the label, "" for
 * none. comment: its text.
 */
type Immediate = undefined | string | number | bigint | readonly number[];
/**
 * Of v128.const the shape; of block and if the type of the result, "" for none; of memoryLane the
 * lane.
 */
type Detail = undefined | string | number;

export class Code implements Value {
  readonly op: Instruction;
  readonly args: readonly Code[];
  readonly immediate: Immediate;
  readonly detail: Detail;

  constructor(op: Instruction, args: readonly Code[], immediate: Immediate, detail: Detail) {
    this.op = op;
    this.args = args;
    this.immediate = immediate;
    this.detail = detail;
  }

  get prec(): number {
    return isCheap(this) ? prec.atom : prec.add;
  }

  get lanes(): number {
    return 1;
  }
}

const table = new Map(instructions.map((row) => [row.name, row]));
const rowOf = (name: InstructionName): Instruction => table.get(name)!;

const none: readonly Code[] = [];

/** An instruction without immediates. */
export const op = (name: PlainName, ...args: readonly Code[]): Code =>
  new Code(rowOf(name), args, undefined, undefined);

const [localGet, localSet, localTee] = [rowOf("local.get"), rowOf("local.set"), rowOf("local.tee")];
export const get = (name: string): Code => new Code(localGet, none, name, undefined);
export const set = (name: string, value: Code): Code =>
  new Code(localSet, [value], name, undefined);
export const tee = (name: string, value: Code): Code =>
  new Code(localTee, [value], name, undefined);

/** The name of the local that is read. */
export const localOf = (c: Code): string => c.immediate as string;

const constants = {
  i32: rowOf("i32.const"),
  i64: rowOf("i64.const"),
  f64: rowOf("f64.const"),
  v128: rowOf("v128.const"),
};
export const i32Const = (n: number): Code => new Code(constants.i32, none, n | 0, undefined);
export const i64Const = (n: bigint): Code => new Code(constants.i64, none, n, undefined);
export const f64Const = (v: number): Code => new Code(constants.f64, none, v, undefined);
export const v128Const = (shape: Shape, values: readonly number[]): Code =>
  new Code(constants.v128, none, values, shape);
/** A number in all lanes. */
export const splat = (shape: Shape, v: number): Code =>
  v128Const(shape, shape === "f64x2" ? [v, v] : [v, v, v, v]);

/** The number that an i32 constant is, or undefined. */
export const constantOf = (c: Code): number | undefined =>
  c.op === constants.i32 ? (c.immediate as number) : undefined;

/** The number in all lanes of a constant of the shape, or undefined. */
export function uniformOf(c: Code, shape: Shape): number | undefined {
  if (c.op !== constants.v128 || c.detail !== shape) return undefined;
  const [first, ...rest] = c.immediate as readonly number[];
  return rest.every((v) => Object.is(v, first)) ? first : undefined;
}

/** True if repeating it costs nothing: a local or a constant. */
export const isCheap = ({ op: { kind, operands } }: Code): boolean =>
  kind === "constant" || (kind === "local" && operands === 0);

/** A place in memory: a constant in the instruction and the rest. */
export interface Address {
  readonly offset: number;
  readonly base: Code;
}

export const memory = (
  name: MemoryName,
  { offset, base }: Address,
  ...args: readonly Code[]
): Code => new Code(rowOf(name), [base, ...args], offset, undefined);
/** A load or store of one lane of `v`. */
export const memoryLane = (
  name: MemoryLaneName,
  { offset, base }: Address,
  lane: number,
  v: Code,
): Code => new Code(rowOf(name), [base, v], offset, lane);
/** `extract_lane` and `replace_lane`. */
export const laneOp = (name: LaneName, lane: number, ...args: readonly Code[]): Code =>
  new Code(rowOf(name), args, lane, undefined);

const shuffleRow = rowOf("i8x16.shuffle");
/** The bytes of a and b, 0 to 31, in a new order. */
export const shuffle = (order: readonly number[], a: Code, b: Code): Code =>
  new Code(shuffleRow, [a, b], order, undefined);

const callRow = rowOf("call");
/** A call of a function of the module, or of the host as `Math.NAME`. */
export const call = (name: string, args: readonly Code[]): Code =>
  new Code(callRow, args, name, undefined);

type Result = ValueType | "";
export const block = (label: string, result: Result, body: readonly Code[]): Code =>
  new Code(rowOf("block"), body, label, result);
export const loop = (label: string, body: readonly Code[]): Code =>
  new Code(rowOf("loop"), body, label, "");
export const branch = (label: string): Code => new Code(rowOf("br"), none, label, undefined);
export const branchIf = (label: string, condition: Code): Code =>
  new Code(rowOf("br_if"), [condition], label, undefined);

const clause = (name: "then" | "else", body: readonly Code[]): Code =>
  new Code(rowOf(name), body, undefined, undefined);
/** Statements where the condition holds, and others where it does not. */
export const when = (
  condition: Code,
  body: readonly Code[],
  otherwise: readonly Code[] = none,
): Code => {
  const clauses = [clause("then", body), ...(otherwise.length ? [clause("else", otherwise)] : [])];
  return new Code(rowOf("if"), [condition, ...clauses], "", "");
};
/** One of two values, of which only that one is computed. */
export const choice = (result: ValueType, condition: Code, a: Code, b: Code): Code =>
  new Code(rowOf("if"), [condition, clause("then", [a]), clause("else", [b])], "", result);

const commentRow = rowOf(";;");
export const comment = (text: string): Code => new Code(commentRow, none, text, undefined);

/** A function of a module. Parameters are i32 where nothing else is said. */
export interface WasmFunction {
  readonly name: string;
  readonly exported: boolean;
  readonly params: ReadonlyMap<string, ValueType>;
  readonly locals: ReadonlyMap<string, ValueType>;
  readonly result?: ValueType;
  /** Functions of the same module that it calls. */
  readonly calls: ReadonlySet<string>;
  readonly body: readonly Code[];
}
