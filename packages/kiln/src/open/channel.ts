/**
 * Questions to a worker and their answers: numbered messages, each with one answer, and before it
 * whatever is told on the way. Knows workers of pages and of Node alike, and starts none.
 */
import { KilnError } from "@kiln-ml/artifact";

/** A worker of a page, or of Node. */
export interface WorkerLike {
  postMessage(message: unknown, transfer?: readonly never[]): void;
  terminate(): unknown;
  addEventListener?(name: string, listener: (event: never) => void): void;
  on?(name: string, listener: (value: never) => void): unknown;
}

export type Reply<Progress> =
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly name: string; readonly message: string } };

/** What every worker understands: to leave off what an earlier message asked for. */
export interface Abort {
  readonly id: number;
  readonly call: "abort";
  readonly of: number;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly progress?: ((progress: never) => void) | undefined;
}

export class Channel<Progress> {
  readonly #worker: WorkerLike;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #dead: Error | undefined;

  /** `ended` makes the error of a worker that ends by itself, or cannot be loaded. */
  constructor(worker: WorkerLike, ended: (why: string) => Error) {
    this.#worker = worker;
    const take = (reply: Reply<Progress>): void => this.#take(reply);
    const fail = (why: string): void => this.end(ended(why));
    if (worker.on) {
      worker.on("message", take as never);
      worker.on("error", ((error: Error) => fail(error.message)) as never);
      worker.on("exit", ((code: number) => fail(`it exited with code ${code}`)) as never);
    } else {
      worker.addEventListener?.("message", ((event: MessageEvent) => take(event.data)) as never);
      const say = (event: ErrorEvent) => fail(event.message || "its script cannot be loaded");
      worker.addEventListener?.("error", say as never);
    }
  }

  #take(reply: Reply<Progress>): void {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    if ("progress" in reply) {
      waiting.progress?.(reply.progress as never);
      return;
    }
    this.#waiting.delete(reply.id);
    if ("value" in reply) waiting.resolve(reply.value as never);
    else waiting.reject(errorOf(reply.error));
  }

  /**
   * Rejects at once when the signal says so; `left` is then called when the worker has left off.
   */
  ask<T>(
    request: object,
    signal?: AbortSignal,
    progress?: (progress: Progress) => void,
    left?: (gone: Promise<void>) => void,
  ): Promise<T> {
    if (this.#dead) return Promise.reject(this.#dead);
    signal?.throwIfAborted();
    const id = this.#next++;
    const answer = new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as never, reject, progress });
    });
    const abort = (): void => {
      this.#waiting.get(id)?.reject(signal?.reason);
      const gone = new Promise<void>((resolve) => {
        this.#waiting.set(id, { resolve: () => resolve(), reject: () => resolve() });
      });
      left?.(gone);
      this.#worker.postMessage({ id: this.#next++, call: "abort", of: id });
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#worker.postMessage({ ...request, id });
    return answer.finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Whether the worker was ended, or ended by itself. */
  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  /** What waits, and whatever is asked later, rejects with the error; the first one stays. */
  end(error: Error): void {
    if (this.#dead) return;
    this.#dead = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#worker.terminate();
  }
}

/**
 * The class of an error is lost on the way; catching KilnError goes on working, and the name tells
 * the rest.
 */
function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  const error =
    /Error$/.test(name) && name !== "Error" ? new KilnError(message) : new Error(message);
  error.name = name;
  return error;
}
