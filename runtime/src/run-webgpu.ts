/**
 * The runtime for WebGPU alone: a page that imports it names no other device, so that a bundler
 * keeps it in one file.
 */
export { openAdapter as openWebGpu } from "./devices/webgpu-adapter.ts";
export type { GpuLike, WebGpuOptions } from "./devices/webgpu-open.ts";
export * from "./run.ts";
