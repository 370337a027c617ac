/**
 * A compiled artifact on WebGPU: one encoder, one compute pass and one submit a run, or several where a flag must be read
 * on the way. Dims travel in uniform buffers made once for each layout; bind groups are kept by the buffers they bind.
 */
import { DeviceError } from "@kiln-ml/artifact";
import type { KernelTiming, Program } from "../device.ts";
import type { Next, Walk } from "../flow.ts";
import { bufferAt, type Frame, type Launch, type Layout, type Place } from "../layout.ts";
import { type BoundLaunch, encodePass } from "./encode.ts";
import { createGpuBuffer, type GpuBuffer, usage, wholeWords } from "./gpu-buffer.ts";
import { timeByQueries, timeBySubmits } from "./webgpu-profile.ts";
import { type Uniform, Uniforms } from "./webgpu-uniforms.ts";

export interface GpuKernel {
  readonly name: string;
  readonly layoutKey: string;
  readonly layout: GPUBindGroupLayout;
  readonly pipeline: GPUComputePipeline;
  readonly dims: number;
}

/** Far more than a program in a steady state uses; old ones go when sizes keep changing. */
const keptGroups = 8192;
const keptLayouts = 256;
const launchesPerSubmit = 2048;

export class GpuProgram implements Program {
  readonly #device: GPUDevice;
  readonly #kernels: readonly GpuKernel[];
  readonly #groups = new Map<string, GPUBindGroup>();
  /** By layout. */
  readonly #uniforms = new Map<string, Uniforms>();
  /** Where flags are read. */
  #flag: GpuBuffer | undefined;

  constructor(device: GPUDevice, kernels: readonly GpuKernel[]) {
    this.#device = device;
    this.#kernels = kernels;
  }

  /** Where a flag decides what comes next, the run goes on when it has been read back. */
  run(frame: Frame): void | Promise<void> {
    const part = this.#part(frame, new Orders(frame.layout));
    if (part.flag) return this.#goOn(frame, part);
    this.#submit(part.launches, frame);
  }

