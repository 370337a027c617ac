/**
 * The runtime without the devices of the CPU, for whoever opens them by an `import()` of
 * `@kiln-ml/runtime/cpu` or `/wasm`.
 */
export type {
  AdapterInfo,
  Device,
  KernelModule,
  KernelTiming,
  LossInfo,
  RunOptions,
} from "./device.ts";
export { DeviceArray } from "./device-array.ts";
export { wasmThreads } from "./devices/wasm-threads.ts";
export { openWebGpu, type WebGpuOptions } from "./devices/webgpu-open.ts";
export { Executable } from "./executable.ts";
export type { MemoryReport } from "./heap.ts";
export type { Dtype, TypedArray } from "./host-array.ts";
export { type LoadOptions, load, loadNow } from "./load.ts";
export type { HostTensor, Input } from "./signature.ts";
export { type HostState, initialStates, restore, type Snapshot } from "./states.ts";
