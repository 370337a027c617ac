/**
 * The instructions of one variant of a module while its functions are read. Calls have no index yet:
 * how many functions are imported shows only at the end, so their places are noted and the indices
 * go in when a function is copied out.
 */

import { Bytes, unsignedSize } from "./bytes.ts";

export type Range = readonly [from: number, to: number];

export class Code extends Bytes {
  /** Where an index is missing, in rising order, and the name it is of. */
  #places: number[] = [];
  #callees: number[] = [];

  /** Notes that the index of function `name` belongs here. */
  callee(name: number): void {
    this.#places.push(this.length);
    this.#callees.push(name);
  }

  /** Exchanges the code between `from` and `middle` with what follows it. */
  swap(from: number, middle: number): void {
    const first = this.bytes.slice(from, middle);
    this.bytes.copyWithin(from, middle, this.length);
    const moved = this.length - middle;
    this.bytes.set(first, from + moved);
    const start = firstAfter(this.#places, from);
    if (start < this.#places.length) this.#swapCalls(start, middle, moved, middle - from);
  }

  #swapCalls(start: number, middle: number, forward: number, back: number): void {
    const places = this.#places.splice(start);
    const callees = this.#callees.splice(start);
    const cut = firstAfter(places, middle);
    this.#places.push(...places.slice(cut).map((place) => place - back));
    this.#places.push(...places.slice(0, cut).map((place) => place + forward));
    this.#callees.push(...callees.slice(cut), ...callees.slice(0, cut));
  }

  /** Writes the code of a range, its size before it, with the indices of the functions. */
  copyTo(out: Bytes, [from, to]: Range, indexOf: (name: number) => number): void {
    const places = this.#places;
    const start = firstAfter(places, from);
    let end = start;
    let size = to - from;
    for (; end < places.length && places[end]! <= to; end++)
      size += unsignedSize(indexOf(this.#callees[end]!));
    out.reserve(size + 5);
    out.unsigned(size);
    let at = from;
    for (let i = start; i < end; i++) {
      out.append(this.bytes, at, places[i]!);
      out.unsigned(indexOf(this.#callees[i]!));
      at = places[i]!;
    }
    out.append(this.bytes, at, to);
  }
}

/** The first index whose place is after `value`: places rise, and a place is after its own call. */
function firstAfter(places: readonly number[], value: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
