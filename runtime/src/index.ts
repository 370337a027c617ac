/**
 * The runtime: artifact + data → results, on the CPU, through WebAssembly or on WebGPU. It imports
 * nothing but the artifact package.
 */
export { type CpuOptions, createCpuDevice } from "./devices/cpu.ts";
export { createWasmDevice, type WasmOptions } from "./devices/wasm.ts";
export * from "./loader.ts";
