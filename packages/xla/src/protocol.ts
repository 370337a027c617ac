/**
 * What goes between Kiln and the engine's process, in both directions: frames of a header in JSON
 * and parts of bytes behind it. Text of StableHLO and values of tensors are all that is sent;
 * nothing that runs.
 *
 *   frame = u32 bytes of the header, u32 0, header, parts         little-endian
 *
 * The header has `parts`, the bytes of each, and `seq`, which the answer repeats. A part that lies
 * in shared memory is its path and bytes instead, and nothing follows for it; who sent it keeps it
 * until the other end has answered, or said that it took so many.
 */
import type { ShardSpec } from "@kiln-ml/ir";
import { type SharedPart, takeShared } from "./shared-memory.ts";

/** The number that both ends must agree on. */
export const protocol = 2;

/** A tensor's type and place on the mesh. */
export interface Placed {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly spec: ShardSpec;
}

/** Several processes as one machine, each with devices of its own. */
export interface Hosts {
  /** `host:port` of process 0. */
  readonly coordinator: string;
  readonly count: number;
  /** From 0. */
  readonly index: number;
}

/** What Kiln asks. Arrays are named by numbers of its own; `part` counts the parts of the frame. */
export type Request =
  | {
      readonly op: "hello";
      readonly protocol: number;
      readonly axes: readonly (readonly [string, number])[];
      readonly hosts?: Hosts | "slurm";
      /** Bytes in shared memory, which the other end reads if it can. */
      readonly shared?: SharedPart;
    }
  | {
      readonly op: "put";
      readonly id: number;
      readonly dtype: string;
      readonly shape: readonly number[];
    }
  | { readonly op: "get"; readonly id: number }
  | {
      readonly op: "load";
      readonly program: number;
      readonly args: readonly Placed[];
      readonly results: readonly Placed[];
    }
  | RunRequest;

export interface RunRequest {
  readonly op: "run";
  /** Runs count up. One that follows a run that failed is left out, and answered with its error. */
  readonly number: number;
  readonly program: number;
  readonly args: readonly ({ readonly id: number } | { readonly part: number })[];
  readonly results: readonly number[];
}

/** What it is told: either what was asked for, or why not. */
export interface Answer {
  readonly seq: number;
  readonly error?: { readonly kind: string; readonly message: string };
  readonly [field: string]: unknown;
}

export interface Frame<H> {
  readonly header: H;
  readonly parts: readonly Uint8Array[];
}

/** What a frame has behind its header, or where it lies. */
export type Part = Uint8Array | SharedPart;
const inPipe = (p: Part): p is Uint8Array => p instanceof Uint8Array;

/** The bytes of a frame; parts are not copied. */
export function encode(header: object, parts: readonly Part[] = []): Uint8Array[] {
  const entries = parts.map((p) => (inPipe(p) ? p.byteLength : p));
  const body = new TextEncoder().encode(JSON.stringify({ ...header, parts: entries }));
  const head = new Uint8Array(8);
  new DataView(head.buffer).setUint32(0, body.length, true);
  return [head, body, ...parts.filter(inPipe)];
}

const pipeBytes = (entry: number | SharedPart): number => (typeof entry === "number" ? entry : 0);

/** Puts frames together from chunks. */
export class Decoder<H> {
  #chunks: Uint8Array[] = [];
  #held = 0;
  #header: { readonly value: H; readonly parts: readonly (number | SharedPart)[] } | undefined;
  readonly #found: (frame: Frame<H>) => void;

  constructor(found: (frame: Frame<H>) => void) {
    this.#found = found;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#step());
  }

  /** Whether something was taken. */
  #step(): boolean {
    if (!this.#header) {
      if (this.#held < 8) return false;
      const [first] = this.#chunks;
      const head = first!.length >= 8 ? first! : this.#joined();
      const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
      if (this.#held < 8 + length) return false;
      this.#take(8);
      const value = JSON.parse(new TextDecoder().decode(this.#take(length)));
      this.#header = { value, parts: value.parts };
    }
    const { value, parts } = this.#header;
    if (this.#held < parts.reduce<number>((sum, p) => sum + pipeBytes(p), 0)) return false;
    this.#header = undefined;
    const taken = parts.map((p) => (typeof p === "number" ? this.#take(p) : takeShared(p)));
    this.#found({ header: value, parts: taken });
    return true;
  }

  #joined(): Uint8Array {
    const all = new Uint8Array(this.#held);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }

  /** A copy of the first n bytes, which are then gone. */
  #take(n: number): Uint8Array {
    const out = new Uint8Array(n);
    for (let at = 0; at < n; ) {
      const chunk = this.#chunks[0]!;
      const part = chunk.subarray(0, n - at);
      out.set(part, at);
      at += part.length;
      if (part.length === chunk.length) this.#chunks.shift();
      else this.#chunks[0] = chunk.subarray(part.length);
    }
    this.#held -= n;
    return out;
  }
}
