/**
 * A compiled artifact on WebGPU: one encoder, one compute pass and one submit a run. Dims travel in uniform
 * buffers made once for each layout; bind groups are kept by the buffers they bind.
 */
import { DeviceError } from "@kiln-ml/artifact";
import type { KernelTiming, Program } from "../device.ts";
import { bufferAt, type Frame, type Launch, type Layout } from "../layout.ts";
import { type BoundLaunch, encodePass } from "./encode.ts";
import { createGpuBuffer, type GpuBuffer, usage, wholeWords } from "./gpu-buffer.ts";
import { timeByQueries, timeBySubmits } from "./webgpu-profile.ts";

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

export class GpuProgram implements Program {
  readonly #device: GPUDevice;
  readonly #kernels: readonly GpuKernel[];
  readonly #groups = new Map<string, GPUBindGroup>();
  /** By layout, then by the dims' values. */
  readonly #uniforms = new Map<string, Map<string, GpuBuffer>>();

  constructor(device: GPUDevice, kernels: readonly GpuKernel[]) {
    this.#device = device;
    this.#kernels = kernels;
  }

  run(frame: Frame): void {
    const launches = this.#bind(frame);
    const encoder = this.#device.createCommandEncoder();
    if (launches.length > 0) encodePass(encoder, launches);
    this.#encodeCopies(encoder, frame);
    this.#device.queue.submit([encoder.finish()]);
  }

  async profile(frame: Frame): Promise<KernelTiming[]> {
    const launches = this.#bind(frame);
    const time = this.#device.features.has("timestamp-query") ? timeByQueries : timeBySubmits;
    const timings = await time(this.#device, launches);
    const encoder = this.#device.createCommandEncoder();
    this.#encodeCopies(encoder, frame);
    this.#device.queue.submit([encoder.finish()]);
    return timings;
  }

  destroy(): void {
    for (const buffers of this.#uniforms.values()) destroyAll(buffers);
    this.#uniforms.clear();
    this.#groups.clear();
  }

  #encodeCopies(encoder: GPUCommandEncoder, frame: Frame): void {
    for (const { from, to, bytes } of frame.layout.copies) {
      if (bytes === 0) continue;
      const [source, target] = [bufferAt(frame, from), bufferAt(frame, to)] as GpuBuffer[];
      encoder.copyBufferToBuffer(source!.gpu, 0, target!.gpu, 0, wholeWords(bytes));
    }
  }

  /** Launches of no workgroups are left out: their outputs have no elements. */
  #bind(frame: Frame): BoundLaunch[] {
    const uniforms = this.#uniformsOf(frame.layout);
    const bound: BoundLaunch[] = [];
    for (const launch of frame.layout.launches) {
      const [x, y, z] = launch.workgroups;
      if (x * y * z === 0) continue;
      const { name, pipeline } = this.#kernels[launch.kernel]!;
      this.#checkWorkgroups(name, launch);
      bound.push({ name, launch, pipeline, group: this.#group(frame, launch, uniforms) });
    }
    return bound;
  }

  #checkWorkgroups(name: string, { workgroups }: Launch): void {
    const max = this.#device.limits.maxComputeWorkgroupsPerDimension;
    if (workgroups.some((n) => n > max))
      throw new DeviceError(
        `run: kernel ${name} needs [${workgroups}] workgroups, the device takes ${max} a dimension`,
      );
  }

  #group(frame: Frame, launch: Launch, uniforms: ReadonlyMap<string, GpuBuffer>): GPUBindGroup {
    const { layoutKey, layout } = this.#kernels[launch.kernel]!;
    const buffers = launch.args.map((place) => bufferAt(frame, place) as GpuBuffer);
    if (launch.dims.length > 0) buffers.push(uniforms.get(launch.dims.join())!);
    let key = layoutKey;
    for (const buffer of buffers) key += `,${buffer.id}`;
    const known = this.#groups.get(key);
    if (known) return known;
    const group = this.#device.createBindGroup({
      layout,
      entries: buffers.map(({ gpu }, binding) => ({ binding, resource: { buffer: gpu } })),
    });
    if (this.#groups.size >= keptGroups) this.#groups.delete(firstKey(this.#groups));
    this.#groups.set(key, group);
    return group;
  }

  #uniformsOf(layout: Layout): ReadonlyMap<string, GpuBuffer> {
    const known = this.#uniforms.get(layout.key);
    if (known) return known;
    const made = new Map<string, GpuBuffer>();
    for (const { dims } of layout.launches)
      if (dims.length > 0 && !made.has(dims.join()))
        made.set(dims.join(), createUniform(this.#device, dims));
    if (this.#uniforms.size >= keptLayouts) {
      const oldest = firstKey(this.#uniforms);
      destroyAll(this.#uniforms.get(oldest)!);
      this.#uniforms.delete(oldest);
    }
    this.#uniforms.set(layout.key, made);
    return made;
  }
}

const firstKey = (map: ReadonlyMap<string, unknown>) => map.keys().next().value as string;

function destroyAll(buffers: ReadonlyMap<string, GpuBuffer>): void {
  for (const buffer of buffers.values()) buffer.gpu.destroy();
}

/** The dims as i32, padded to the 16 bytes that a uniform struct is rounded to. */
function createUniform(device: GPUDevice, dims: readonly number[]): GpuBuffer {
  const words = new Int32Array(Math.ceil(dims.length / 4) * 4);
  words.set(dims);
  const buffer = createGpuBuffer(device, words.byteLength, usage.uniform | usage.copyTo);
  device.queue.writeBuffer(buffer.gpu, 0, words);
  return buffer;
}