  async profile(frame: Frame): Promise<KernelTiming[]> {
    const orders = new Orders(frame.layout);
    const time = this.#device.features.has("timestamp-query") ? timeByQueries : timeBySubmits;
    const timings = new Map<Launch, KernelTiming>();
    for (;;) {
      const { launches, flag } = this.#part(frame, orders);
      for (const [i, t] of (await time(this.#device, launches)).entries()) {
        const { launch } = launches[i]!;
        timings.set(launch, { ...t, ms: t.ms + (timings.get(launch)?.ms ?? 0) });
      }
      if (!flag) break;
      orders.answer(await this.#read(frame, flag));
    }
    this.#submit([], frame);
    return frame.layout.launches.flatMap((launch) => timings.get(launch) ?? []);
  }

  destroy(): void {
    for (const uniforms of this.#uniforms.values()) uniforms.destroy();
    this.#uniforms.clear();
    this.#groups.clear();
    this.#flag?.gpu.destroy();
  }

  async #goOn(frame: Frame, first: Part): Promise<void> {
    let part = first;
    while (part.flag) {
      this.#submit(part.launches, undefined);
      part.orders.answer(await this.#read(frame, part.flag));
      part = this.#part(frame, part.orders);
    }
    this.#submit(part.launches, frame);
  }

  async #read(frame: Frame, flag: Place): Promise<boolean> {
    this.#flag ??= createGpuBuffer(this.#device, 4, usage.mapRead | usage.copyTo);
    const { gpu } = this.#flag;
    const encoder = this.#device.createCommandEncoder();
    encoder.copyBufferToBuffer((bufferAt(frame, flag) as GpuBuffer).gpu, 0, gpu, 0, 4);
    this.#device.queue.submit([encoder.finish()]);
    await gpu.mapAsync(usage.mapModeRead, 0, 4);
    const [value] = new Uint32Array(gpu.getMappedRange(0, 4));
    gpu.unmap();
    return value !== 0;
  }

  /** Many launches are several submits, so that the device begins before all are encoded. */
  #submit(launches: readonly BoundLaunch[], copies: Frame | undefined): void {
    for (let i = 0; i === 0 || i < launches.length; i += launchesPerSubmit) {
      const encoder = this.#device.createCommandEncoder();
      const list = launches.slice(i, i + launchesPerSubmit);
      if (list.length > 0) encodePass(encoder, list);
      if (copies && i + launchesPerSubmit >= launches.length) this.#encodeCopies(encoder, copies);
      this.#device.queue.submit([encoder.finish()]);
    }
  }

  #encodeCopies(encoder: GPUCommandEncoder, frame: Frame): void {
    for (const { from, to, bytes } of frame.layout.copies) {
      if (bytes === 0) continue;
      const [source, target] = [bufferAt(frame, from), bufferAt(frame, to)] as GpuBuffer[];
      encoder.copyBufferToBuffer(source!.gpu, 0, target!.gpu, 0, wholeWords(bytes));
    }
  }

  /** What comes before a flag or the end. Launches of no workgroups are left out: their outputs have no elements. */
  #part(frame: Frame, orders: Orders): Part {
    const uniforms = this.#uniformsOf(frame.layout);
    const launches: BoundLaunch[] = [];
    for (;;) {
      const next = orders.next();
      if (typeof next !== "number") return { launches, orders, flag: next };
      const launch = frame.layout.launches[next]!;
      const [x, y, z] = launch.workgroups;
      if (x * y * z === 0) continue;
      const { name, pipeline } = this.#kernels[launch.kernel]!;
      this.#checkWorkgroups(name, launch);
      const dims = orders.dims(launch);
      const uniform = dims.length > 0 ? uniforms.of(dims) : undefined;
      launches.push({ name, launch, pipeline, group: this.#group(frame, launch, uniform) });
    }
  }

  #checkWorkgroups(name: string, { workgroups }: Launch): void {
    const max = this.#device.limits.maxComputeWorkgroupsPerDimension;
    if (workgroups.some((n) => n > max))
      throw new DeviceError(
        `run: kernel ${name} needs [${workgroups}] workgroups, the device takes ${max} a dimension`,
      );
  }

  #group(frame: Frame, launch: Launch, uniform: Uniform | undefined): GPUBindGroup {
    const { layoutKey, layout } = this.#kernels[launch.kernel]!;
    const resources: GPUBufferBinding[] = [];
    let key = layoutKey;
    for (const place of launch.args) {
      const { gpu, id } = bufferAt(frame, place) as GpuBuffer;
      resources.push({ buffer: gpu });
      key += `,${id}`;
    }
    if (uniform) {
      const { buffer, offset, size } = uniform;
      resources.push({ buffer: buffer.gpu, offset, size });
      key += `,${buffer.id}+${offset}`;
    }
    const known = this.#groups.get(key);
    if (known) return known;
    const group = this.#device.createBindGroup({
      layout,
      entries: resources.map((resource, binding) => ({ binding, resource })),
    });
    if (this.#groups.size >= keptGroups) this.#groups.delete(firstKey(this.#groups));
    this.#groups.set(key, group);
    return group;
  }

  #uniformsOf(layout: Layout): Uniforms {
    const known = this.#uniforms.get(layout.key);
    if (known) return known;
    const made = new Uniforms(this.#device);
    if (this.#uniforms.size >= keptLayouts) {
      const oldest = firstKey(this.#uniforms);
      this.#uniforms.get(oldest)!.destroy();
      this.#uniforms.delete(oldest);
    }
    this.#uniforms.set(layout.key, made);
    return made;
  }
}

const firstKey = (map: ReadonlyMap<string, unknown>) => map.keys().next().value as string;

/** Launches up to a flag, or to the end. */
interface Part {
  readonly launches: readonly BoundLaunch[];
  readonly orders: Orders;
  readonly flag: Place | undefined;
}

/** The launches of a layout in their order. */
class Orders {
  readonly #walk: Walk | undefined;
  readonly #count: number;
  #next = 0;

  constructor({ flow, launches }: Layout) {
    this.#walk = flow?.walk();
    this.#count = launches.length;
  }

  next(): Next | undefined {
    if (this.#walk) return this.#walk.next();
    return this.#next < this.#count ? this.#next++ : undefined;
  }

  answer(flag: boolean): void {
    this.#walk!.answer(flag);
  }

  dims({ dims, counted }: Launch): readonly number[] {
    if (counted.length === 0) return dims;
    const values = [...dims];
    for (const { at, loop } of counted) values[at] = this.#walk!.counts[loop]!;
    return values;
  }
}
