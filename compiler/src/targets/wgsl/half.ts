/**
 * bf16 in WGSL, and f16 without the feature shader-f16 (with it: `native-half.ts`): two of them lie
 * in one word of a buffer, and values are f32 that are rounded where they are made. An invocation
 * stores its half of a word with two atomic operations, which leave the other half to the
 * invocation that owns it.
 */
import { type Dim, type Dtype, floorDiv, modDim, mulDim } from "@kiln-ml/ir";
import type { Kernel } from "../../kernel/kernel.ts";
import { indexText, placeText } from "../index-text.ts";
import { atom, prec, type Text } from "../scope.ts";
import type { Printer } from "./language.ts";
import { nearest } from "./native-half.ts";

const suffixes: Partial<Record<Dtype, string>> = { f16: "F16", bf16: "Bf16" };

/** What the names of the functions for the dtype end in; undefined if it is no half. */
export const halfOf = (dtype: Dtype): string | undefined => suffixes[dtype];

/**
 * Round to nearest, ties to even; bits may be lost in f32's subnormals, which a device may flush.
 */
const toF16 = `fn $toF16(x: F) -> U {
  let bits = bitcast<U>(x);
  let a = bits & U(0x7fffffffu);
  let normal = (a - U(0x38000000u) + U(0x0fffu) + ((a >> U(13u)) & U(1u))) >> U(13u);
  let small = U(round(bitcast<F>(min(a, U(0x38800000u))) * F(16777216.0)));
  let finite = select(normal, small, a < U(0x38800000u));
  let bounded = select(finite, U(0x7c00u), a >= U(0x477ff000u));
  let value = select(bounded, U(0x7e00u), a > U(0x7f800000u));
  return value | ((bits >> U(16u)) & U(0x8000u));
}`;

/** Of the low half of a word. */
const fromF16 = `fn $fromF16(word: U) -> F {
  let a = word & U(0x7fffu);
  let small = bitcast<U>(F(a) * F(5.9604644775390625e-8));
  let normal = (a << U(13u)) + U(0x38000000u);
  let finite = select(normal, small, a < U(0x0400u));
  let bits = select(finite, U(0x7f800000u) | (a << U(13u)), a >= U(0x7c00u));
  return bitcast<F>(bits | ((word & U(0x8000u)) << U(16u)));
}`;

const toBf16 = `fn $toBf16(x: F) -> U {
  let b = bitcast<U>(x);
  let rounded = (b + U(0x7fffu) + ((b >> U(16u)) & U(1u))) >> U(16u);
  return select(rounded, U(0x7fc0u), (b & U(0x7fffffffu)) > U(0x7f800000u));
}`;
const fromBf16 = `fn $fromBf16(word: U) -> F {
  return bitcast<F>(word << U(16u));
}`;

/**
 * Integers that f32 cannot hold, with a mark in the last bit that it can where more are lost:
 * rounded to bf16 afterwards they are rounded once.
 */
const oddInt = `fn $oddInt(x: I) -> I {
  let marked = (x & I(-256)) | (((x & I(255)) + I(255)) & I(256));
  return select(marked, x, abs(x / I(2)) < I(8388608));
}`;
const oddUint = `fn $oddUint(x: U) -> U {
  let marked = (x & U(0xffffff00u)) | (((x & U(255u)) + U(255u)) & U(256u));
  return select(marked, x, x < U(16777216u));
}`;

const round = (half: string): string => `fn $round${half}(x: F) -> F {
  return $from${half}($to${half}(x));
}`;

export const halfPrelude: Readonly<Record<string, string>> = {
  toF16,
  fromF16,
  toBf16,
  fromBf16,
  oddInt,
  oddUint,
  roundF16: round("F16"),
  roundBf16: round("Bf16"),
};

/** Ops whose results are halves if their operands are; conversions are rounded like arithmetic. */
const exact = new Set(
  "neg abs sign floor ceil round trunc maximum minimum select bitcast".split(" "),
);

/** The result of an op in its dtype. */
export function rounded(p: Printer, t: Text, dtype: Dtype, op?: string): Text {
  const half = halfOf(dtype);
  if (!half || (op !== undefined && exact.has(op))) return t;
  if (p.native && dtype === "f16") return nearest(p, t);
  return atom(`${p.use(`round${half}`, t.lanes)}(${t.text})`, t.lanes);
}

/** The half of a parameter's dtype; arrays inside a kernel hold f32. */
export function packedHalf(p: Printer, name: string): string | undefined {
  if (p.narrow.has(name)) return undefined;
  const param = p.e.kernel.params.find((q) => q.name === name);
  return param && halfOf(param.dtype);
}

/** The type of a buffer's words. */
export const wordType = (access: Kernel["params"][number]["access"]): string =>
  access === "read" ? "u32" : "atomic<u32>";

/** The word that an element lies in, and how far its bits are from the low end. */
function placeOf(p: Printer, index: Dim): { word: string; shift: string } {
  const d = p.e.resolved(index);
  const shift = indexText(p.e, mulDim(modDim(d, 2), 16)).text;
  return { word: placeText(p.e, floorDiv(d, 2)), shift: `u32(${shift})` };
}

export function loadHalf(p: Printer, name: string, half: string, index: Dim): Text {
  const { word, shift } = placeOf(p, index);
  const element = `${p.e.find(name).text.text}[${word}]`;
  const access = p.e.kernel.params.find((q) => q.name === name)!.access;
  const loaded = access === "read" ? element : `atomicLoad(&${element})`;
  return { text: `${p.use(`from${half}`, 1)}(${loaded} >> ${shift})`, prec: prec.atom, lanes: 1 };
}

/** One statement, so that stores of several lanes can be listed. */
export function storeHalf(p: Printer, to: string, half: string, index: Dim, value: string): string {
  const { word, shift } = placeOf(p, index);
  const element = `${p.e.find(to).text.text}[${word}]`;
  // The value may be made of the element that it takes the place of, so it comes first.
  const bits = p.e.fresh("bits");
  const made = `let ${bits} = ${p.use(`to${half}`, 1)}(${value}) << ${shift};`;
  return `{ ${made} atomicAnd(&${element}, ~(0xffffu << ${shift})); atomicOr(&${element}, ${bits}); }`;
}
