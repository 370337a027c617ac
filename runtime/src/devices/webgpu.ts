/**
 * WebGPU: memory is storage buffers from a pool, transfers go through the queue, and a program is submitted once
 * a run. Errors that WebGPU reports late are thrown by the next call.
 */
import { type Artifact, DeviceError } from "@kiln-ml/artifact";
import type { AdapterInfo, Driver, LossInfo, Program } from "../device.ts";
import { type Buffer, Heap, type MemoryReport } from "../heap.ts";
import type { TypedArray } from "../host-array.ts";
import { firstLine } from "./first-line.ts";
import { createGpuBuffer, type GpuBuffer, usage, wholeWords } from "./gpu-buffer.ts";
import { Pressure } from "./pressure.ts";
import { Staging } from "./staging.ts";
import { Turns } from "./turns.ts";
import { loadGpuProgram } from "./webgpu-load.ts";

const storageUsage = usage.storage | usage.copyFrom | usage.copyTo;

export class WebGpuDriver implements Driver {
  readonly kind = "webgpu";
  readonly target = "webgpu";
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  readonly lost: Promise<LossInfo>;
  readonly name: string;
  readonly adapter: AdapterInfo;
  readonly device: GPUDevice;
  readonly #heap: Heap<GpuBuffer>;
  readonly #staging: Staging;
  readonly #pressure = new Pressure(256 * 2 ** 20);
  readonly #turns: Turns;
  /** Buffers whose memory was not to be had; known only after they were handed out, so never pooled. */
  readonly #broken = new WeakSet<Buffer>();
  #failure: string | null = null;
  #fault: string | null = null;

  constructor(device: GPUDevice, name: string, runsInFlight: number) {
    this.device = device;
    this.name = name;
    const { vendor = "", architecture = "", description = "" } = device.adapterInfo ?? {};
    this.adapter = { vendor, architecture, description };
    this.limits = readLimits(device);
    this.features = device.features as ReadonlySet<string>;
    const maxBytes = Math.min(
      device.limits.maxStorageBufferBindingSize,
      device.limits.maxBufferSize,
    );
    this.#heap = new Heap(
      (bytes) => this.#create(bytes),
      (buffer) => buffer.gpu.destroy(),
      maxBytes,
    );
    this.#staging = new Staging(device);
    this.#turns = new Turns({
      max: runsInFlight,
      finished: () => device.queue.onSubmittedWorkDone(),
      pause: () => this.#pressure.relieve(() => this.#heap.live),
    });
    this.lost = device.lost.then(({ reason, message }) => {
      this.#failure ??= `the device is lost: ${message || reason}`;
      return { reason: reason === "destroyed" ? "destroyed" : "unknown", message };
    });
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault(); // It is thrown, so it need not be printed too.
      this.#report(firstLine(event.error.message));
    });
  }

  failure(): string | null {
    return this.#failure;
  }

  takeFault(): string | null {
    const fault = this.#fault;
    this.#fault = null;
    return fault;
  }

  allocate(sizeBytes: number, owner: string, tensor: string): Buffer {
    for (const limit of ["maxStorageBufferBindingSize", "maxBufferSize"] as const)
      if (sizeBytes > this.device.limits[limit])
        throw new DeviceError(
          `${tensor}: ${sizeBytes} bytes exceed the device's ${limit} of ${this.device.limits[limit]}`,
        );
    return this.#heap.acquire(sizeBytes, owner);
  }

  release(buffer: Buffer): void {
    this.#heap.release(buffer as GpuBuffer, !this.#broken.has(buffer));
  }

  borrow(): null {
    return null;
  }

  write(buffer: Buffer, data: TypedArray): void {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const whole = new Uint8Array(bytes.length % 4 ? wholeWords(bytes.length) : 0);
    if (whole.length > 0) whole.set(bytes);
    const source = whole.length > 0 ? whole : (bytes as Uint8Array<ArrayBuffer>);
    this.device.queue.writeBuffer((buffer as GpuBuffer).gpu, 0, source);
  }

  copy(from: Buffer, to: Buffer, sizeBytes: number): void {
    const encoder = this.device.createCommandEncoder();
    const [source, target] = [from as GpuBuffer, to as GpuBuffer];
    encoder.copyBufferToBuffer(source.gpu, 0, target.gpu, 0, wholeWords(sizeBytes));
    this.device.queue.submit([encoder.finish()]);
  }

  async read(buffer: Buffer, sizeBytes: number): Promise<ArrayBuffer> {
    try {
      const bytes = await this.#staging.read(buffer, wholeWords(sizeBytes));
      const fault = this.takeFault();
      if (fault !== null) throw new DeviceError(`data: ${fault}`);
      return bytes;
    } catch (cause) {
      if (cause instanceof DeviceError) throw cause;
      const why = this.#failure ?? (cause as Error).message;
      throw new DeviceError(`data: ${why}`, { cause });
    }
  }

  peek(): null {
    return null;
  }

  load(artifact: Artifact): Promise<Program> {
    return loadGpuProgram(this.device, artifact);
  }

  take<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  memory(): MemoryReport {
    const report = this.#heap.report();
    const staging = this.#staging.heldBytes;
    return staging === 0 ? report : { ...report, byOwner: { ...report.byOwner, staging } };
  }

  destroy(): void {
    if (this.#failure !== null) return;
    this.#failure = "the device was destroyed";
    this.#heap.clear();
    this.#staging.clear();
    this.device.destroy();
  }

  #create(sizeBytes: number): GpuBuffer {
    this.device.pushErrorScope("out-of-memory");
    const buffer = createGpuBuffer(this.device, sizeBytes, storageUsage);
    this.device.popErrorScope().then(
      (error) => {
        if (!error) return;
        this.#broken.add(buffer);
        this.#heap.drain(); // So that trying again has a chance.
        this.#report(`${sizeBytes} bytes are not to be had`);
      },
      () => {}, // The device is lost, which has its own report.
    );
    return buffer;
  }

  /** The first fault since the last report is the cause; those after it follow from it. */
  #report(message: string): void {
    this.#fault ??= message;
  }
}

function readLimits(device: GPUDevice): Record<string, number> {
  const all = device.limits as unknown as Record<string, unknown>;
  const limits: Record<string, number> = {};
  // Getters of the prototype: only for-in sees them.
  for (const name in all) if (typeof all[name] === "number") limits[name] = all[name];
  return limits;
}
