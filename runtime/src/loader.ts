/**
 * The runtime without the devices of the CPU, for whoever opens them by an `import()` of
 * `@kiln-ml/runtime/cpu` or `/wasm`.
 */
export { wasmThreads } from "./devices/wasm-threads.ts";
export { openWebGpu, type WebGpuOptions } from "./devices/webgpu-open.ts";
export * from "./run.ts";
