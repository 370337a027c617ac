/**
 * The dims that launches are given, as parts of uniform buffers: one part for each list of values,
 * written once. Bind groups may begin at any part.
 */
import { createGpuBuffer, type GpuBuffer, usage } from "./gpu-buffer.ts";

/** Parts of one buffer; a loop needs one a trip. */
const partsPerBuffer = 64;

export interface Uniform {
  readonly buffer: GpuBuffer;
  readonly offset: number;
  readonly size: number;
}

export class Uniforms {
  readonly #device: GPUDevice;
  readonly #known = new Map<string, Uniform>();
  readonly #buffers: GpuBuffer[] = [];
  /** Bytes of the last buffer that are taken. */
  #taken = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** The dims as i32, padded to the 16 bytes that a uniform struct is rounded to. */
  of(dims: readonly number[]): Uniform {
    const key = dims.join();
    const known = this.#known.get(key);
    if (known) return known;
    const words = new Int32Array(Math.ceil(dims.length / 4) * 4);
    words.set(dims);
    const made = this.#reserve(words.byteLength);
    this.#device.queue.writeBuffer(made.buffer.gpu, made.offset, words);
    this.#known.set(key, made);
    return made;
  }

  destroy(): void {
    for (const { gpu } of this.#buffers) gpu.destroy();
    this.#known.clear();
  }

  #reserve(size: number): Uniform {
    const alignment = this.#device.limits.minUniformBufferOffsetAlignment;
    let buffer = this.#buffers.at(-1);
    if (!buffer || this.#taken + size > buffer.sizeBytes) {
      const bytes = Math.max(size, partsPerBuffer * alignment);
      buffer = createGpuBuffer(this.#device, bytes, usage.uniform | usage.copyTo);
      this.#buffers.push(buffer);
      this.#taken = 0;
    }
    const offset = this.#taken;
    this.#taken += Math.ceil(size / alignment) * alignment;
    return { buffer, offset, size };
  }
}
