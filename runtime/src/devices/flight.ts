/**
 * Bounds the runs that are submitted and not finished, so that a loop that never reads cannot queue up the GPU
 * without end. Turns are given in the order they were asked for.
 */
export class Flight {
  readonly #queue: GPUQueue;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(queue: GPUQueue, max: number) {
    this.#queue = queue;
    this.#free = max;
  }

  /** Takes a turn: null if there is one now, else a promise of one. Every turn taken is ended by `end`. */
  turn(): Promise<void> | null {
    if (this.#free > 0) {
      this.#free -= 1;
      return null;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The run of this turn is submitted, or failed; the turn is free again when the queue has got that far. */
  end(): void {
    const next = () => {
      // Handed over directly: a run that asks later must not come in between.
      const waiting = this.#waiting.shift();
      if (waiting) waiting();
      else this.#free += 1;
    };
    // A lost device rejects; whoever waits then learns of the loss by its own check.
    this.#queue.onSubmittedWorkDone().then(next, next);
  }
}
