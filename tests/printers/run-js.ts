/**
 * Runs one emitted JavaScript kernel, as a device would: by its name.
 */
import type { KernelText } from "@kiln-ml/artifact";
import { type Dtype, toHost } from "@kiln-ml/ir";

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint16Array
  | Int8Array
  | Uint8Array;

export function runJs(k: KernelText, arrays: readonly TypedArray[], dims: readonly number[]): void {
  const source = [k.text, `return ${k.name};`].join("\n");
  const made: unknown = new Function(source)();
  if (typeof made === "function") made(...arrays, ...dims);
}

/** The typed array the js target keeps `dtype` in. */
export const arrayOf = (dtype: Dtype, numbers: readonly number[]): TypedArray =>
  toHost(dtype, numbers);
