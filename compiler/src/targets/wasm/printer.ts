/**
 * What is known while one wasm function is printed, and the smallest pieces of its code. Values are
 * v128 (four lanes, equal in all of them unless the value depends on the lane of an open vector),
 * except f64, which is scalar.
 */
import { anyInteger, type Dim, type Dtype, isFloat, substitute, symbolsIn } from "@kiln-ml/ir";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import type { Emitter } from "../emitter.ts";
import { type Code, f64Const, get, i32Const, isCheap, laneOp, op, set, splat } from "./code.ts";
import type { Bind } from "./math/vector.ts";
import type { LaneAcc } from "./partial.ts";
import type { Running } from "./running.ts";

export type WasmType = "i32" | "f64" | "v128";
export type WasmEmitter = Emitter<Code, Code>;

/** What vectors are like; a target that prints others than WebAssembly's says so. */
export interface Vectors {
  /** Elements of a vector: 4 in WebAssembly. */
  readonly width: number;
  /**
   * Prints a loop of fewer elements than a vector has as one that runs past its end, where there
   * are masks; false where that may not be.
   */
  readonly past?: (
    p: Printer,
    s: Of<"loop">,
    start: Dim,
    count: Dim,
    print: (p: Printer, body: readonly Stmt[]) => void,
  ) => boolean;
}

export interface Printer extends Vectors {
  readonly e: WasmEmitter;
  /** The locals of the function, in the order of their first use. */
  readonly locals: Map<string, WasmType>;
  /** Functions of the module that are called. */
  readonly calls: Set<string>;
  /** True inside a vector: index expressions may hold the lane. */
  lanes: boolean;
  /** True if the open vector lies in the cache line of the one before. */
  within: boolean;
  /** How many lanes of the open vector are stored, if not all: an operand more of each store. */
  some: readonly Code[];
  /** The open loop along which addresses run. */
  running: Running | undefined;
  /**
   * What lanes keep of the accumulators that the open simd loop fills, by the accumulator's name.
   */
  readonly partials: Map<string, LaneAcc>;
  /** Private arrays: where each starts in the thread's memory, in bytes. */
  readonly arrays: ReadonlyMap<string, Dim>;
}

export const laneName = "=lane";
/** The number of a lane in the open vector. */
export const laneAt = ({ width }: Printer): Dim => anyInteger(laneName, 0, width - 1);

/** 0 to `count` − 1. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

export const typeOf = (dtype: Dtype | "index"): WasmType =>
  dtype === "index" ? "i32" : dtype === "f64" ? "f64" : "v128";

/** Binds an expression to a local of its own here. */
export function bind(p: Printer, type: WasmType, value: Code): Code {
  if (isCheap(value)) return value;
  const name = `v.${p.locals.size}`;
  p.locals.set(name, type);
  p.e.line(set(name, value));
  return get(name);
}

/** `bind` for functions that know no printer. */
export const binderOf = (p: Printer): Bind =>
  Object.assign((type: WasmType, value: Code) => bind(p, type, value), { lanes: p.width });

export function freshLocal(p: Printer, wanted: string, type: WasmType): string {
  const name = p.e.fresh(wanted);
  p.locals.set(name, type);
  return name;
}

/** Sets a new local here and returns what reads it. */
export function newLocal(p: Printer, wanted: string, type: WasmType, value: Code): Code {
  const name = freshLocal(p, wanted, type);
  p.e.line(set(name, value));
  return get(name);
}

/** Whether the lanes differ in `d`, whose names are resolved. */
export const varies = (p: Printer, d: Dim): boolean => p.lanes && symbolsIn(d).has(laneName);

const lanesOf = numbers(16).map((number) => new Map([[laneName, number]]));
/** `d` on one lane. */
export const onLane = (d: Dim, number: number): Dim => substitute(d, lanesOf[number]!);

const bits = new DataView(new ArrayBuffer(4));

/** A value in all lanes; f64 as a scalar. */
export function constantCode(value: number, dtype: Dtype): Code {
  if (dtype === "f64") return f64Const(value);
  if (dtype === "bool") return splat("i32x4", value ? -1 : 0);
  if (dtype === "f32" || dtype === "f16" || dtype === "bf16") {
    const v = Math.fround(value);
    if (Number.isFinite(v)) return splat("f32x4", v);
    bits.setFloat32(0, v);
    return splat("i32x4", Number.isNaN(v) ? 0x7fc00000 : bits.getInt32(0));
  }
  return splat("i32x4", value | 0);
}

/** A condition (i32, 0 or 1) as a lane mask, the same in all lanes. */
export const maskOf = (condition: Code): Code =>
  op("i32x4.splat", op("i32.sub", i32Const(0), condition));

export const signOf = (dtype: Dtype): "s" | "u" =>
  dtype === "u32" || dtype === "u8" || dtype === "bool" ? "u" : "s";

export type Comparator = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/** How two values compare, as a lane mask. */
export function compared(c: Comparator, dtype: Dtype, a: Code, b: Code): Code {
  if (dtype === "f64") return maskOf(op(`f64.${c}`, a, b));
  if (isFloat(dtype)) return op(`f32x4.${c}`, a, b);
  if (c === "eq" || c === "ne") return op(`i32x4.${c}`, a, b);
  // Masks are all ones where they hold, so that false < true as unsigned numbers.
  return op(`i32x4.${c}_${signOf(dtype)}`, a, b);
}

/** A value that is the same in all lanes as an i32. */
export const scalarOf = (c: Code): Code => laneOp("i32x4.extract_lane", 0, c);
