/**
 * Whether wasm programs can run here. An engine may lack WebAssembly or its vectors, and a page's policy may forbid
 * compiling modules. Opens no device.
 */
// A function that makes a vector and drops it.
const vectors = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 4, 1, 0x60, 0, 0],
  ...[3, 2, 1, 0],
  ...[10, 9, 1, 7, 0, 0x41, 0, 0xfd, 15, 0x1a, 11],
);

let known: { readonly why: string | undefined } | undefined;

/** Why no wasm program can run here; undefined if they can. */
export function wasmMissing(): string | undefined {
  known ??= { why: engineLacks(globalThis) };
  return known.why;
}

/** What an engine with these globals lacks; undefined if nothing. */
export function engineLacks(scope: { readonly WebAssembly?: unknown }): string | undefined {
  const api = scope.WebAssembly as typeof WebAssembly | undefined;
  if (typeof api?.Module !== "function") return "this engine has no WebAssembly";
  if (!api.validate(vectors)) return "this engine's WebAssembly has no SIMD";
  try {
    new api.Module(vectors);
  } catch {
    return "this page's policy forbids WebAssembly";
  }
  return undefined;
}

/** How many threads a device is opened with: a number, or as many as the machine has cores. */
export type ThreadCount = number | "auto";
