/**
 * The temporary buffers of one run. They go back at `end`, in reverse order, so that the next run is given the same buffers for
 * the same slots.
 */
import type { Driver } from "./device.ts";
import type { Buffer } from "./heap.ts";

export class Arena {
  readonly #driver: Driver;
  readonly #owner: string;
  readonly #buffers: Buffer[] = [];

  constructor(driver: Driver, owner: string) {
    this.#driver = driver;
    this.#owner = owner;
  }

  take(sizeBytes: number, tensor: string): Buffer {
    const buffer = this.#driver.allocate(sizeBytes, this.#owner, tensor);
    this.#buffers.push(buffer);
    return buffer;
  }

  end(): void {
    const buffers = this.#buffers;
    // A lost device has freed everything already.
    if (this.#driver.failure() === null)
      for (let i = buffers.length - 1; i >= 0; i--) this.#driver.release(buffers[i]!);
    buffers.length = 0;
  }
}
