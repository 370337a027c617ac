/**
 * Runs one emitted JavaScript kernel, as a device would: helpers first, then the function by its name.
 */
import type { KernelText } from "@kiln-ml/artifact";

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Int8Array
  | Uint8Array;

export function runJs(k: KernelText, arrays: readonly TypedArray[], dims: readonly number[]): void {
  const source = [...Object.values(k.helpers ?? {}), k.text, `return ${k.name};`].join("\n");
  const made: unknown = new Function(source)();
  if (typeof made === "function") made(...arrays, ...dims);
}
