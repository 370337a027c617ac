/**
 * Linear memory in which what belongs to nobody holds a pattern: all of it at first, what is freed, and 64 KiB after each
 * range. Says where the pattern is no longer whole, and puts it back.
 */
import { LinearMemory } from "../../runtime/src/devices/linear-memory.ts";

export const guardBytes = 65536;
/** Of longer gaps only both ends are looked at. */
const longGap = 16 * guardBytes;

// Neither zeros nor NaN nor what a test would compute, and no byte like its neighbour.
const pattern = Buffer.alloc(guardBytes, Uint8Array.of(0xc3, 0x5a, 0x9d, 0x27, 0xe1, 0x78, 0xb4));

export interface Live {
  readonly from: number;
  readonly to: number;
}

/** Bytes that something overwrote, between two ranges that are somebody's. */
export interface Damage extends Live {
  readonly before: Live | undefined;
  readonly after: Live | undefined;
}

export class GuardedMemory extends LinearMemory {
  #filled = 0;

  constructor(shared: boolean, maxBytes: number) {
    super(shared, maxBytes);
    this.#fillNew();
    // The first buffer has a guard before it, as the others have.
    super.reserve(guardBytes);
  }

  override reserve(sizeBytes: number): number {
    const address = super.reserve(sizeBytes + guardBytes);
    this.#fillNew();
    return address;
  }

  override release(address: number, sizeBytes: number): void {
    super.release(address, sizeBytes + guardBytes);
    this.cover(address, address + sizeBytes);
  }

  /** Puts the pattern there. */
  cover(from: number, to: number): void {
    for (let at = from; at < to; ) {
      const length = lengthAt(at, to);
      this.bytes.set(pattern.subarray(at % guardBytes, (at % guardBytes) + length), at);
      at += length;
    }
  }

  /** Where the pattern is broken outside of ranges in the order of their addresses; it is whole again afterwards. */
  damage(live: readonly Live[]): Damage | undefined {
    let before: Live | undefined;
    let found: Damage | undefined;
    for (const after of [...live, undefined]) {
      const [from, to] = [before?.to ?? 0, after?.from ?? this.#filled];
      const parts =
        to - from > longGap
          ? [
              [from, from + guardBytes],
              [to - guardBytes, to],
            ]
          : [[from, to]];
      for (const [a, b] of parts as [number, number][]) {
        const broken = this.#broken(a, b);
        if (!broken) continue;
        this.cover(a, b);
        found ??= { ...broken, before, after };
      }
      before = after;
    }
    return found;
  }

  #broken(from: number, to: number): Live | undefined {
    const bytes = Buffer.from(this.bytes.buffer, 0, this.bytes.length);
    for (let at = from; at < to; ) {
      const length = lengthAt(at, to);
      const there = at % guardBytes;
      if (pattern.compare(bytes, at, at + length, there, there + length) !== 0)
        return this.#extent(at, to);
      at += length;
    }
    return undefined;
  }

  /** The first and the last byte that differ. */
  #extent(from: number, to: number): Live {
    const whole = (at: number): boolean => this.bytes[at] === pattern[at % guardBytes];
    while (whole(from)) from++;
    while (whole(to - 1)) to--;
    return { from, to };
  }

  #fillNew(): void {
    const { length } = this.bytes;
    this.cover(this.#filled, length);
    this.#filled = length;
  }
}

/** Bytes from `at` on that are compared together: up to `to` and to where the pattern begins anew. */
const lengthAt = (at: number, to: number): number =>
  Math.min(to - at, guardBytes - (at % guardBytes));
