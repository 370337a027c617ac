/**
 * Requests that wait for their turn: a bounded number, in the order in which they came, each until
 * its signal ends it, and none once the queue is closed. Runs nothing: `gate.ts` and `batches.ts` say who runs.
 */
import { RequestError } from "./errors.ts";

/** A request that waits, or runs, and how it ends. */
export interface Entry<T, R> {
  readonly item: T;
  readonly done: (result: R) => void;
  readonly fail: (error: unknown) => void;
}

export abstract class Queue<T, R> {
  readonly #limit: number;
  readonly #waiting = new Set<Entry<T, R>>();
  readonly #idle: (() => void)[] = [];
  #running = 0;
  #closed = false;

  /** `limit` requests may wait. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** How many requests run; 0 once none waits either. */
  get running(): number {
    return this.#running;
  }

  protected set running(count: number) {
    this.#running = count;
    if (count === 0) for (const tell of this.#idle.splice(0)) tell();
  }

  /** Throws RequestError: 503 when it is closed, 429 when as many wait as may. */
  check(): void {
    if (this.#closed)
      throw new RequestError(503, "stopping", "the server is stopping: ask another one");
    if (this.#running > 0 && this.#waiting.size >= this.#limit)
      throw new RequestError(
        429,
        "queue_full",
        `${this.#limit} requests wait already, as many as may: try again later`,
      );
  }

  /** What `done` is given; rejects with what `fail` is, or with the signal's reason. */
  protected wait(item: T, signal: AbortSignal): Promise<R> {
    return new Promise((resolve, reject) => {
      const leave = (): void => entry.fail(signal.reason);
      const end = (): void => {
        this.#waiting.delete(entry);
        signal.removeEventListener("abort", leave);
      };
      const entry: Entry<T, R> = {
        item,
        done: (result) => {
          end();
          resolve(result);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      this.#waiting.add(entry);
      signal.addEventListener("abort", leave);
    });
  }

  /** Takes out, in order, those that fit to the ones taken before them: they wait no more. */
  protected take(fits: (item: T, taken: readonly Entry<T, R>[]) => boolean): Entry<T, R>[] {
    const taken: Entry<T, R>[] = [];
    for (const entry of this.#waiting) if (fits(entry.item, taken)) taken.push(entry);
    for (const entry of taken) this.#waiting.delete(entry);
    return taken;
  }

  /** Takes no more requests; resolves when those that it has are answered. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }
}
