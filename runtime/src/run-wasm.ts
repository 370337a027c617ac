/**
 * The runtime for WebAssembly alone: a page that imports it names no other device, so that a
 * bundler keeps it in one file.
 */
export { createWasmDevice, type WasmOptions } from "./devices/wasm.ts";
export { wasmThreads } from "./devices/wasm-threads.ts";
export * from "./run.ts";
