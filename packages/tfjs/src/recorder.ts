/**
 * Records calls and runs what is pending when a value is wanted: at once where the device runs on
 * the calling thread, else one job after the other. Knows values, and no tensors of TensorFlow.js.
 */
import { DeviceError, type HostArray } from "kiln-ml/ir";
import type { ProgramDevice } from "kiln-ml/programs";
import { Graph } from "./graph.ts";
import { type Job, jobOf, Programs } from "./program.ts";
import type { Template } from "./template.ts";
import { makeValue, type Value, type ValueType } from "./value.ts";

/** Nodes that may be pending: a loop that reads nothing is computed in pieces. */
const mostPending = 2000;

/** Values of no more elements than this stay on the host, and are given to each run. */
const mostHost = 64;

export class Recorder {
  readonly device: ProgramDevice;
  readonly programs: Programs;
  readonly #graph = new Graph();
  /** Of the jobs that were begun; never rejects. */
  #tail: Promise<void> = Promise.resolve();

  constructor(device: ProgramDevice) {
    this.device = device;
    this.programs = new Programs(device);
  }

  /** Whether a value can be had without waiting. */
  get isNow(): boolean {
    return this.programs.isNow;
  }

  /** How many calls wait to be computed. */
  get pending(): number {
    return this.#graph.size;
  }

  /**
   * A value from the host. The array is copied: a program may write into it before anything runs.
   */
  upload(host: HostArray, type: ValueType): Value {
    const stays = host.length <= mostHost || !this.isNow;
    if (stays) return makeValue(type, { host: host.slice() as HostArray });
    const array = this.device.device.upload(host, type.dtype, type.shape);
    return makeValue(type, { array });
  }

  record(template: Template, inputs: readonly Value[]): readonly Value[] {
    if (this.#graph.size >= mostPending) this.#cut();
    return this.#graph.record(template, inputs);
  }

  drop(value: Value): void {
    this.#graph.drop(value);
  }

  /** The elements, in an array of the caller's own. */
  async read(value: Value): Promise<HostArray> {
    if (this.isNow) return this.readNow(value);
    value.users += 1;
    try {
      await this.flush();
      if (value.failure !== undefined) throw value.failure;
      return value.host ? (value.host.slice() as HostArray) : await value.array!.data();
    } finally {
      this.#graph.release([value]);
    }
  }

  /** As `read`, before it returns. Throws DeviceError where the value is on its way. */
  readNow(value: Value): HostArray {
    if (value.from && this.isNow) this.#flushNow();
    if (value.failure !== undefined) throw value.failure;
    if (value.host) return value.host.slice() as HostArray;
    if (value.array && this.isNow) return value.array.dataNow();
    throw new DeviceError(
      `dataSync: values on ${this.device.target} come later\n  await data(), or take the target wasm`,
    );
  }

  /** Computes what is pending. */
  async flush(): Promise<void> {
    if (this.isNow) this.#flushNow();
    else this.#begin();
    await this.#tail;
  }

  #cut(): void {
    if (this.isNow) this.#flushNow();
    else this.#begin();
  }

  #flushNow(): void {
    const job = this.#job();
    if (!job) return;
    try {
      this.programs.runNow(job);
    } catch (error) {
      fail(job, error);
      throw error;
    } finally {
      this.#over(job);
    }
  }

  #begin(): void {
    const job = this.#job();
    if (!job) return;
    this.#tail = this.#tail
      .then(() => this.programs.run(job))
      .catch((error) => fail(job, error))
      .finally(() => this.#over(job));
  }

  #job(): Job | undefined {
    const nodes = this.#graph.take();
    return nodes.length > 0 ? jobOf(nodes) : undefined;
  }

  #over({ nodes }: Job): void {
    for (const { inputs } of nodes) this.#graph.release(inputs);
  }

  dispose(): void {
    this.#graph.take();
    this.programs.dispose();
  }
}

function fail({ outputs }: Job, error: unknown): void {
  for (const value of outputs) value.failure = error;
}
