/**
 * The CPU through WebAssembly: all buffers are ranges of one linear memory, kernels are functions
 * of an artifact's module, and calls are shared out among threads where there are any. Runs go one
 * after the other.
 */
import { type Artifact, checkOptions, DeviceError, type OptionNames } from "@kiln-ml/artifact";
import { Device, type Driver, type LossInfo, type Program, reopen } from "../device.ts";
import { type Buffer, Heap } from "../heap.ts";
import type { Target, TypedArray } from "../host-array.ts";
import { type LinearBuffer, LinearMemory } from "./linear-memory.ts";
import { Pressure, taskPauses } from "./pressure.ts";
import { RunQueue, takeNow } from "./run-queue.ts";
import type { Stacks } from "./wasm-calls.ts";
import { doPart, KernelTrap, recordWords } from "./wasm-calls.ts";
import { type Executor, instantiate, runHere, Solo } from "./wasm-executor.ts";
import { checkModule, compileModule, compileModuleNow, hasRelaxedSimd } from "./wasm-module.ts";
import type { Pool } from "./wasm-pool.ts";
import { WasmProgram } from "./wasm-program.ts";
import { inNode, maySleep, nodeModule, noThreads, threadsWanted } from "./wasm-threads.ts";

export interface WasmOptions {
  /** Threads that run kernels; "auto", the default, is one a processor, at most 8. */
  readonly threads?: number | "auto";
  /**
   * In a page, the URL of the threads' script, `kiln-ml/wasm-worker`, for a policy without
   * `worker-src blob:`; by default they start from a text.
   */
  readonly threadScript?: string | URL;
  /** Whether kernels use relaxed SIMD; by default where the engine has it. */
  readonly relaxed?: boolean;
  /** The most the memory may grow to; at most, and by default, 4 GiB. */
  readonly maxBytes?: number;
  /**
   * Fill memory with 0xff (NaN, −1) before each use, to find kernels that read what nothing wrote.
   */
  readonly poison?: boolean;
}

let nextId = 0;

