/**
 * What is encoded for the queue, and when it is submitted: a run at once while the device has
 * little to do, else several short ones together, in one compute pass. Whatever could tell the
 * difference, such as a read, a write or the end of a buffer, submits first. Counts what is
 * unfinished; knows no programs.
 */
import { type BoundLaunch, encodeLaunches, noState, type PassState } from "./encode.ts";
import type { GpuBuffer } from "./gpu-buffer.ts";
import { nextTask } from "./pressure.ts";

/** Many launches are several submits, so that the device begins before all are encoded. */
const launchesPerSubmit = 2048;
const runsPerSubmit = 8;

/**
 * Bytes of the runs of a submit, about a millisecond on a large card; flops count by the second
 * constant.
 */
const workPerSubmit = 2 ** 31;
const flopsPerByte = 16;

export const workOf = ({ bytes, flops }: { bytes: number; flops: number }): number =>
  bytes + flops / flopsPerByte;

export class Commands {
  readonly #device: GPUDevice;
  readonly #queue: GPUQueue;
  readonly #max: number;
  readonly #onRoom: () => void;
  #encoder: GPUCommandEncoder | null = null;
  #pass: GPUComputePassEncoder | null = null;
  #state: PassState = noState();
  #launches = 0;
  /** Runs that end in what is not submitted yet, and their work. */
  #runs = 0;
  #work = 0;
  /**
   * Submits of runs so far, how many of the first are known to be finished, and of how many that
   * will become known.
   */
  #submitted = 0;
  #finished = 0;
  #watched = 0;
  #microtask: Promise<void> | null = null;
  #task = false;

  /** At most `max` submits of runs are unfinished; `onRoom` is called when there is room again. */
  constructor(device: GPUDevice, max: number, onRoom: () => void) {
    this.#device = device;
    this.#queue = device.queue;
    this.#max = max;
    this.#onRoom = onRoom;
  }

  /** Whether another run may be encoded. */
  get room(): boolean {
    return this.#submitted - this.#finished < this.#max;
  }

  encode(launches: readonly BoundLaunch[]): void {
    let from = 0;
    while (from < launches.length) {
      if (this.#launches >= launchesPerSubmit) this.flush();
      const to = Math.min(launches.length, from + launchesPerSubmit - this.#launches);
      this.#pass ??= this.#encoding().beginComputePass();
      encodeLaunches(this.#pass, launches, from, to, this.#state);
      this.#launches += to - from;
      from = to;
    }
  }

  /** The first `sizeBytes` of a buffer, a multiple of 4. */
  copy(from: GpuBuffer, to: GpuBuffer, sizeBytes: number): void {
    this.#endPass();
    this.#encoding().copyBufferToBuffer(from.gpu, 0, to.gpu, 0, sizeBytes);
  }

  /**
   * A run is encoded to its end. It is submitted now unless the device has enough to do; `steady`
   * says that it was bound before, so that it hardly fails and takes others with it.
   */
  endRun(work: number, steady: boolean): void {
    this.#runs += 1;
    this.#work += work;
    const full = this.#runs >= runsPerSubmit || this.#work >= workPerSubmit;
    if (!steady || full || !this.#busy) this.flush();
    else this.#inTask();
  }

  /** Submits what is encoded. */
  flush(): void {
    const encoder = this.#encoder;
    const runs = this.#runs;
    this.#endPass();
    this.drop();
    if (!encoder) return;
    const commands = [encoder.finish()];
    if (runs > 0) this.#watch();
    this.#queue.submit(commands);
    if (runs === 0) return;
    this.#submitted += 1;
    if (this.room) this.#inTask();
    else this.#watch();
  }

  /** Submits of runs so far, of which the caller will tell by `finish` that they are finished. */
  expect(): number {
    this.#watched = this.#submitted;
    return this.#submitted;
  }

  /** The device has finished the first `submits`. */
  finish(submits: number): void {
    if (submits <= this.#finished) return;
    this.#finished = submits;
    if (!this.#busy) this.flush();
    this.#onRoom();
  }

  /**
   * Submits what is encoded by the time the caller has returned, so that reads that are asked for
   * together are one submit.
   */
  flushSoon(): Promise<void> {
    this.#microtask ??= Promise.resolve().then(() => {
      this.#microtask = null;
      this.flush();
    });
    return this.#microtask;
  }

  /** Forgets what is encoded. */
  drop(): void {
    this.#encoder = null;
    this.#pass = null;
    this.#runs = 0;
    this.#work = 0;
    this.#launches = 0;
  }

  /**
   * Enough is unfinished that the device does not wait for more; while one more submit is allowed,
   * it may still grow.
   */
  get #busy(): boolean {
    return this.#submitted - this.#finished >= Math.max(1, this.#max - 1);
  }

  #encoding(): GPUCommandEncoder {
    this.#encoder ??= this.#device.createCommandEncoder();
    return this.#encoder;
  }

  #endPass(): void {
    if (!this.#pass) return;
    this.#pass.end();
    this.#pass = null;
    this.#state = noState();
  }

  /**
   * By the next task, what waits is submitted, and what is submitted is watched unless a read will
   * tell as much.
   */
  #inTask(): void {
    if (this.#task) return;
    this.#task = true;
    nextTask().then(() => {
      this.#task = false;
      this.flush();
      this.#watch();
    });
  }

  #watch(): void {
    const submits = this.#submitted;
    if (this.#watched >= submits || this.#finished >= submits) return;
    this.#watched = submits;
    // A lost device rejects; whoever waits then learns of the loss by its own check.
    const done = () => this.finish(submits);
    this.#queue.onSubmittedWorkDone().then(done, done);
  }
}
