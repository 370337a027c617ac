/**
 * Runs one kernel of wasm, encoded without relaxed SIMD, on a memory of its own: each phase by all its units in
 * turn. Knows no threads.
 */
import { evaluateExtent, type KernelText } from "@kiln-ml/artifact";
import { functionsOf } from "../../compiler/src/targets/wasm/emit.ts";
import { encodeModules } from "../../compiler/src/targets/wasm/module.ts";
import type { TypedArray } from "./run-js.ts";

const page = 65536;
const align = (bytes: number): number => Math.ceil(bytes / 64) * 64;
type Entry = (...args: number[]) => void;

/** Calls the kernel on the arrays, one for each binding, which then hold what it left there. */
export function runWasm(
  k: KernelText,
  arrays: readonly TypedArray[],
  dims: Readonly<Record<string, number>>,
): void {
  const addresses: number[] = [];
  let top = 64;
  for (const a of arrays) {
    addresses.push(top);
    top += align(a.byteLength);
  }
  const stack = align(evaluateExtent(k.stack!, dims));
  const memory = new WebAssembly.Memory({
    initial: Math.ceil((top + stack) / page),
    maximum: page,
  });
  const bytesOf = (i: number): Uint8Array =>
    new Uint8Array(memory.buffer, addresses[i]!, arrays[i]!.byteLength);
  const hostOf = (a: TypedArray): Uint8Array =>
    new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
  for (const [i, a] of arrays.entries()) bytesOf(i).set(hostOf(a));
  const module = new WebAssembly.Module(encodeModules(functionsOf(k)).plain as BufferSource);
  const imports = { env: { memory }, Math } as unknown as WebAssembly.Imports;
  const { exports } = new WebAssembly.Instance(module, imports);
  const given = [...addresses, ...k.dims.map((name) => dims[name]!)];
  for (const { entry, units } of k.phases!)
    (exports[entry] as Entry)(...given, 0, evaluateExtent(units, dims), top);
  for (const [i, a] of arrays.entries()) hostOf(a).set(bytesOf(i));
}
