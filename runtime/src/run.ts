/**
 * What runs an artifact on a device, and what runs give, without any device. Each target's own
 * entry is this and the device of the target: one file in a bundle.
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
export { Executable } from "./executable.ts";
export type { MemoryReport } from "./heap.ts";
export type { Dtype, TypedArray } from "./host-array.ts";
export { type LoadOptions, load, loadNow } from "./load.ts";
export type { HostTensor, Input } from "./signature.ts";
export { type HostState, initialStates, restore, type Snapshot } from "./states.ts";
