/**
 * A GPU object around another that counts the calls made on it, by name, and can refuse memory. What goes back into WebGPU, such
 * as buffers and groups, is the other's own; devices, queues, encoders and passes are wrapped.
 */
export interface CountingGpu {
  readonly gpu: GPU;
  /** Calls since the last `take`, which begins anew. */
  take(): Readonly<Record<string, number>>;
  /** Buffers of so many bytes or more are not to be had. */
  refuseFrom: number;
  /** Submits less those known to be finished: now, and at most, ever. */
  readonly unfinished: number;
  readonly mostUnfinished: number;
}

type Methods = Record<string, (this: unknown, ...args: unknown[]) => unknown>;

/** `object` with each call counted, its results changed by the function of the same name. */
function around<T extends object>(
  object: T,
  count: (name: string) => void,
  changes: Record<string, (result: unknown, args: unknown[]) => unknown>,
): T {
  return new Proxy(object, {
    get(target, name: string) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function")
        return changes[name] && value !== undefined ? changes[name](value, []) : value;
      return (...args: unknown[]) => {
        count(name);
        const result = (target as unknown as Methods)[name]!(...args);
        return changes[name] ? changes[name](result, args) : result;
      };
    },
  });
}

class Counting implements CountingGpu {
  readonly gpu: GPU;
  refuseFrom = Number.POSITIVE_INFINITY;
  mostUnfinished = 0;
  #calls: Record<string, number> = {};
  #submits = 0;
  #finished = 0;
  #refused = 0;

  constructor(gpu: GPU) {
    this.gpu = around(gpu, () => {}, {
      requestAdapter: async (adapter) => this.#adapter((await adapter) as GPUAdapter),
    });
  }

  get unfinished(): number {
    return this.#submits - this.#finished;
  }

  take(): Readonly<Record<string, number>> {
    const calls = this.#calls;
    this.#calls = {};
    return calls;
  }

  readonly #count = (name: string): void => {
    this.#calls[name] = (this.#calls[name] ?? 0) + 1;
  };

  #adapter(adapter: GPUAdapter): GPUAdapter {
    return around(adapter, () => {}, {
      requestDevice: async (device) => this.#device((await device) as GPUDevice),
    });
  }

  #device(device: GPUDevice): GPUDevice {
    const queue = this.#queue(device.queue);
    return around(device, this.#count, {
      queue: () => queue,
      createCommandEncoder: (encoder) => this.#encoder(encoder as GPUCommandEncoder),
      createBuffer: (buffer, [descriptor]) => {
        this.#refused = Number((descriptor as GPUBufferDescriptor).size >= this.refuseFrom);
        return buffer;
      },
      popErrorScope: async (error) => (this.#refused-- > 0 ? { message: "out of memory" } : error),
    });
  }

  #queue(queue: GPUQueue): GPUQueue {
    return around(queue, this.#count, {
      submit: () => {
        this.#submits += 1;
        this.mostUnfinished = Math.max(this.mostUnfinished, this.unfinished);
      },
      onSubmittedWorkDone: (done) => {
        const submits = this.#submits;
        return (done as Promise<undefined>).then(() => {
          this.#finished = Math.max(this.#finished, submits);
        });
      },
    });
  }

  #encoder(encoder: GPUCommandEncoder): GPUCommandEncoder {
    return around(encoder, this.#count, {
      beginComputePass: (pass) => around(pass as GPUComputePassEncoder, this.#count, {}),
    });
  }
}

export const countingGpu = (gpu: GPU): CountingGpu => new Counting(gpu);
