/**
 * Runs one emitted JavaScript kernel, as a device would: by its name.
 */
import type { KernelText } from "@kiln-ml/artifact";
import type { Dtype } from "@kiln-ml/ir";

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Int8Array
  | Uint8Array;

export function runJs(k: KernelText, arrays: readonly TypedArray[], dims: readonly number[]): void {
  const source = [k.text, `return ${k.name};`].join("\n");
  const made: unknown = new Function(source)();
  if (typeof made === "function") made(...arrays, ...dims);
}

const arrays = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  u32: Uint32Array,
  i8: Int8Array,
  u8: Uint8Array,
  bool: Uint8Array,
};

/** The typed array the js target keeps `dtype` in. */
export function arrayOf(dtype: Dtype, numbers: readonly number[]): TypedArray {
  if (dtype === "f16" || dtype === "bf16") throw new Error(`no array of ${dtype}`);
  return arrays[dtype].from(numbers);
}
