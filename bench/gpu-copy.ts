/**
 * What copying costs on the device at hand, four elements and one at a time: the limit of kernels that do little but move
 * memory. Written without the compiler, so that it cannot be slow for the same reason.
 */
const storage = 0x80 | 0x4 | 0x8;
/** 256 MiB, far beyond any cache. */
const words = 1 << 26;

const textOf = (type: string, count: number): string => `
@group(0) @binding(0) var<storage, read> x: array<${type}>;
@group(0) @binding(1) var<storage, read_write> y: array<${type}>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>) {
  let i = id.x + id.y * n.x * 256u;
  if (i < ${count}u) { y[i] = x[i]; }
}`;

export interface CopyRates {
  /** GB/s, read and written. */
  readonly wide: number;
  readonly scalar: number;
}

/** As many as the rows that are compared with it, so that a submit and a wait weigh the same. */
export const copyRepeats = 30;
/** A card that has idled for a second runs at a fraction of its clock and takes about as long to come back. */
const longestWarmUp = 3000;

/** Copies of one size on one device. */
export class Copies {
  readonly #device: GPUDevice;
  readonly #size: number;
  readonly #buffers: readonly GPUBuffer[];
  #best = 0;

  constructor(device: GPUDevice, size = words) {
    this.#device = device;
    this.#size = size;
    this.#buffers = [0, 1].map(() => device.createBuffer({ size: size * 4, usage: storage }));
  }

  async rates(): Promise<CopyRates> {
    const median = async (type: string, count: number): Promise<number> => {
      const once = this.#copier(type, count);
      const rates: number[] = [];
      for (let i = 0; i < 7; i++) rates.push(await once());
      return rates.sort((a, b) => a - b)[3]!;
    };
    await this.warmUp();
    return {
      wide: await median("vec4<f32>", this.#size / 4),
      scalar: await median("f32", this.#size),
    };
  }

  /** Copies until that goes as fast as it ever did, and the first time for as long as it takes to be sure. */
  async warmUp(): Promise<void> {
    const once = this.#copier("vec4<f32>", this.#size / 4);
    const start = performance.now();
    const first = this.#best === 0;
    for (let rate = 0; performance.now() - start < longestWarmUp; ) {
      rate = await once();
      if (!first && rate > 0.97 * this.#best) break;
      this.#best = Math.max(this.#best, rate);
    }
  }

  destroy(): void {
    for (const b of this.#buffers) b.destroy();
  }

  /** A function that copies a few times and gives the rate. */
  #copier(type: string, count: number): () => Promise<number> {
    const device = this.#device;
    const module = device.createShaderModule({ code: textOf(type, count) });
    const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
    const group = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: this.#buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    const groups = Math.ceil(count / 256);
    const rows = Math.ceil(groups / 65535);
    return async () => {
      const start = performance.now();
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      for (let j = 0; j < copyRepeats; j++) pass.dispatchWorkgroups(Math.ceil(groups / rows), rows);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      return (this.#size * 8 * copyRepeats) / (performance.now() - start) / 1e6;
    };
  }
}
