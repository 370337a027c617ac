/**
 * The runtime for WebGPU alone: a page that imports it names no other device, so that a bundler
 * keeps it in one file.
 */
import type { Device } from "./device.ts";
import { openAdapter } from "./devices/webgpu-adapter.ts";
import type { WebGpuOptions } from "./devices/webgpu-open.ts";

export type { GpuLike, WebGpuOptions } from "./devices/webgpu-open.ts";
export * from "./run.ts";

/** Opens a WebGPU device, as `openWebGpu` of the whole runtime does, at once. */
export const openWebGpu = (options: WebGpuOptions = {}): Promise<Device> => openAdapter(options);
