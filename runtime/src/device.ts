/**
 * What the runtime asks of a device: memory, transfers, and programs made from an artifact. The
 * public `Device` adds what holds for all of them: uploads, the report of memory, and the refusal
 * of every call once it is lost.
 */
import {
  type Artifact,
  DeviceError,
  DtypeError,
  ShapeError,
  storageBytes,
} from "@kiln-ml/artifact";
import { DeviceArray } from "./device-array.ts";
import type { Buffer, MemoryReport } from "./heap.ts";
import {
  type Dtype,
  hostArray,
  sizeOf,
  type Target,
  type TypedArray,
  toStorage,
} from "./host-array.ts";
import type { Frame } from "./layout.ts";

export interface LossInfo {
  readonly reason: "destroyed" | "unknown";
  readonly message: string;
}

/**
 * Kernel functions from an artifact's `kernels.js`, for pages that forbid building functions from
 * text.
 */
export type KernelModule = Readonly<Record<string, unknown>>;

/** One kernel launch of a profiled run. `timing` says what `ms` was measured with. */
export interface KernelTiming {
  readonly name: string;
  readonly ms: number;
  readonly bytes: number;
  readonly flops: number;
  readonly timing: "clock" | "timestamp" | "submit";
}

/** What ends a run before its time. States are then as they were before it. */
export interface RunOptions {
  /** The run rejects with its reason: before it starts, and between two trips of a loop. */
  readonly signal?: AbortSignal;
  /** The most trips that all loops of the run make together; no bound by default. */
  readonly maxTrips?: number;
}

/**
 * An artifact's kernels made ready on a device. Called with memory already bound; checks nothing.
 */
export interface Program {
  /** A promise where the run goes on after the call; the frame's memory is its own until then. */
  run(frame: Frame, options?: RunOptions): void | Promise<void>;
  profile(frame: Frame): Promise<KernelTiming[]>;
  destroy(): void;
}

/** The way out of a device that is gone, on a line of its own. */
export const reopen = "\n  open a device again, and load the artifact on it";

/** The way out of what a device said after the call that it comes from. */
export const again =
  "\n  run it again from states that are known, with less at once where memory was short";

/** What an adapter says of itself; parts that it keeps to itself are empty. */
export interface AdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
}

/** The part of a device that differs from kind to kind. */
export interface Driver {
  readonly kind: "cpu" | "webgpu";
  readonly target: Target;
  readonly name: string;
  readonly adapter?: AdapterInfo;
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  readonly lost: Promise<LossInfo>;
  /** Why no call can succeed, or null. */
  failure(): string | null;
  /** What went wrong since the last call and was reported only afterwards, or null. */
  takeFault(): string | null;
  /** `tensor` names what the memory is for, in errors. */
  allocate(sizeBytes: number, owner: string, tensor: string): Buffer;
  release(buffer: Buffer): void;
  /** A host array as device memory without a copy, where host and device memory are one. */
  borrow(array: TypedArray): Buffer | null;
  /**
   * After the runs called before. A promise where these have yet to start; `buffer` must be kept
   * until then.
   */
  write(buffer: Buffer, data: TypedArray): void | Promise<void>;
  /** Within a run's turn only. */
  copy(from: Buffer, to: Buffer, sizeBytes: number): void;
  read(buffer: Buffer, sizeBytes: number): Promise<ArrayBuffer>;
  /** The bytes at once, where that needs no waiting; the result is a copy. */
  peek(buffer: Buffer, sizeBytes: number): ArrayBuffer | null;
  load(artifact: Artifact, kernels?: KernelModule, module?: object): Promise<Program>;
  /**
   * As `load`, before it returns; its runs are over when they return. Left out where a run is
   * never. Not for a plan with a flow.
   */
  loadNow?(artifact: Artifact, kernels?: KernelModule, module?: object): Program;
  /**
   * Calls `work`, which submits a run, when its turn has come; in the order of the calls. Where
   * that is at once, gives the result or throws.
   */
  take<T>(work: () => T | Promise<T>): T | Promise<T>;
  /**
   * Calls `work`, a run of what `loadNow` gave, before it returns. Throws DeviceError while other
   * runs go on.
   */
  takeNow?<T>(work: () => T): T;
  memory(): MemoryReport;
  destroy(): void;
}

/**
 * A place where arrays live and artifacts run. Made by `createCpuDevice`, `createWasmDevice` or
 * `openWebGpu`.
 */
export class Device {
  /** @internal For the runtime's own modules. */
  readonly driver: Driver;

  /** @internal */
  constructor(driver: Driver) {
    this.driver = driver;
  }

  get kind(): "cpu" | "webgpu" {
    return this.driver.kind;
  }

  /** The artifacts it runs are compiled for this target. */
  get target(): Target {
    return this.driver.target;
  }

  /** The adapter's own name, "cpu", or "wasm" with what it uses. */
  get name(): string {
    return this.driver.name;
  }

  /** Of a WebGPU device. */
  get adapter(): AdapterInfo | undefined {
    return this.driver.adapter;
  }

  get limits(): Readonly<Record<string, number>> {
    return this.driver.limits;
  }

  get features(): ReadonlySet<string> {
    return this.driver.features;
  }

  /** Resolves when the device is gone: destroyed by the program, or taken away by the system. */
  get lost(): Promise<LossInfo> {
    return this.driver.lost;
  }

  /**
   * Copies a host array, or numbers, into a new array of `shape`. Throws ShapeError if the element
   * counts differ, DtypeError if the typed array is not the one for `dtype` or the device has no
   * such dtype, DeviceError if the memory is not to be had.
   */
  upload(
    host: TypedArray | readonly number[],
    dtype: Dtype,
    shape: readonly number[],
  ): DeviceArray {
    if (!shape.every((d) => Number.isSafeInteger(d) && d >= 0))
      throw new ShapeError(
        `upload: extents must be non-negative integers, got [${shape}]\n  give whole numbers of 0 or more`,
      );
    const array = hostArray("upload", host, dtype, shape);
    const out = this.allocate(dtype, shape, "arrays", "upload");
    out.put(toStorage(array, dtype, this.target));
    return out;
  }

  /** @internal Memory for an array of `shape`, contents unspecified. */
  allocate(dtype: Dtype, shape: readonly number[], owner: string, tensor: string): DeviceArray {
    this.check(tensor);
    if (dtype === "f64" && this.kind === "webgpu")
      throw new DtypeError(`${tensor}: webgpu has no f64\n  convert to f32, or use a cpu device`);
    const bytes = sizeOf(shape) * storageBytes(dtype, this.target);
    return new DeviceArray(this, dtype, shape, this.driver.allocate(bytes, owner, tensor));
  }

  /**
   * @internal Throws DeviceError once the device is lost, and for a fault that was reported late.
   */
  check(where: string): void {
    const gone = this.driver.failure();
    if (gone !== null) throw new DeviceError(`${where}: ${gone}${reopen}`);
    const fault = this.driver.takeFault();
    if (fault !== null) throw new DeviceError(`${where}: ${fault}${again}`);
  }

  /** Bytes that are live, held for reuse, and the most that were ever live. */
  memory(): MemoryReport {
    return this.driver.memory();
  }

  /** Frees everything on the device. Its arrays and executables throw DeviceError from then on. */
  destroy(): void {
    this.driver.destroy();
  }
}