export class WasmDriver implements Driver {
  readonly kind = "cpu";
  readonly target: Target = "wasm";
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  readonly lost: Promise<LossInfo>;
  readonly #linear: LinearMemory;
  readonly #heap: Heap<LinearBuffer>;
  readonly #relaxed: boolean;
  readonly #poison: boolean;
  readonly #pressure = new Pressure(64 * 2 ** 20);
  readonly #taskPause = taskPauses();
  readonly #runQueue = new RunQueue({
    room: () => true,
    pause: () => this.#pressure.relieve(() => this.#heap.live) ?? this.#taskPause(),
  });
  /** The workers, once they have started. */
  pool: Pool | null = null;
  readonly #threadScript: string | undefined;
  #threads: number;
  /** Why there are fewer threads than were asked for. */
  #note: string | null;
  #executor: Promise<Executor> | null = null;
  /** Of programs that are run before the call returns. */
  #solo: Solo | null = null;
  #stacks: LinearBuffer | null = null;
  #failure: string | null = null;
  #resolveLost!: (info: LossInfo) => void;

  constructor(
    { threads = "auto", threadScript, relaxed, maxBytes = 2 ** 32, poison = false }: WasmOptions,
    memory = (shared: boolean, bytes: number) => new LinearMemory(shared, bytes),
  ) {
    const wanted = threadsWanted(threads);
    this.#note = wanted > 1 ? noThreads() : null;
    this.#threads = this.#note === null ? wanted : 1;
    this.#threadScript = threadScript?.toString();
    this.#relaxed = relaxed ?? hasRelaxedSimd();
    this.#poison = poison;
    this.#linear = memory(this.#threads > 1, maxBytes);
    this.#heap = new Heap(
      (sizeBytes) => ({ id: nextId++, sizeBytes, address: this.#linear.reserve(sizeBytes) }),
      (buffer) => this.#linear.release(buffer.address, buffer.sizeBytes),
      this.#linear.maxBytes,
    );
    this.limits = { maxBufferSize: this.#linear.maxBytes };
    this.features = new Set(this.#relaxed ? ["relaxed-simd"] : []);
    this.lost = new Promise((resolve) => {
      this.#resolveLost = resolve;
    });
  }

  /**
   * What is used and, if less than was asked for, why; the number of threads is final after the
   * first load.
   */
  get name(): string {
    const threads = `${this.#threads} thread${this.#threads === 1 ? "" : "s"}`;
    const note = this.#note === null ? "" : `: ${this.#note}`;
    return `wasm (${this.#relaxed ? "relaxed simd" : "simd"}, ${threads}${note})`;
  }

  failure(): string | null {
    return this.#failure;
  }

  takeFault(): null {
    return null;
  }

  allocate(sizeBytes: number, owner: string, tensor: string): Buffer {
    try {
      const buffer = this.#heap.acquire(sizeBytes, owner);
      if (this.#poison) this.#bytes(buffer, buffer.sizeBytes).fill(0xff);
      return buffer;
    } catch (cause) {
      throw new DeviceError(
        `${tensor}: ${sizeBytes} bytes are not to be had, ${this.#heap.live} are live: ${(cause as Error).message}\n  dispose of arrays that are done with, or make the batch smaller`,
        { cause },
      );
    }
  }

  release(buffer: Buffer): void {
    this.#heap.release(buffer as LinearBuffer);
  }

  borrow(): null {
    return null;
  }

  /**
   * At once within a run's turn and when nothing runs, else in its turn, as the runs before it must
   * not see it.
   */
  write(buffer: Buffer, data: TypedArray): void | Promise<void> {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const set = (from: Uint8Array) => {
      if (this.#failure === null) this.#bytes(buffer, from.length).set(from);
    };
    if (this.#runQueue.inTurn || this.#runQueue.idle) {
      set(bytes);
      return;
    }
    const copy = bytes.slice();
    return this.#runQueue.follow(() => set(copy));
  }

  copy(from: Buffer, to: Buffer, sizeBytes: number): void {
    this.#bytes(to, sizeBytes).set(this.#bytes(from, sizeBytes));
  }

  byteOf(buffer: Buffer): number {
    return this.#bytes(buffer, 1)[0]!;
  }

  async read(buffer: Buffer, sizeBytes: number): Promise<ArrayBuffer> {
    return this.#runQueue.follow(() => {
      if (this.#failure !== null) throw new DeviceError(`data: ${this.#failure}${reopen}`);
      return this.#copyOf(buffer, sizeBytes);
    });
  }

  peek(buffer: Buffer, sizeBytes: number): ArrayBuffer | null {
    return this.#runQueue.idle ? this.#copyOf(buffer, sizeBytes) : null;
  }

  async load(artifact: Artifact, _?: unknown, compiled?: object): Promise<Program> {
    const { shared } = this.#linear;
    const module = compiled
      ? checkModule(compiled, shared)
      : await compileModule(artifact, this.#relaxed, shared);
    if (this.#failure !== null) throw new DeviceError(`load: ${this.#failure}`);
    this.#executor ??= this.#openExecutor();
    const executor = await this.#executor;
    if (this.#failure !== null) throw new DeviceError(`load: ${this.#failure}`);
    try {
      return await WasmProgram.load(this, executor, artifact, module);
    } catch (cause) {
      if (this.#failure === null) throw cause;
      throw new DeviceError(`load: ${this.#failure}`, { cause });
    }
  }

  /** For the calling thread alone: workers are told of a program later than that. */
  loadNow(artifact: Artifact, _?: unknown, compiled?: object): Program {
    const { shared } = this.#linear;
    const module = compiled
      ? checkModule(compiled, shared)
      : compileModuleNow(artifact, this.#relaxed, shared);
    this.#solo ??= new Solo(this.#linear.memory!);
    return WasmProgram.loadNow(this, this.#solo, artifact, module);
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
    this.#end("the device was destroyed", "destroyed", "destroy was called");
  }

  /** Ends the device; the error to throw. */
  lose(why: string, cause?: unknown): DeviceError {
    this.#end(`the device is lost: ${why}`, "unknown", why);
    return new DeviceError(`run: ${this.#failure}`, { cause });
  }

  /** Private memory for each of `threads`. */
  stacks(sizeBytes: number, threads: number): Stacks {
    if (sizeBytes === 0) return { from: 0, strideBytes: 0 };
    // The odd cache line keeps the threads' stacks from the same cache sets.
    const strideBytes = Math.ceil(sizeBytes / 64) * 64 + 64;
    const total = strideBytes * threads;
    if (!this.#stacks || this.#stacks.sizeBytes < total) {
      if (this.#stacks) this.#heap.release(this.#stacks);
      this.#stacks = null;
      this.#stacks = this.allocate(total, "stacks", "run: private memory") as LinearBuffer;
    } else if (this.#poison) this.#bytes(this.#stacks, total).fill(0xff);
    return { from: this.#stacks.address, strideBytes };
  }

  /**
   * Workers start with the first program, and serve all. Where a page forbids them, one thread does
   * it.
   */
  async #openExecutor(): Promise<Executor> {
    const memory = this.#linear.memory!;
    if (this.#threads === 1) return new Solo(memory);
    try {
      const { openThreadedExecutor } = await import("./wasm-threaded-executor.ts");
      const { executor, pool } = await openThreadedExecutor(
        memory,
        this.#threads,
        this.#threadScript,
        (why) => this.lose(why),
        { doPart, KernelTrap, recordWords, instantiate, runHere, maySleep, inNode, nodeModule },
      );
      if (this.#failure !== null) executor.end(this.#failure);
      else this.pool = pool;
      return executor;
    } catch (error) {
      this.#note = `workers do not start: ${(error as Error).message}`;
      this.#threads = 1;
      return new Solo(memory);
    }
  }

  #end(failure: string, reason: LossInfo["reason"], message: string): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#heap.clear();
    this.#linear.drop();
    this.pool = null;
    this.#executor?.then((executor) => executor.end(failure));
    this.#executor = null;
    this.#solo = null;
    this.#resolveLost({ reason, message });
  }

  #bytes(buffer: Buffer, sizeBytes: number): Uint8Array {
    const { address } = buffer as LinearBuffer;
    return this.#linear.bytes.subarray(address, address + sizeBytes);
  }

  #copyOf(buffer: Buffer, sizeBytes: number): ArrayBuffer {
    return this.#bytes(buffer, sizeBytes).slice().buffer as ArrayBuffer;
  }
}

const wasmOptions: OptionNames<WasmOptions> = {
  threads: 1,
  threadScript: 1,
  relaxed: 1,
  maxBytes: 1,
  poison: 1,
};

/**
 * A device that runs `wasm` artifacts on this machine's processors.
 *
 * Throws DeviceError if an option makes no sense here or the engine gives no memory.
 */
export function createWasmDevice(options: WasmOptions = {}): Device {
  const { threads = "auto", relaxed = false } = checkOptions(
    "createWasmDevice",
    options,
    wasmOptions,
  );
  if (threads !== "auto" && !(Number.isInteger(threads) && threads >= 1))
    throw new DeviceError(`createWasmDevice: threads must be 1 or more, or "auto", got ${threads}`);
  if (relaxed && !hasRelaxedSimd())
    throw new DeviceError("createWasmDevice: this engine has no relaxed SIMD\n  leave relaxed out");
  try {
    return new Device(new WasmDriver(options));
  } catch (cause) {
    throw new DeviceError(
      `createWasmDevice: the engine gives no memory: ${(cause as Error).message}`,
      { cause },
    );
  }
}
