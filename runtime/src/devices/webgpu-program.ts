/**
 * A compiled artifact on WebGPU: the launches of a run are bound to its memory, encoded and handed
 * to the queue, in several parts where a flag must be read on the way. Dims travel in uniform
 * buffers made once for each layout; bind groups are kept by the buffers they bind, and whole runs
 * too.
 */
import { DeviceError } from "@kiln-ml/artifact";
import { again, type KernelTiming, type Program, type RunOptions, reopen } from "../device.ts";
import type { Next, Walk } from "../flow.ts";
import { bufferAt, type Frame, type Launch, type Layout, type Place } from "../layout.ts";
import type { BoundLaunch } from "./encode.ts";
import { createGpuBuffer, type GpuBuffer, usage, wholeWords } from "./gpu-buffer.ts";
import { type Commands, workOf } from "./webgpu-commands.ts";
import { timeByQueries, timeBySubmits } from "./webgpu-profile.ts";
import { Recordings } from "./webgpu-recordings.ts";
import { Results, type StandIns } from "./webgpu-results.ts";
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
/** Launches that are bound before the device has done them; a loop may have any number. */
const launchesAhead = 2 ** 14;

/** What a program asks of its device. */
export interface GpuHost {
  readonly device: GPUDevice;
  readonly commands: Commands;
  /** Calls `work` after all runs called before. */
  follow(work: () => void): void | Promise<void>;
  /** Why no call can succeed, or null. */
  failure(): string | null;
}

/** What is made once for a layout. */
interface Prepared {
  readonly uniforms: Uniforms;
  readonly recordings: Recordings;
  readonly results: Results;
  readonly work: number;
}

export class GpuProgram implements Program {
  readonly #host: GpuHost;
  readonly #device: GPUDevice;
  readonly #commands: Commands;
  readonly #maxWorkgroups: number;
  readonly #kernels: readonly GpuKernel[];
  readonly #groups = new Map<string, GPUBindGroup>();
  /** By layout. */
  readonly #prepared = new Map<string, Prepared>();
  /** Where flags are read. */
  #flag: GpuBuffer | undefined;
  #destroyed = false;

  constructor(host: GpuHost, kernels: readonly GpuKernel[]) {
    this.#host = host;
    this.#device = host.device;
    this.#commands = host.commands;
    this.#maxWorkgroups = host.device.limits.maxComputeWorkgroupsPerDimension;
    this.#kernels = kernels;
  }

  /**
   * Where a flag decides what comes next, the run goes on when it has been read back; a long loop,
   * when a part of it is done.
   */
  run(frame: Frame, options?: RunOptions): void | Promise<void> {
    if (this.#destroyed) throw new DeviceError("run: the executable was disposed of");
    const prepared = this.#preparedFor(frame.layout);
    // Trips are counted by the walk alone.
    const walked = frame.layout.flow && options?.maxTrips !== undefined;
    const known = walked ? undefined : prepared.recordings.of(frame);
    if (known) return this.#submit(known, frame, prepared.work, true);
    const standIns = prepared.results.standInsFor(frame);
    if (standIns) return this.#runCopied(prepared, standIns, frame);
    const part = this.#part(frame, new Orders(frame.layout, options));
    if (!part.last) return this.#goOn(frame, part);
    prepared.recordings.keep(frame, part.launches);
    this.#submit(part.launches, frame, prepared.work, false);
  }

  #runCopied({ recordings, work }: Prepared, standIns: StandIns, frame: Frame): void {
    const inner = standIns.frameOf(frame);
    const known = recordings.of(inner);
    const launches = known ?? this.#part(inner, new Orders(frame.layout)).launches;
    if (!known) recordings.keep(inner, launches);
    this.#commands.encode(launches);
    standIns.copy(this.#commands, frame);
    this.#submit([], frame, work, known !== undefined);
  }

  async profile(frame: Frame): Promise<KernelTiming[]> {
    const orders = new Orders(frame.layout);
    const time = this.#device.features.has("timestamp-query") ? timeByQueries : timeBySubmits;
    const timings = new Map<Launch, KernelTiming>();
    this.#commands.flush();
    for (;;) {
      const { launches, flag, last } = this.#part(frame, orders);
      const timed = await this.#unlessLost(time(this.#device, launches));
      for (const [i, t] of timed.entries()) {
        const { launch } = launches[i]!;
        timings.set(launch, { ...t, ms: t.ms + (timings.get(launch)?.ms ?? 0) });
      }
      if (last) break;
      if (flag) orders.answer(await this.#read(frame, flag));
    }
    this.#submit([], frame, 0, false);
    return frame.layout.launches.flatMap((launch) => timings.get(launch) ?? []);
  }

  /** Runs that were called before still come. */
  destroy(): void {
    this.#host.follow(() => {
      this.#destroyed = true;
      this.#commands.flush();
      for (const prepared of this.#prepared.values()) discard(prepared);
      this.#prepared.clear();
      this.#groups.clear();
      this.#flag?.gpu.destroy();
    });
  }

  async #goOn(frame: Frame, first: Part): Promise<void> {
    const { orders } = first;
    let part = first;
    for (; !part.last; part = this.#part(frame, orders)) {
      this.#commands.encode(part.launches);
      if (part.flag) orders.answer(await this.#read(frame, part.flag));
      else await this.#finished();
      await orders.pause();
    }
    this.#submit(part.launches, frame, 0, false);
  }

  /** Submits what is encoded, and waits for its end. */
  async #finished(): Promise<void> {
    this.#commands.flush();
    await this.#unlessLost(this.#device.queue.onSubmittedWorkDone());
    const why = this.#host.failure();
    if (why !== null) throw new DeviceError(`run: ${why}${reopen}`);
  }

