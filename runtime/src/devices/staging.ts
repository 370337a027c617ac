/**
 * Reads device buffers back through mappable ones, which are kept for the next read. Each read is
 * one copy of exactly what was asked for; reads may overlap.
 */
import type { Buffer } from "../heap.ts";
import { Heap } from "../heap.ts";
import { type GpuBuffer, usage } from "./gpu-buffer.ts";
import type { Commands } from "./webgpu-commands.ts";

/** Larger ones are destroyed after use: a checkpoint is read rarely, a loss every step. */
const keptBytes = 16 * 2 ** 20;

export class Staging {
  readonly #commands: Commands;
  readonly #heap: Heap<GpuBuffer>;

  /** `create` makes buffers that can be mapped to be read, of `maxBytes` at most. */
  constructor(commands: Commands, create: (sizeBytes: number) => GpuBuffer, maxBytes: number) {
    this.#commands = commands;
    this.#heap = new Heap(create, (buffer) => buffer.gpu.destroy(), maxBytes);
  }

  /** The first `sizeBytes` of `source`, which must be a multiple of 4. */
  async read(source: Buffer, sizeBytes: number): Promise<ArrayBuffer> {
    const target = this.#heap.acquire(sizeBytes, "staging");
    try {
      this.#commands.copy(source as GpuBuffer, target, sizeBytes);
      await this.#commands.flushSoon();
      const submits = this.#commands.expect();
      try {
        await target.gpu.mapAsync(usage.mapModeRead, 0, sizeBytes);
      } finally {
        this.#commands.finish(submits);
      }
      const bytes = target.gpu.getMappedRange(0, sizeBytes).slice(0);
      target.gpu.unmap();
      this.#heap.release(target, target.sizeBytes <= keptBytes);
      return bytes;
    } catch (error) {
      this.#heap.release(target, false);
      throw error;
    }
  }

  /** Bytes held, in use or not. */
  get heldBytes(): number {
    const { live, pooled } = this.#heap.report();
    return live + pooled;
  }

  clear(): void {
    this.#heap.clear();
  }
}
