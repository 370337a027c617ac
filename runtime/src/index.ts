/**
 * The runtime: artifact + data → results, on the CPU, through WebAssembly or on WebGPU. It imports nothing but the artifact package.
 */
export type { Device, KernelModule, KernelTiming, LossInfo } from "./device.ts";
export { DeviceArray } from "./device-array.ts";
export { type CpuOptions, createCpuDevice } from "./devices/cpu.ts";
export { createWasmDevice, type WasmOptions, wasmThreads } from "./devices/wasm.ts";
export { openWebGpu, type WebGpuOptions } from "./devices/webgpu-open.ts";
export { Executable } from "./executable.ts";
export type { MemoryReport } from "./heap.ts";
export type { Dtype, TypedArray } from "./host-array.ts";
export { type LoadOptions, load } from "./load.ts";
export type { HostTensor, Input } from "./signature.ts";
export { type HostState, initialStates, restore, type Snapshot } from "./states.ts";