  async #unlessLost<T>(waiting: Promise<T>): Promise<T> {
    try {
      return await waiting;
    } catch (cause) {
      const gone = this.#host.failure();
      const why = gone === null ? `${(cause as Error).message}${again}` : `${gone}${reopen}`;
      throw new DeviceError(`run: ${why}`, { cause });
    }
  }

  /** Submits what is encoded, and reads a flag after it. */
  async #read(frame: Frame, flag: Place): Promise<boolean> {
    this.#flag ??= createGpuBuffer(this.#device, 4, usage.mapRead | usage.copyTo);
    const { gpu } = this.#flag;
    this.#commands.copy(bufferAt(frame, flag) as GpuBuffer, this.#flag, 4);
    this.#commands.flush();
    await this.#unlessLost(gpu.mapAsync(usage.mapModeRead, 0, 4));
    const [value] = new Uint32Array(gpu.getMappedRange(0, 4));
    gpu.unmap();
    return value !== 0;
  }

  /** The launches and copies that end a run. */
  #submit(launches: readonly BoundLaunch[], frame: Frame, work: number, steady: boolean): void {
    this.#commands.encode(launches);
    for (const { from, to, bytes } of frame.layout.copies) {
      if (bytes === 0) continue;
      const [source, target] = [bufferAt(frame, from), bufferAt(frame, to)];
      this.#commands.copy(source as GpuBuffer, target as GpuBuffer, wholeWords(bytes));
    }
    this.#commands.endRun(work, steady);
  }

  /**
   * What comes before a flag or the end, if it is not too much at once. Launches of no workgroups
   * are left out: their outputs have no elements.
   */
  #part(frame: Frame, orders: Orders): Part {
    const { uniforms } = this.#preparedFor(frame.layout);
    const launches: BoundLaunch[] = [];
    for (;;) {
      const next = launches.length < launchesAhead ? orders.next() : null;
      if (typeof next !== "number")
        return { launches, orders, flag: next ?? undefined, last: next === undefined };
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
    const max = this.#maxWorkgroups;
    if (workgroups.some((n) => n > max))
      throw new DeviceError(
        `run: kernel ${name} needs [${workgroups}] workgroups, the device takes ${max} a dimension\n  make the batch or that axis smaller`,
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

  #preparedFor(layout: Layout): Prepared {
    const { key, launches } = layout;
    const known = this.#prepared.get(key);
    if (known) return known;
    if (this.#prepared.size >= keptLayouts) {
      const oldest = firstKey(this.#prepared);
      this.#commands.flush();
      discard(this.#prepared.get(oldest)!);
      this.#prepared.delete(oldest);
    }
    const results = new Results(this.#device, layout);
    const made: Prepared = {
      uniforms: new Uniforms(this.#device),
      recordings: new Recordings(results.bound),
      results,
      work: launches.reduce((sum, launch) => sum + workOf(launch), 0),
    };
    this.#prepared.set(key, made);
    return made;
  }
}

function discard({ uniforms, results }: Prepared): void {
  uniforms.destroy();
  results.destroy();
}

const firstKey = (map: ReadonlyMap<string, unknown>) => map.keys().next().value as string;

/** Launches up to a flag, to the end, or as many as may be ahead of the device. */
interface Part {
  readonly launches: readonly BoundLaunch[];
  readonly orders: Orders;
  readonly flag: Place | undefined;
  readonly last: boolean;
}

/** The launches of a layout in their order. */
class Orders {
  readonly #walk: Walk | undefined;
  readonly #count: number;
  #next = 0;

  constructor({ flow, launches }: Layout, options?: RunOptions) {
    this.#walk = flow?.walk(options);
    this.#count = launches.length;
  }

  next(): Next | undefined {
    if (this.#walk) return this.#walk.next();
    return this.#next < this.#count ? this.#next++ : undefined;
  }

  answer(flag: boolean): void {
    this.#walk!.answer(flag);
  }

  /** Lets others have their turn, if it is time. Rejects if the run is to end. */
  async pause(): Promise<void> {
    if (this.#walk?.due) await this.#walk.pause();
    this.#walk?.check();
  }

  dims({ dims, counted }: Launch): readonly number[] {
    if (counted.length === 0) return dims;
    const values = [...dims];
    for (const { at, loop } of counted) values[at] = this.#walk!.counts[loop]!;
    return values;
  }
}
