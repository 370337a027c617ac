/** A set of numbers that gives its least one: a binary heap. Which of many kernels that are ready is the first of the program. */
export class Ranks {
  readonly #heap: number[] = [];

  add(rank: number): void {
    const heap = this.#heap;
    let at = heap.push(rank) - 1;
    for (let up = (at - 1) >> 1; at > 0 && heap[up]! > rank; up = (at - 1) >> 1) {
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = rank;
  }

  /** The least, which is taken out; undefined if there is none. */
  take(): number | undefined {
    const heap = this.#heap;
    const least = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return least;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down + 1 < heap.length && heap[down + 1]! < heap[down]!) down++;
      if (down >= heap.length || heap[down]! >= last) break;
      heap[at] = heap[down]!;
      at = down;
    }
    heap[at] = last;
    return least;
  }
}
