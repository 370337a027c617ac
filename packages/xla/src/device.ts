/**
 * The engine as a device: arrays that live there by their numbers, and what is asked of the
 * process.
 */
import type { Dtype, HostArray, Tensor } from "@kiln-ml/ir";
import type { ExportedProgram, Mesh, Recipe } from "@kiln-ml/stablehlo";
import type { ExternalDevice } from "kiln-ml";
import { bytesOfHost, XlaArray } from "./array.ts";
import { XlaProgram } from "./program.ts";
import type { Answer, Frame, Request, RunRequest } from "./protocol.ts";
import type { Sidecar } from "./sidecar.ts";

export interface DeviceOptions {
  readonly mesh: Mesh;
  readonly shard: readonly Recipe[];
  /** "8 × NVIDIA H200, jaxlib 0.11.2". */
  readonly name: string;
  /** All that there are, on all hosts. */
  readonly devices: number;
}

export class XlaDevice implements ExternalDevice {
  readonly kind = "cpu";
  readonly target = "js";
  readonly name: string;
  readonly mesh: Mesh;
  readonly shard: readonly Recipe[];
  readonly devices: number;
  readonly #sidecar: Sidecar;
  #next = 0;
  #runs = 0;
  #dispatched: Promise<unknown> = Promise.resolve();
  #freed: number[] = [];
  readonly #collected = new FinalizationRegistry<number>((id) => this.free(id));

  constructor(sidecar: Sidecar, { mesh, shard, name, devices }: DeviceOptions) {
    this.#sidecar = sidecar;
    this.mesh = mesh;
    this.shard = shard;
    this.name = name;
    this.devices = devices;
  }

  get isLost(): boolean {
    return this.#sidecar.failure !== undefined;
  }

  /** Whether its process sees this one's memory, so that batches do not go through the pipe. */
  get sharesMemory(): boolean {
    return this.#sidecar.shares;
  }

  count(): number {
    return this.#next++;
  }

  owns = (x: unknown): x is XlaArray => x instanceof XlaArray && x.device === this;

  /** An array that something is about to be put into. */
  array(dtype: Dtype, shape: readonly number[]): XlaArray {
    const made = new XlaArray(this, this.count(), dtype, shape);
    this.#collected.register(made, made.id);
    return made;
  }

  /** Freed with the next request, so that it costs none of its own. */
  free(id: number): void {
    this.#freed.push(id);
  }

  request(request: Request, parts: readonly Uint8Array[] = []): Promise<Frame<Answer>> {
    const free = this.#freed;
    this.#freed = [];
    return this.#sidecar.request(request, parts, free);
  }

  /**
   * Asks for a run, and waits for the one before it: the batch is on its way while the process still
   * works at that. Rejects with what the run before met. The process leaves this run out then, and
   * states are as they were before both.
   */
  async run(request: Omit<RunRequest, "op" | "number">, parts: readonly Uint8Array[]) {
    const before = this.#dispatched;
    const asked = this.request({ op: "run", number: this.#runs++, ...request }, parts);
    this.#dispatched = asked;
    asked.catch(() => {});
    await this.#met(before);
  }

  /** What the last run met, before anything is read. */
  async settled(): Promise<void> {
    await this.#met(this.#dispatched);
  }

  /** An error is met once: the run that was left out for it has the same. */
  async #met(run: Promise<unknown>): Promise<void> {
    try {
      await run;
    } catch (error) {
      this.#dispatched = Promise.resolve();
      this.#runs++;
      throw error;
    }
  }

  /** Copies host values; where they go is decided by the first program that takes them. */
  upload(host: HostArray | readonly number[], dtype: Dtype, shape: readonly number[]): XlaArray {
    const bytes = bytesOfHost("upload", host, dtype, shape);
    const made = this.array(dtype, shape);
    // Whoever uses it next is told what went wrong.
    this.request({ op: "put", id: made.id, dtype, shape }, [bytes]).catch(() => {});
    return made;
  }

  load(program: ExportedProgram, states: readonly Tensor[]): XlaProgram {
    return new XlaProgram(this, program, states);
  }
}
