/**
 * Who may run: one at a time, a bounded number waits in the order in which they came, and nobody
 * enters once it is closed.
 */
import { RequestError } from "./errors.ts";

interface Waiting {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

export class Gate {
  readonly limit: number;
  readonly #waiting = new Set<Waiting>();
  readonly #idle: (() => void)[] = [];
  #busy = false;
  #closed = false;

  constructor(limit: number) {
    this.limit = limit;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#busy ? 1 : 0;
  }

  /** Throws RequestError: 503 when it is closed, 429 when as many wait as may. */
  check(): void {
    if (this.#closed)
      throw new RequestError(503, "stopping", "the server is stopping: ask another one");
    if (this.#busy && this.#waiting.size >= this.limit)
      throw new RequestError(
        429,
        "queue_full",
        `${this.limit} requests wait already, as many as may: try again later`,
      );
  }

  /** Resolves to what lets the next one in; rejects with the signal's reason if it ends first. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.check();
    if (this.#busy) await this.#wait(signal);
    this.#busy = true;
    let isIn = true;
    return () => {
      if (isIn) this.#next();
      isIn = false;
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => one.refuse(signal.reason);
      const end = (): void => {
        this.#waiting.delete(one);
        signal.removeEventListener("abort", leave);
      };
      const one: Waiting = {
        enter: () => {
          end();
          resolve();
        },
        refuse: (error) => {
          end();
          reject(error);
        },
      };
      this.#waiting.add(one);
      signal.addEventListener("abort", leave);
    });
  }

  /** The place is handed on without being free in between, so that nobody overtakes. */
  #next(): void {
    const [first] = this.#waiting;
    if (first) {
      first.enter();
      return;
    }
    this.#busy = false;
    for (const tell of this.#idle.splice(0)) tell();
  }

  /** Lets nobody in any more; resolves when those who are have left. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
