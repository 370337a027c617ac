/**
 * The CPU: memory is ArrayBuffers, kernels are JavaScript functions `kernel(...arrays, ...dims)`
 * called in plan order on the caller's thread. A run is finished when `run` returns.
 */
import {
  type Artifact,
  ArtifactError,
  checkOptions,
  DeviceError,
  type OptionNames,
} from "@kiln-ml/artifact";
import {
  Device,
  type Driver,
  type KernelModule,
  type KernelTiming,
  type LossInfo,
  type Program,
  type RunOptions,
  reopen,
} from "../device.ts";
import type { Walk } from "../flow.ts";
import { type Buffer, Heap } from "../heap.ts";
import { type Dtype, hostArrayOf, type TypedArray } from "../host-array.ts";
import { bufferAt, type Frame, type Launch } from "../layout.ts";
import { Pressure, taskPauses } from "./pressure.ts";
import { RunQueue, takeNow } from "./run-queue.ts";

type Launcher = (launch: Launch, counts: readonly number[]) => void;
type KernelFunction = (...args: (TypedArray | number)[]) => void;

let nextId = 0;

/** Bytes that are copied at a time. */
const mostBytes = 2 ** 30;

class CpuBuffer implements Buffer {
  readonly id = nextId++;
  readonly sizeBytes: number;
  readonly #memory: ArrayBufferLike;
  readonly #offset: number;
  readonly #views = new Map<string, TypedArray>();
  /** The view of all of it that was asked for last, mostly the only one. */
  #last: TypedArray | undefined;

  constructor(memory: ArrayBufferLike, offset = 0, sizeBytes = memory.byteLength) {
    this.#memory = memory;
    this.#offset = offset;
    this.sizeBytes = sizeBytes;
  }

  /** A copy of the first bytes. Throws DeviceError if there is no room for one. */
  copyOf(sizeBytes: number): ArrayBuffer {
    try {
      return this.#memory.slice(this.#offset, this.#offset + sizeBytes) as ArrayBuffer;
    } catch (cause) {
      throw new DeviceError(
        `data: ${sizeBytes} bytes are not to be had\n  dispose of arrays that are done with, or make the batch smaller`,
        { cause },
      );
    }
  }

  /**
   * The first bytes become those of another memory, part by part: an array of bytes has no more
   * than 4 GiB.
   */
  put(from: ArrayBufferLike, offset: number, sizeBytes: number): void {
    this.#parts(sizeBytes, (to, at) => to.set(new Uint8Array(from, offset + at, to.length)));
  }

