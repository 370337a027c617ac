/**
 * The launches of runs, bound to memory, by the memory that they were bound to. A program in a
 * steady state is given the same buffers again and again, and then a run is one look-up. Binds
 * nothing itself.
 */
import type { Buffer } from "../heap.ts";
import type { Frame } from "../layout.ts";
import type { BoundLaunch } from "./encode.ts";

/** A loop that keeps its last results goes through as many sets of buffers as it keeps. */
const keptRecordings = 64;
/** Of all recordings of a layout; one run of a loop may have thousands. */
const keptLaunches = 2 ** 16;

interface Recording {
  /** Of slots, inputs and bound results; all others of a program stay the same. */
  readonly buffers: readonly Buffer[];
  readonly launches: readonly BoundLaunch[];
}

export class Recordings {
  /** The results that kernels are bound to. */
  readonly #results: readonly number[];
  /** By the hash of the buffers' numbers; of two with one hash the later stays. */
  readonly #known = new Map<number, Recording>();
  #launches = 0;

  constructor(results: readonly number[]) {
    this.#results = results;
  }

  of(frame: Frame): readonly BoundLaunch[] | undefined {
    const known = this.#known.get(this.#hashOf(frame));
    return known && this.#isOf(known, frame) ? known.launches : undefined;
  }

  keep(frame: Frame, launches: readonly BoundLaunch[]): void {
    const hash = this.#hashOf(frame);
    this.#forget(hash);
    const results = this.#results.map((i) => frame.output[i]!);
    this.#known.set(hash, { buffers: [...frame.slot, ...frame.input, ...results], launches });
    this.#launches += launches.length;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= keptRecordings && this.#launches <= keptLaunches) return;
      this.#forget(oldest);
    }
  }

  #forget(hash: number): void {
    this.#launches -= this.#known.get(hash)?.launches.length ?? 0;
    this.#known.delete(hash);
  }

  #hashOf({ slot, input, output }: Frame): number {
    let hash = 0;
    for (const { id } of slot) hash = (Math.imul(hash, 31) + id) | 0;
    for (const { id } of input) hash = (Math.imul(hash, 31) + id) | 0;
    for (const i of this.#results) hash = (Math.imul(hash, 31) + output[i]!.id) | 0;
    return hash;
  }

  #isOf({ buffers }: Recording, { slot, input, output }: Frame): boolean {
    let at = 0;
    for (const b of slot) if (buffers[at++] !== b) return false;
    for (const b of input) if (buffers[at++] !== b) return false;
    for (const i of this.#results) if (buffers[at++] !== output[i]) return false;
    return true;
  }
}
