/**
 * WebGPU: memory is storage buffers from a pool, transfers go through the queue, and a program is
 * submitted once a run. Errors that WebGPU reports late are thrown by the next call.
 */
import { type Artifact, DeviceError } from "@kiln-ml/artifact";
import { type AdapterInfo, type Driver, type LossInfo, type Program, reopen } from "../device.ts";
import { type Buffer, Heap, type MemoryReport } from "../heap.ts";
import type { TypedArray } from "../host-array.ts";
import { firstLine } from "./first-line.ts";
import { createGpuBuffer, type GpuBuffer, usage, wholeWords } from "./gpu-buffer.ts";
import { Pressure } from "./pressure.ts";
import { RunQueue } from "./run-queue.ts";
import { Staging } from "./staging.ts";
import { Commands } from "./webgpu-commands.ts";
import { loadGpuProgram } from "./webgpu-load.ts";

const sizeLimits = ["maxStorageBufferBindingSize", "maxBufferSize"] as const;
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
  readonly #queue: GPUQueue;
  readonly #heap: Heap<GpuBuffer>;
  readonly #staging: Staging;
  readonly #pressure = new Pressure(256 * 2 ** 20);
  readonly #runQueue: RunQueue;
  readonly commands: Commands;
  /**
   * Buffers whose memory was not to be had; known only after they were handed out, so never pooled.
   */
  readonly #broken = new WeakSet<Buffer>();
  #failure: string | null = null;
  #fault: string | null = null;

  constructor(
    device: GPUDevice,
    name: string,
    features: ReadonlySet<string>,
    runsInFlight: number,
  ) {
    this.device = device;
    this.#queue = device.queue;
    this.name = name;
    const { vendor = "", architecture = "", description = "" } = device.adapterInfo ?? {};
    this.adapter = { vendor, architecture, description };
    this.limits = readLimits(device);
    this.features = features;
    const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
    this.commands = new Commands(device, runsInFlight, () => this.#runQueue.advance());
    this.#heap = new Heap(
      (bytes, use) => this.#create(bytes, storageUsage, use.replace(/^run: /, "")),
      (buffer) => {
        // What is encoded may use it.
        this.commands.flush();
        buffer.gpu.destroy();
      },
      Math.min(maxStorageBufferBindingSize, maxBufferSize),
    );
    const create = (bytes: number) => this.#create(bytes, usage.mapRead | usage.copyTo, "a read");
    this.#staging = new Staging(this.commands, create, maxBufferSize);
    this.#runQueue = new RunQueue({
      room: () => this.commands.room,
      pause: () => this.#pressure.relieve(() => this.#heap.live),
    });
    this.lost = device.lost.then(({ reason, message }) => {
      this.#end(`the device is lost: ${message || reason}`);
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
    for (const limit of sizeLimits)
      if (sizeBytes > this.limits[limit]!)
        throw new DeviceError(
          `${tensor}: ${sizeBytes} bytes exceed the device's ${limit} of ${this.limits[limit]}`,
        );
    return this.#heap.acquire(sizeBytes, owner, tensor);
  }

  release(buffer: Buffer): void {
    this.#heap.release(buffer as GpuBuffer, !this.#broken.has(buffer));
  }

  borrow(): null {
    return null;
  }

  /** At once within a run's turn and where no run waits for its own. */
  write(buffer: Buffer, data: TypedArray): void | Promise<void> {
    if (this.#runQueue.inTurn) {
      this.#write(buffer, data);
      return;
    }
    const held = this.#runQueue.idle ? data : data.slice();
    return this.#runQueue.follow(() => this.#write(buffer, held));
  }

  #write(buffer: Buffer, data: TypedArray): void {
    if (this.#failure !== null) return;
    this.commands.flush();
    this.#queue.writeBuffer(
      (buffer as GpuBuffer).gpu,
      0,
      inWords(data) as GPUAllowSharedBufferSource,
    );
  }

  copy(from: Buffer, to: Buffer, sizeBytes: number): void {
    this.commands.copy(from as GpuBuffer, to as GpuBuffer, wholeWords(sizeBytes));
  }

  async read(buffer: Buffer, sizeBytes: number): Promise<ArrayBuffer> {
    try {
      const { reading } = await this.#runQueue.follow(() => {
        if (this.#failure !== null) throw new DeviceError(`data: ${this.#failure}${reopen}`);
        // In an object, for the turn ends when the read is asked for.
        return { reading: this.#staging.read(buffer, wholeWords(sizeBytes)) };
      });
      const result = await reading;
      const fault = this.takeFault();
      if (fault !== null) throw new DeviceError(`data: ${fault}`);
      return result;
    } catch (cause) {
      if (cause instanceof DeviceError) throw cause;
      const gone = this.#failure === null ? null : `${this.#failure}${reopen}`;
      const why = gone ?? this.takeFault() ?? (cause as Error).message;
      throw new DeviceError(`data: ${why}`, { cause });
    }
  }

  peek(): null {
    return null;
  }

  load(artifact: Artifact): Promise<Program> {
    return loadGpuProgram(this, artifact);
  }

  take<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.#runQueue.take(work);
  }

  follow(work: () => void): void | Promise<void> {
    return this.#runQueue.follow(work);
  }

  memory(): MemoryReport {
    const report = this.#heap.report();
    const staging = this.#staging.heldBytes;
    return staging === 0 ? report : { ...report, byOwner: { ...report.byOwner, staging } };
  }

  destroy(): void {
    this.#end("the device was destroyed");
    this.device.destroy();
  }

  /** Whoever waits for a turn gets it, and learns of the failure. */
  #end(failure: string): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.commands.drop();
    this.#heap.clear();
    this.#staging.clear();
    this.commands.finish(this.commands.expect());
  }

  /** `use` says what the memory is for. */
  #create(sizeBytes: number, bits: number, use: string): GpuBuffer {
    this.device.pushErrorScope("out-of-memory");
    const buffer = createGpuBuffer(this.device, sizeBytes, bits);
    this.device.popErrorScope().then(
      (error) => {
        if (!error) return;
        this.#broken.add(buffer);
        this.#report(
          `${sizeBytes} bytes for ${use} are not to be had, ${this.#heap.live} are live`,
        );
        this.#heap.drain(); // So that trying again has a chance.
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

/** An array with zeros to the end of its last word. */
function inWords(data: TypedArray): TypedArray {
  if (data.byteLength % 4 === 0) return data;
  const whole = new Uint8Array(wholeWords(data.byteLength));
  whole.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return whole;
}

function readLimits(device: GPUDevice): Record<string, number> {
  const all = device.limits as unknown as Record<string, unknown>;
  const limits: Record<string, number> = {};
  // Getters of the prototype: only for-in sees them.
  for (const name in all) if (typeof all[name] === "number") limits[name] = all[name];
  return limits;
}
