/** One request runs at a time, the others wait. */
import { Queue } from "./queue.ts";

export class Gate extends Queue<undefined, void> {
  /** Resolves to what lets the next one in; rejects with the signal's reason if it ends first. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.check();
    if (this.running > 0) await this.wait(undefined, signal);
    this.running = 1;
    let isIn = true;
    return () => {
      if (isIn) this.#next();
      isIn = false;
    };
  }

  /** The place is handed on without being free in between, so that nobody overtakes. */
  #next(): void {
    const [first] = this.take((_, taken) => taken.length === 0);
    if (first) first.done();
    else this.running = 0;
  }
}