  copyTo(other: CpuBuffer, sizeBytes: number): void {
    other.put(this.#memory, this.#offset, sizeBytes);
  }

  fill(byte: number): void {
    this.#parts(this.sizeBytes, (part) => part.fill(byte));
  }

  #parts(sizeBytes: number, visit: (part: Uint8Array, at: number) => void): void {
    for (let at = 0; at < sizeBytes; at += mostBytes) {
      const length = Math.min(mostBytes, sizeBytes - at);
      visit(new Uint8Array(this.#memory, this.#offset + at, length), at);
    }
  }

  /** All of the memory, or what follows the byte `start`, as the typed array of `dtype`. */
  view(dtype: Dtype, start = 0): TypedArray {
    const Host = hostArrayOf(dtype);
    if (start === 0 && this.#last instanceof Host) return this.#last;
    const key = start === 0 ? Host.name : `${Host.name} ${start}`;
    let view = this.#views.get(key);
    if (!view) {
      // Of no bytes there is one place, wherever a kernel that has nothing to do begins.
      const from = this.sizeBytes === 0 ? 0 : start;
      const length = Math.floor((this.sizeBytes - from) / Host.BYTES_PER_ELEMENT);
      if (length < 0)
        throw new ArtifactError(`run: a kernel begins at byte ${start} of ${this.sizeBytes}`);
      view = new Host(this.#memory, this.#offset + from, length);
      this.#views.set(key, view);
    }
    if (start === 0) this.#last = view;
    return view;
  }
}

class CpuDriver implements Driver {
  readonly kind = "cpu";
  readonly target = "js";
  readonly name = "cpu";
  readonly limits = {};
  readonly features: ReadonlySet<string> = new Set<string>();
  readonly lost: Promise<LossInfo>;
  readonly #heap = new Heap<CpuBuffer>(
    (bytes) => new CpuBuffer(new ArrayBuffer(bytes)),
    () => {},
    Number.MAX_SAFE_INTEGER,
  );
  readonly #pressure = new Pressure(64 * 2 ** 20);
  readonly #taskPause = taskPauses();
  readonly #runQueue = new RunQueue({
    room: () => true,
    pause: () => this.#pressure.relieve(() => this.#heap.live) ?? this.#taskPause(),
  });
  readonly #poison: boolean;
  #lose!: (info: LossInfo) => void;
  #destroyed = false;

  constructor({ poison = false }: CpuOptions) {
    this.#poison = poison;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  failure(): string | null {
    return this.#destroyed ? "the device was destroyed" : null;
  }

  takeFault(): null {
    return null;
  }

  allocate(sizeBytes: number, owner: string, tensor: string): Buffer {
    try {
      const buffer = this.#heap.acquire(sizeBytes, owner);
      if (this.#poison) buffer.fill(0xff);
      return buffer;
    } catch (cause) {
      throw new DeviceError(
        `${tensor}: ${sizeBytes} bytes are not to be had\n  dispose of arrays that are done with, or make the batch smaller`,
        { cause },
      );
    }
  }

  release(buffer: Buffer): void {
    this.#heap.release(buffer as CpuBuffer);
  }

  borrow(array: TypedArray): Buffer {
    return new CpuBuffer(array.buffer, array.byteOffset, array.byteLength);
  }

  /**
   * At once within a run's turn and when nothing runs, else in its turn, as the runs before it must
   * not see it.
   */
  write(buffer: Buffer, data: TypedArray): void | Promise<void> {
    if (this.#runQueue.inTurn || this.#runQueue.idle) {
      (buffer as CpuBuffer).put(data.buffer, data.byteOffset, data.byteLength);
      return;
    }
    const copy = data.slice();
    return this.#runQueue.follow(() =>
      (buffer as CpuBuffer).put(copy.buffer, copy.byteOffset, copy.byteLength),
    );
  }

  copy(from: Buffer, to: Buffer, sizeBytes: number): void {
    (from as CpuBuffer).copyTo(to as CpuBuffer, sizeBytes);
  }

  async read(buffer: Buffer, sizeBytes: number): Promise<ArrayBuffer> {
    return this.#runQueue.follow(() => {
      if (this.#destroyed) throw new DeviceError(`data: ${this.failure()}${reopen}`);
      return (buffer as CpuBuffer).copyOf(sizeBytes);
    });
  }

  peek(buffer: Buffer, sizeBytes: number): ArrayBuffer | null {
    return this.#runQueue.idle ? (buffer as CpuBuffer).copyOf(sizeBytes) : null;
  }

  async load(artifact: Artifact, kernels: KernelModule | undefined): Promise<Program> {
    return new CpuProgram(this, artifact, kernels);
  }

  loadNow(artifact: Artifact, kernels: KernelModule | undefined): Program {
    return new CpuProgram(this, artifact, kernels);
  }

  take<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.#runQueue.take(work);
  }

  takeNow<T>(work: () => T): T {
    return takeNow(this.#runQueue, work);
  }

  memory() {
    return this.#heap.report();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#heap.clear();
    this.#lose({ reason: "destroyed", message: "destroy was called" });
  }
}

class CpuProgram implements Program {
  readonly #driver: CpuDriver;
  readonly #names: readonly string[];
  readonly #functions: readonly KernelFunction[];
  readonly #dtypes: readonly (readonly Dtype[])[];

