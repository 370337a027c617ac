/**
 * The memory of one run: arrays held so that nobody frees them meanwhile, and temporary buffers. Everything goes
 * back at `end`, in reverse order, so that the next run is given the same buffers for the same slots.
 */
import type { Driver } from "./device.ts";
import type { DeviceArray } from "./device-array.ts";
import type { Buffer } from "./heap.ts";

export class Lease {
  readonly #driver: Driver;
  readonly #owner: string;
  readonly #returns: (() => void)[] = [];

  constructor(driver: Driver, owner: string) {
    this.#driver = driver;
    this.#owner = owner;
  }

  hold(array: DeviceArray, where: string): Buffer {
    array.check(where);
    this.#returns.push(array.hold());
    return array.buffer;
  }

  take(sizeBytes: number, tensor: string): Buffer {
    const buffer = this.#driver.allocate(sizeBytes, this.#owner, tensor);
    this.#returns.push(() => {
      if (this.#driver.failure() === null) this.#driver.release(buffer);
    });
    return buffer;
  }

  end(): void {
    for (const give of this.#returns.reverse()) give();
    this.#returns.length = 0;
  }
}
