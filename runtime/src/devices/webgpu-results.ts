/**
 * Small results of runs whose callers keep them. Each is a buffer of its own, for which kernels
 * would have to be bound anew at every run; instead they write to a buffer that stays, from which
 * the result is copied. Not for results that are large or that only plan copies write.
 */
import type { Frame, Layout } from "../layout.ts";
import { createGpuBuffer, type GpuBuffer, usage, wholeWords } from "./gpu-buffer.ts";
import type { Commands } from "./webgpu-commands.ts";

/** Copying so much takes the device no longer than beginning to. */
const smallBytes = 2 ** 16;

/**
 * Callers that free their results are given the same buffers again within so many runs, for which
 * kernels are bound once.
 */
const recentBuffers = 32;
/** Runs before anything is known of a caller. */
const firstRuns = 2;

/** The results of a layout that kernels are bound to. */
export class Results {
  readonly bound: readonly number[];
  readonly #device: GPUDevice;
  readonly #layout: Layout;
  readonly #recent = new Set<number>();
  #runs = 0;
  /** Undefined before it is known, null where there can be none. */
  #standIns: StandIns | null | undefined;

  constructor(device: GPUDevice, layout: Layout) {
    this.#device = device;
    this.#layout = layout;
    this.bound = boundResults(layout);
  }

  /**
   * What stands in for the results of a run that was not bound before; undefined where it is better
   * bound to them.
   */
  standInsFor({ output }: Frame): StandIns | undefined {
    if (this.#standIns === null || this.bound.length === 0) return undefined;
    const { id } = output[this.bound[0]!]!;
    const back = this.#recent.delete(id);
    this.#recent.add(id);
    if (this.#recent.size > recentBuffers) this.#recent.delete(this.#recent.values().next().value!);
    this.#runs += 1;
    if (back || this.#runs <= firstRuns) return undefined;
    this.#standIns ??= standInsOf(this.#device, this.#layout, this.bound);
    return this.#standIns ?? undefined;
  }

  destroy(): void {
    this.#standIns?.destroy();
  }
}

function boundResults({ launches }: Layout): number[] {
  const bound = new Set<number>();
  for (const { args } of launches)
    for (const place of args) if (place.in === "output") bound.add(place.index);
  return [...bound];
}

/** Null where some result is too large to be copied, or flags decide what is run. */
function standInsOf(
  device: GPUDevice,
  { outputs, flow }: Layout,
  bound: readonly number[],
): StandIns | null {
  if (flow || bound.some((i) => outputs[i]!.bytes > smallBytes)) return null;
  const bits = usage.storage | usage.copyFrom;
  const made = bound.map((index): StandIn => {
    const sizeBytes = wholeWords(outputs[index]!.bytes);
    return { index, sizeBytes, buffer: createGpuBuffer(device, Math.max(16, sizeBytes), bits) };
  });
  return new StandIns(made);
}

interface StandIn {
  readonly index: number;
  readonly buffer: GpuBuffer;
  readonly sizeBytes: number;
}

export class StandIns {
  readonly #standIns: readonly StandIn[];

  constructor(standIns: readonly StandIn[]) {
    this.#standIns = standIns;
  }

  /** The frame that kernels are bound to. */
  frameOf(frame: Frame): Frame {
    const output = [...frame.output];
    for (const { index, buffer } of this.#standIns) output[index] = buffer;
    return { ...frame, output };
  }

  copy(commands: Commands, { output }: Frame): void {
    for (const { index, buffer, sizeBytes } of this.#standIns)
      if (sizeBytes > 0) commands.copy(buffer, output[index] as GpuBuffer, sizeBytes);
  }

  destroy(): void {
    for (const { buffer } of this.#standIns) buffer.gpu.destroy();
  }
}
