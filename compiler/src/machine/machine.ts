/**
 * What a compiler has to know of a machine to weigh one kernel against another. A table a target,
 * each number with its source and date, so that who has another card edits one page. Imports
 * nothing.
 */

/** What it does in a second, whichever of the two it is kept waiting for. */
export interface Rates {
  /** Operations in f32, of a large product. */
  readonly flops: number;
  /** Bytes of memory that elementwise kernels move. */
  readonly bytes: number;
}

/** What a kernel does: operations, and bytes that it reads and writes. */
export interface Work {
  readonly flops: number;
  readonly bytes: number;
}

/** Seconds at a machine's rates, of arithmetic or memory, whichever takes longer. */
export function secondsOf({ flops, bytes }: Work, rates: Rates): number {
  return Math.max(flops / rates.flops, bytes / rates.bytes);
}

export interface Machine extends Rates {
  readonly name: string;
  /** Seconds of a kernel that does nothing, after another. */
  readonly launch: number;
}

/** A graphics card. */
export interface Card extends Machine {
  /** Processors that have registers and schedulers of their own: multiprocessors. */
  readonly units: number;
  /** Registers of 32 bits that a unit has. */
  readonly registers: number;
  /** Bytes that are worth a launch: what a chain of elementwise ops moves meanwhile. */
  readonly launchBytes: number;
  /** Lines of the tile of a large product: an element is brought once for so many results. */
  readonly tileLines: number;
}
