/**
 * Address ranges in one WebAssembly.Memory: first fit, neighbours joined when they come back,
 * growth when nothing fits. Knows no tensors and keeps nothing for reuse by size; that is the heap
 * above it.
 */
import type { Buffer } from "../heap.ts";

export interface LinearBuffer extends Buffer {
  readonly address: number;
}

const pageBytes = 65536;
const maxPages = 65536;

/** Kernels fold small negative offsets into their addresses, so nothing lives at the start. */
const firstAddress = 1024;

/** Kernels may load a whole vector where less is left, so nothing lives at the end. */
const slackBytes = 64;

/** A cache line: what starts on one shares none with its neighbour. */
const alignment = 64;

const aligned = (bytes: number) => Math.ceil(Math.max(bytes, 1) / alignment) * alignment;

interface Range {
  from: number;
  to: number;
}

export class LinearMemory {
  memory: WebAssembly.Memory | null;
  readonly shared: boolean;
  readonly #maxPages: number;
  /** By address; no two touch. */
  #free: Range[] = [];
  /** Where the ranges end, free and taken. */
  #end = firstAddress;
  #bytes: Uint8Array;

  /** Throws RangeError for no bound, and if the engine does not give even the first pages. */
  constructor(shared: boolean, maxBytes: number) {
    if (!(maxBytes >= 1)) throw new RangeError(`maxBytes is ${maxBytes}`);
    const wanted = Math.max(1, Math.min(maxPages, Math.floor(maxBytes / pageBytes)));
    const { memory, maximum } = createMemory(shared, wanted);
    this.memory = memory;
    this.shared = shared;
    this.#maxPages = maximum;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#extend();
  }

  /** The largest range there could be. */
  get maxBytes(): number {
    return this.#maxPages * pageBytes - firstAddress - slackBytes;
  }

  /** All of the memory; another view after `reserve`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** The address of a new range, a multiple of 64. Throws RangeError if there is no room. */
  reserve(sizeBytes: number): number {
    const size = aligned(sizeBytes);
    let i = this.#free.findIndex(({ from, to }) => to - from >= size);
    if (i < 0) {
      this.#grow(size);
      i = this.#free.length - 1;
    }
    const range = this.#free[i]!;
    const address = range.from;
    range.from += size;
    if (range.from === range.to) this.#free.splice(i, 1);
    return address;
  }

  /** Gives back what `reserve(sizeBytes)` returned. */
  release(address: number, sizeBytes: number): void {
    const to = address + aligned(sizeBytes);
    let i = this.#free.findIndex((range) => range.from >= to);
    if (i < 0) i = this.#free.length;
    const before = this.#free[i - 1];
    const after = this.#free[i];
    const joinsBefore = before !== undefined && before.to === address;
    const joinsAfter = after !== undefined && after.from === to;
    if (joinsBefore) before.to = joinsAfter ? after.to : to;
    else if (joinsAfter) after.from = address;
    else this.#free.splice(i, 0, { from: address, to });
    if (joinsBefore && joinsAfter) this.#free.splice(i, 1);
  }

  /** Lets go of the memory, which cannot shrink. Nothing may be called afterwards. */
  drop(): void {
    this.memory = null;
    this.#bytes = new Uint8Array(0);
  }

  /**
   * Makes the last free range at least `size` long. A quarter more than there is, if it is to be
   * had.
   */
  #grow(size: number): void {
    const last = this.#free.at(-1);
    const spare = last && last.to === this.#end ? last.to - last.from : 0;
    const pages = this.#bytes.length / pageBytes;
    const needed = Math.ceil((this.#end - spare + size + slackBytes) / pageBytes) - pages;
    const left = this.#maxPages - pages;
    if (needed > left)
      throw new RangeError(`the memory ends at ${this.#maxPages * pageBytes} bytes`);
    const memory = this.memory!;
    try {
      memory.grow(Math.min(Math.max(needed, Math.ceil(pages / 4)), left));
    } catch {
      memory.grow(needed);
    }
    this.#bytes = new Uint8Array(memory.buffer);
    this.#extend();
  }

  #extend(): void {
    const end = Math.floor((this.#bytes.length - slackBytes) / alignment) * alignment;
    const from = this.#end;
    this.#end = end;
    const last = this.#free.at(-1);
    if (last && last.to === from) last.to = end;
    else if (end > from) this.#free.push({ from, to: end });
  }
}

/**
 * Some engines reserve the maximum at once, and refuse one that they could not give; then half of
 * it is tried.
 */
function createMemory(shared: boolean, wanted: number) {
  for (let maximum = wanted; ; maximum = Math.ceil(maximum / 2)) {
    try {
      return { memory: new WebAssembly.Memory({ initial: 1, maximum, shared }), maximum };
    } catch (error) {
      if (maximum <= 1024) throw error;
    }
  }
}
