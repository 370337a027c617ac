/**
 * What is known while one wasm function is printed, and the smallest pieces of its text. Values are v128 (four
 * lanes, equal in all of them unless the value depends on the lane of an open vector), except f64, which is scalar.
 */
import { anyInteger, type Dim, type Dtype, substitute, symbolsIn } from "@kiln-ml/ir";
import type { Emitter } from "../emitter.ts";
import { atom, prec, type Text } from "../scope.ts";
import type { LaneAcc } from "./partial.ts";

export type WasmType = "i32" | "f64" | "v128";

export interface Printer {
  readonly e: Emitter;
  /** The locals of the function, in the order of their first use. */
  readonly locals: Map<string, WasmType>;
  /** True inside a vector: index expressions may hold the lane. */
  lanes: boolean;
  /** True if the open vector lies in the cache line of the one before. */
  within: boolean;
  /** What lanes keep of the accumulators that the open simd loop fills, by the accumulator's name. */
  readonly partials: Map<string, LaneAcc>;
  /** Private arrays: where each starts in the thread's memory, in bytes. */
  readonly arrays: ReadonlyMap<string, Dim>;
}

export const laneName = "=lane";
/** The number of a lane in the open vector, 0 to 3. */
export const lane: Dim = anyInteger(laneName, 0, 3);

export const typeOf = (dtype: Dtype | "index"): WasmType =>
  dtype === "index" ? "i32" : dtype === "f64" ? "f64" : "v128";

export const get = (name: string): string => `(local.get $${name})`;

/** The name in the text of a local. */
export const localOf = (t: Text): string => t.text.slice("(local.get $".length, -1);

export function op(name: string, ...args: readonly (string | Text)[]): Text {
  let text = `(${name}`;
  for (const a of args) text += ` ${typeof a === "string" ? a : a.text}`;
  return { text: `${text})`, prec: prec.add, lanes: 1 };
}

/** A new local of the type. */
function freshLocal(p: Printer, type: WasmType): string {
  const name = `v.${p.locals.size}`;
  p.locals.set(name, type);
  return name;
}

/** Binds an expression to a local of its own here. */
export function bind(p: Printer, type: WasmType, text: string): string {
  if (isCheap(text)) return text;
  const name = freshLocal(p, type);
  p.e.line(`(local.set $${name} ${text})`);
  return get(name);
}

/** True if repeating the text costs nothing: a local or a constant. */
export const isCheap = (text: string): boolean =>
  text.startsWith("(local.get ") || text.startsWith(".const ", 4) || text.startsWith(".const ", 5);

/** Whether the lanes differ in `d`, whose names are resolved. */
export const varies = (p: Printer, d: Dim): boolean => p.lanes && symbolsIn(d).has(laneName);

/** `d` on one lane. */
export const onLane = (d: Dim, number: number): Dim =>
  typeof d === "number" ? d : substitute(d, new Map([[laneName, number]]));

export const integer = (n: number): Text => atom(`(i32.const ${n | 0})`);

const constantHead = "(i32.const ";

/** The number an i32 constant is, or undefined. */
export const constantOf = ({ text }: Text): number | undefined =>
  text.startsWith(constantHead) ? Number(text.slice(constantHead.length, -1)) : undefined;

const bits = new DataView(new ArrayBuffer(8));

/** A value in all lanes; f64 as a scalar. */
export function constantText(value: number, dtype: Dtype): Text {
  if (dtype === "f64") return atom(`(f64.const ${doubleText(value)})`);
  if (dtype === "bool") return splatText("i32x4", String(value ? -1 : 0));
  if (dtype === "f32" || dtype === "f16" || dtype === "bf16") {
    const v = Math.fround(value);
    if (Number.isFinite(v)) return splatText("f32x4", shortest(v));
    bits.setFloat32(0, v);
    return splatText("i32x4", String(Number.isNaN(v) ? 0x7fc00000 : bits.getInt32(0)));
  }
  return splatText("i32x4", String(value | 0));
}

/** The shortest decimal of at most nine digits that reads back as the same f32. */
function shortest(v: number): string {
  if (Object.is(v, -0)) return "-0";
  if (Number.isInteger(v) && Math.abs(v) < 1e9) return String(v);
  for (const digits of [6, 7, 8]) {
    const near = Number(v.toPrecision(digits));
    if (Math.fround(near) === v) return String(near);
  }
  return String(Number(v.toPrecision(9)));
}

const doubleText = (v: number): string =>
  Number.isNaN(v)
    ? "nan"
    : Number.isFinite(v)
      ? Object.is(v, -0)
        ? "-0"
        : String(v)
      : v < 0
        ? "-inf"
        : "inf";

const splatText = (shape: "i32x4" | "f32x4", v: string): Text =>
  atom(`(v128.const ${shape} ${v} ${v} ${v} ${v})`);

/** A condition (i32, 0 or 1) as a lane mask, the same in all lanes. */
export const maskOf = (condition: Text): Text =>
  op("i32x4.splat", op("i32.sub", "(i32.const 0)", condition));

/** A value that is the same in all lanes as an i32. */
export const scalarOf = (t: Text): Text => op("i32x4.extract_lane 0", t);
