/**
 * The calls of a run as 32-bit words, one record after the other, and how one thread does its part
 * of a record. The same words go through the control block to the workers, whose own copy of this
 * code is in wasm-worker.ts.
 */

import { argcAt, argsAt, entryAt, partsAt, piecesAt, unitsAt } from "./wasm-words.ts";

/** A kernel's function: addresses, dims, from, to, stack. */
export type Entry = (...args: number[]) => void;

/** The length of the record at `at`. */
export const recordWords = (words: Int32Array, at: number): number => argsAt + words[at + argcAt]!;

/** Where the threads' private memory lies: thread t's at `from + t * strideBytes`. */
export interface Stacks {
  readonly from: number;
  readonly strideBytes: number;
}

/** A trap in the function `entry`. */
export class KernelTrap extends Error {
  readonly entry: number;

  constructor(entry: number, message: string) {
    super(message);
    this.entry = entry;
  }
}

/**
 * Does part `part` of the record at `at`: units ⌊units · part / parts⌋ to ⌊units · (part + 1) /
 * parts⌋, in up to `pieces` calls. Engines put better code in place only between calls, never
 * inside one.
 */
export function doPart(
  entries: readonly Entry[],
  words: Int32Array,
  at: number,
  part: number,
  stack: number,
): void {
  const entry = words[at + entryAt]!;
  const units = words[at + unitsAt]!;
  const parts = words[at + partsAt]!;
  const from = Math.floor((units * part) / parts);
  const length = Math.floor((units * (part + 1)) / parts) - from;
  const pieces = Math.min(words[at + piecesAt]!, length);
  // A plain array: engines spread those several times faster than typed ones.
  const args: number[] = [];
  for (let i = 0; i < words[at + argcAt]!; i++) args.push(words[at + argsAt + i]!);
  const call = entries[entry]!;
  try {
    for (let i = 0; i < pieces; i++) {
      const start = from + Math.floor((length * i) / pieces);
      call(...args, start, from + Math.floor((length * (i + 1)) / pieces), stack);
    }
  } catch (error) {
    throw new KernelTrap(entry, (error as Error).message);
  }
}