  constructor(driver: CpuDriver, artifact: Artifact, kernels: KernelModule | undefined) {
    this.#driver = driver;
    this.#names = artifact.kernels.map((k) => k.name);
    this.#dtypes = artifact.kernels.map((k) => k.bindings.map((b) => b.dtype));
    this.#functions = artifact.kernels.map((k) =>
      kernels ? kernelFrom(kernels, k.name) : buildKernel(k.name, k.text),
    );
  }

  run(frame: Frame, options?: RunOptions): void | Promise<void> {
    const launch = (l: Launch, counts: readonly number[]) => this.#launch(frame, l, counts);
    const running = this.#walk(frame, launch, options);
    if (running) return running.then(() => this.#copy(frame));
    this.#copy(frame);
  }

  async profile(frame: Frame): Promise<KernelTiming[]> {
    const ms = new Map<Launch, number>();
    await this.#walk(frame, (launch, counts) => {
      const start = performance.now();
      this.#launch(frame, launch, counts);
      ms.set(launch, (ms.get(launch) ?? 0) + performance.now() - start);
    });
    const timings = frame.layout.launches.map((launch): KernelTiming => {
      const { kernel, bytes, flops } = launch;
      return { name: this.#names[kernel]!, ms: ms.get(launch) ?? 0, bytes, flops, timing: "clock" };
    });
    this.#copy(frame);
    return timings;
  }

  destroy(): void {}

  #copy(frame: Frame): void {
    for (const { from, to, bytes } of frame.layout.copies)
      this.#driver.copy(bufferAt(frame, from), bufferAt(frame, to), bytes);
  }

  /**
   * Every launch in its turn, with the trips of the loops around it; a promise where loops take
   * long.
   */
  #walk(frame: Frame, launch: Launcher, options?: RunOptions): void | Promise<void> {
    const { flow, launches } = frame.layout;
    if (!flow) {
      for (const l of launches) launch(l, []);
      return;
    }
    const walk = flow.walk(options);
    // A slice of it; true at the end.
    const goOn = (): boolean => {
      for (let next = walk.next(); next !== undefined; next = walk.next()) {
        if (typeof next === "number") launch(launches[next]!, walk.counts);
        else if (next) walk.answer((bufferAt(frame, next) as CpuBuffer).view("u8")[0]! > 0);
        if (walk.due) return false;
      }
      return true;
    };
    if (!goOn()) return this.#goOnLater(walk, goOn);
  }

  async #goOnLater(walk: Walk, goOn: () => boolean): Promise<void> {
    do {
      await walk.pause();
      const why = this.#driver.failure();
      if (why !== null) throw new DeviceError(`run: ${why}${reopen}`);
    } while (!goOn());
  }

  #launch(
    frame: Frame,
    { kernel, args, starts, dims, counted }: Launch,
    counts: readonly number[],
  ): void {
    const dtypes = this.#dtypes[kernel]!;
    const values: (TypedArray | number)[] = [];
    for (let i = 0; i < args.length; i++) {
      const buffer = bufferAt(frame, args[i]!) as CpuBuffer;
      values.push(buffer.view(dtypes[i]!, starts?.[i]));
    }
    for (const dim of dims) values.push(dim);
    for (const { at, loop } of counted) values[args.length + at] = counts[loop]!;
    this.#functions[kernel]!(...values);
  }
}

function kernelFrom(kernels: KernelModule, name: string): KernelFunction {
  const found = Object.hasOwn(kernels, name) ? kernels[name] : undefined;
  if (typeof found !== "function")
    throw new ArtifactError(
      `load: the kernel module exports no function ${name}\n  pass the kernels.js that lies beside this manifest`,
    );
  return found as KernelFunction;
}

/**
 * Each kernel in a function of its own, so that texts may repeat the names of what they declare.
 */
function buildKernel(name: string, text: string): KernelFunction {
  try {
    return new Function(`"use strict";\n${text}\nreturn ${name};`)() as KernelFunction;
  } catch (cause) {
    if (!(cause instanceof EvalError))
      throw new ArtifactError(
        `load: kernel ${name} does not parse: ${(cause as Error).message}\n  compile it again, or copy it again: the file is damaged`,
        {
          cause,
        },
      );
    throw new DeviceError(
      "load: this page forbids building functions from text\n  pass { kernels: await import(…) } with the artifact's kernels.js",
      { cause },
    );
  }
}

export interface CpuOptions {
  /**
   * Fill memory with 0xff (NaN, −1) before each use, to find kernels that read what nothing wrote.
   */
  readonly poison?: boolean;
}

const cpuOptions: OptionNames<CpuOptions> = { poison: 1 };

/** A device that runs `js` artifacts on the calling thread. */
export function createCpuDevice(options: CpuOptions = {}): Device {
  return new Device(new CpuDriver(checkOptions("createCpuDevice", options, cpuOptions)));
}
