/**
 * A WebGPU device for tests that finds a kernel which writes beyond a tensor, though inside of its buffer: buffers are longer than
 * what is asked for, all of them holds a pattern when they are handed out, and what is behind a tensor must hold it after each
 * run. What lies wholly outside of a binding WebGPU drops or moves to its end, where it is found too. Reading throws what was
 * found. A kernel that reads what nobody wrote computes with the pattern.
 */
import type { Artifact } from "@kiln-ml/artifact";
import type { Device, Program } from "../../runtime/src/device.ts";
import {
  createGpuBuffer,
  type GpuBuffer,
  usage,
  wholeWords,
} from "../../runtime/src/devices/gpu-buffer.ts";
import { WebGpuDriver } from "../../runtime/src/devices/webgpu.ts";
import { openAdapter } from "../../runtime/src/devices/webgpu-adapter.ts";
import type { Buffer as DeviceBuffer } from "../../runtime/src/heap.ts";
import { bufferAt, type Frame } from "../../runtime/src/layout.ts";
import { heldGpu } from "./webgpu.ts";

/** A tile of 64 columns of 16 bytes. */
const guardBytes = 1024;
/** Of longer gaps only both ends are looked at. */
const longGap = 4 * guardBytes;

// A NaN as f32, as f16 and as bf16, far out of range as an index; no byte like its neighbour's.
const pattern = Buffer.alloc(2 ** 20, Uint8Array.of(0xa5, 0xff, 0xc3, 0xff));

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The parts of a buffer behind a tensor that are looked at. */
function guards(tensorBytes: number, bufferBytes: number): Range[] {
  const from = wholeWords(tensorBytes);
  if (bufferBytes - from <= longGap) return [{ from, to: bufferBytes }];
  return [
    { from, to: from + guardBytes },
    { from: bufferBytes - guardBytes, to: bufferBytes },
  ];
}

interface Looked extends Range {
  readonly buffer: DeviceBuffer;
}

class GuardedGpuDriver extends WebGpuDriver {
  readonly #tensors = new Map<DeviceBuffer, { readonly bytes: number; readonly what: string }>();
  readonly #looking = new Set<Promise<void>>();
  #found: string | undefined;

  override allocate(sizeBytes: number, owner: string, tensor: string): DeviceBuffer {
    const buffer = super.allocate(sizeBytes + guardBytes, owner, tensor);
    this.#tensors.set(buffer, { bytes: sizeBytes, what: tensor.replace(/^run: output /, "") });
    if (this.failure() !== null) return buffer;
    // What is encoded may use what the buffer was.
    this.commands.flush();
    for (let at = 0; at < buffer.sizeBytes; at += pattern.length) {
      const length = Math.min(pattern.length, buffer.sizeBytes - at);
      this.device.queue.writeBuffer((buffer as GpuBuffer).gpu, at, pattern, 0, length);
    }
    return buffer;
  }

  override release(buffer: DeviceBuffer): void {
    this.#tensors.delete(buffer);
    super.release(buffer);
  }

  override async read(buffer: DeviceBuffer, sizeBytes: number): Promise<ArrayBuffer> {
    const result = await super.read(buffer, sizeBytes);
    await Promise.all(this.#looking);
    const found = this.#found;
    this.#found = undefined;
    if (found !== undefined) throw new Error(found);
    return result;
  }

  override async load(artifact: Artifact): Promise<Program> {
    const inner = await super.load(artifact);
    const check = (frame: Frame): void => this.#check(artifact, frame);
    return {
      run(frame, options) {
        const running = inner.run(frame, options);
        return running ? running.then(() => check(frame)) : check(frame);
      },
      async profile(frame) {
        const timings = await inner.profile(frame);
        check(frame);
        return timings;
      },
      destroy: () => inner.destroy(),
    };
  }

  /** Copies what must be whole, in the order of the queue, and looks at it when it has come. */
  #check(artifact: Artifact, frame: Frame): void {
    if (this.failure() !== null) return;
    const { slot, input, output, state, constant } = frame;
    const buffers = [...new Set([slot, input, output, state, constant].flat())];
    const looked = buffers.flatMap((buffer): Looked[] => {
      const tensor = this.#tensors.get(buffer);
      return tensor ? guards(tensor.bytes, buffer.sizeBytes).map((r) => ({ ...r, buffer })) : [];
    });
    const sizeBytes = looked.reduce((n, { from, to }) => n + to - from, 0);
    if (sizeBytes === 0) return;
    this.commands.flush();
    const copied = createGpuBuffer(this.device, sizeBytes, usage.mapRead | usage.copyTo);
    const encoder = this.device.createCommandEncoder();
    let at = 0;
    for (const { buffer, from, to } of looked) {
      encoder.copyBufferToBuffer((buffer as GpuBuffer).gpu, from, copied.gpu, at, to - from);
      at += to - from;
    }
    this.device.queue.submit([encoder.finish()]);
    // What it says of buffers is read now: they may be somebody else's by then.
    const names = new Map(buffers.map((b) => [b, this.#tensors.get(b)] as const));
    const tell = (where: Looked): string => {
      const { bytes, what } = names.get(where.buffer)!;
      const kernels = writersOf(artifact, frame, where.buffer);
      return `a run of ${artifact.name} wrote ${where.from - bytes} bytes behind ${what}, which has ${bytes} (kernel ${kernels.join(" or ")})`;
    };
    const looking = this.#look(copied, looked, tell).catch(() => {
      // The device is gone; whoever waits for it learns of that.
    });
    this.#looking.add(looking);
    looking.finally(() => this.#looking.delete(looking));
  }

  async #look(copied: GpuBuffer, looked: readonly Looked[], tell: (where: Looked) => string) {
    await copied.gpu.mapAsync(usage.mapModeRead);
    const bytes = Buffer.from(copied.gpu.getMappedRange());
    let at = 0;
    for (const where of looked) {
      const length = where.to - where.from;
      const first = firstBroken(bytes.subarray(at, at + length), where.from);
      if (first !== undefined) this.#found ??= tell({ ...where, from: first });
      at += length;
    }
    copied.gpu.destroy();
  }
}

/** The first byte that is not the pattern's, of bytes that begin at `from` of a buffer. */
function firstBroken(bytes: Buffer, from: number): number | undefined {
  const want = pattern.subarray(from % 4, (from % 4) + bytes.length);
  if (bytes.equals(want)) return undefined;
  return from + bytes.findIndex((byte, i) => byte !== want[i]);
}

function writersOf(artifact: Artifact, frame: Frame, buffer: DeviceBuffer): string[] {
  const writers = artifact.plan.steps.flatMap(({ kernel, args }) => {
    const { name, bindings } = artifact.kernels[kernel]!;
    const writes = args.some(
      (place, i) => bindings[i]!.access !== "read" && bufferAt(frame, place) === buffer,
    );
    return writes ? [name] : [];
  });
  return [...new Set(writers)];
}

/** A software WebGPU device on guarded, poisoned memory. */
export const guardedGpuDevice = async (): Promise<Device> =>
  openAdapter({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true }, GuardedGpuDriver);
