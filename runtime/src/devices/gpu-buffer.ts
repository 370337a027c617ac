/**
 * A GPUBuffer with the identity that caches go by. The usage bits are spelled here because Node has
 * no global `GPUBufferUsage`.
 */
import type { Buffer } from "../heap.ts";

/** WebGPU §5.1.3 and §5.1.4. */
export const usage = {
  mapRead: 0x1,
  copyFrom: 0x4,
  copyTo: 0x8,
  uniform: 0x40,
  storage: 0x80,
  queryResolve: 0x200,
  mapModeRead: 0x1,
} as const;

export interface GpuBuffer extends Buffer {
  readonly gpu: GPUBuffer;
}

let nextId = 0;

export function createGpuBuffer(device: GPUDevice, sizeBytes: number, bits: number): GpuBuffer {
  return { id: nextId++, sizeBytes, gpu: device.createBuffer({ size: sizeBytes, usage: bits }) };
}

/** Copies and writes move whole words. Every buffer has room for the rest of its last one. */
export const wholeWords = (sizeBytes: number): number => Math.ceil(sizeBytes / 4) * 4;
