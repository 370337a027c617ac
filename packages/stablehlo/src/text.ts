/**
 * Types, constants and attributes as MLIR spells them. Numbers are written so that they are read back to the same bits: what
 * is not finite as its bits, all else as the shortest decimal. Knows no ops.
 */
import { type Dtype, isFloat, toHost } from "@kiln-ml/ir";

/** A value's type with every symbol bound. */
export interface Type {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
}

// biome-ignore format: one dtype a row
export const elementTypes: Readonly<Record<Dtype, string>> = {
  f64: "f64", f32: "f32", f16: "f16", bf16: "bf16",
  i32: "i32", u32: "ui32", i8: "i8", u8: "ui8", bool: "i1",
};

export const typeText = ({ dtype, shape }: Type): string =>
  `tensor<${shape.map((n) => `${n}x`).join("")}${elementTypes[dtype]}>`;

const digits: Partial<Record<Dtype, number>> = { f64: 16, f32: 8, f16: 4, bf16: 4 };

/** The bits of one float in hexadecimal, the most significant first. */
function bitsText(dtype: Dtype, x: number): string {
  const stored = toHost(dtype, [x]);
  const bytes = [...new Uint8Array(stored.buffer as ArrayBuffer)].reverse();
  const text = bytes.map((b) => b.toString(16).padStart(2, "0")).join("");
  return `0x${text.padStart(digits[dtype]!, "0").toUpperCase()}`;
}

/** MLIR wants a point in a float, and a digit before it. */
function decimal(x: number): string {
  const text = Object.is(x, -0) ? "-0.0" : String(x);
  if (text.includes(".")) return text;
  const [mantissa, exponent] = text.split("e");
  return exponent === undefined ? `${mantissa}.0` : `${mantissa}.0e${exponent}`;
}

/** One number of the dtype. */
export function numberText(dtype: Dtype, x: number): string {
  if (dtype === "bool") return x ? "true" : "false";
  if (!isFloat(dtype)) return String(x + 0);
  return Number.isFinite(x) ? decimal(x) : bitsText(dtype, x);
}

/** `dense<…>` of one number in all elements. */
export const splatText = (type: Type, x: number): string =>
  `dense<${numberText(type.dtype, x)}> : ${typeText(type)}`;

export const int = (n: number): string => `${n} : i64`;
export const ints = (list: readonly number[]): string =>
  list.length ? `array<i64: ${list.join(", ")}>` : "array<i64>";

/** Pairs, as paddings are: an [n, 2] constant. */
export const pairs = (list: readonly (readonly [number, number])[]): string =>
  list.length
    ? `dense<[${list.map(([a, b]) => `[${a}, ${b}]`).join(", ")}]> : tensor<${list.length}x2xi64>`
    : "dense<> : tensor<0x2xi64>";

/** `#stablehlo.dot<a = [0], b = 1>`. */
export const numbers = (
  name: string,
  fields: Readonly<Record<string, number | readonly number[]>>,
): string => {
  const list = Object.entries(fields).map(
    ([key, v]) => `${key} = ${typeof v === "number" ? v : `[${v.join(", ")}]`}`,
  );
  return `#stablehlo.${name}<${list.join(", ")}>`;
};
