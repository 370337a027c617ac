/**
 * A model in a worker: calls go there as messages, results come back as arrays that are handed over. Knows workers of pages and of
 * Node alike, and starts one in pages.
 */
import { DeviceError, GraphError, KilnError } from "@kiln-ml/artifact";
import type { RunOptions } from "@kiln-ml/runtime/loader";
import type { OpenedModel, OpenModelOptions } from "./open-model.ts";
import { type ModelSource, type Progress, urlOf } from "./source.ts";
import type { ModelResult, ModelValue } from "./values.ts";

/** A worker of a page, or of Node. */
export interface WorkerLike {
  postMessage(message: unknown, transfer?: readonly never[]): void;
  terminate(): unknown;
  addEventListener?(name: string, listener: (event: never) => void): void;
  on?(name: string, listener: (value: never) => void): unknown;
}

export type Request =
  | {
      readonly id: number;
      readonly call: "open";
      readonly source: ModelSource;
      readonly options: object;
    }
  | {
      readonly id: number;
      readonly call: "run";
      readonly inputs: unknown;
      readonly maxTrips?: number;
    }
  | { readonly id: number; readonly call: "abort"; readonly of: number };

export type Reply =
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly name: string; readonly message: string } };

type Outgoing = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly progress?: ((progress: Progress) => void) | undefined;
}

class Channel {
  readonly #worker: WorkerLike;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #dead: Error | undefined;

  constructor(worker: WorkerLike) {
    this.#worker = worker;
    const take = (reply: Reply): void => this.#take(reply);
    const fail = (why: string): void =>
      this.end(
        new DeviceError(
          `openModel: the worker ended: ${why}\n  its script imports kiln-ml/model-worker; a page's policy names it in worker-src`,
        ),
      );
    if (worker.on) {
      worker.on("message", take as never);
      worker.on("error", ((error: Error) => fail(error.message)) as never);
    } else {
      worker.addEventListener?.("message", ((event: MessageEvent) => take(event.data)) as never);
      const say = (event: ErrorEvent) => fail(event.message || "its script cannot be loaded");
      worker.addEventListener?.("error", say as never);
    }
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    if (!waiting) return;
    if ("progress" in reply) {
      waiting.progress?.(reply.progress);
      return;
    }
    this.#waiting.delete(reply.id);
    if ("value" in reply) waiting.resolve(reply.value as never);
    else waiting.reject(errorOf(reply.error));
  }

  ask<T>(
    request: Outgoing,
    signal?: AbortSignal,
    progress?: (progress: Progress) => void,
  ): Promise<T> {
    if (this.#dead) return Promise.reject(this.#dead);
    signal?.throwIfAborted();
    const id = this.#next++;
    const answer = new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as never, reject, progress });
    });
    const abort = (): void => {
      this.#waiting.get(id)?.reject(signal?.reason);
      this.#waiting.delete(id);
      this.#worker.postMessage({ id: this.#next++, call: "abort", of: id });
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#worker.postMessage({ ...request, id });
    return answer.finally(() => signal?.removeEventListener("abort", abort));
  }

  end(error: Error): void {
    this.#dead ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#worker.terminate();
  }
}

/** The class of an error is lost on the way; catching KilnError goes on working, and the name tells the rest. */
function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  const error =
    /Error$/.test(name) && name !== "Error" ? new KilnError(message) : new Error(message);
  error.name = name;
  return error;
}

function workerOf(worker: OpenModelOptions["worker"]): WorkerLike {
  if (typeof worker === "object" && !(worker instanceof URL)) return worker;
  if (typeof Worker !== "function")
    throw new GraphError(
      "openModel: there are no workers of the web here\n  in Node, use openModel of kiln-ml/node",
    );
  if (worker === true)
    // Bundlers look for exactly this.
    return new Worker(new URL("./model-worker.js", import.meta.url), { type: "module" }) as never;
  return new Worker(urlOf(worker as string | URL), { type: "module" }) as never;
}

export async function openInWorker(
  source: ModelSource,
  { worker, signal, onProgress, ...rest }: OpenModelOptions,
): Promise<OpenedModel> {
  const channel = new Channel(workerOf(worker));
  type Head = Pick<OpenedModel, "name" | "target" | "inputs" | "outputs">;
  const given = absolute(source);
  const { threadScript } = rest;
  const options = threadScript ? { ...rest, threadScript: urlOf(threadScript).href } : rest;
  let head: Head;
  try {
    const request = { call: "open", source: given, options } as const;
    head = await channel.ask<Head>(request, signal, onProgress);
  } catch (error) {
    channel.end(error as Error);
    throw error;
  }
  return {
    ...head,
    run: (inputs: Readonly<Record<string, ModelValue>>, how: RunOptions = {}) => {
      const { signal: stop, maxTrips } = how;
      const request = {
        call: "run",
        inputs,
        ...(maxTrips === undefined ? {} : { maxTrips }),
      } as const;
      return channel.ask<Record<string, ModelResult>>(request, stop);
    },
    dispose: async () => channel.end(new GraphError("run: the model is disposed")),
  };
}

/** A worker's script lies elsewhere than the page: what is relative is made whole before it goes there. URLs are no messages. */
function absolute(source: ModelSource): ModelSource {
  const whole = <T>(x: T): T | string =>
    typeof x === "string" || x instanceof URL ? urlOf(x).href : x;
  if (typeof source !== "object" || source instanceof URL) return whole(source) as ModelSource;
  if (source instanceof Uint8Array || source instanceof ArrayBuffer || source instanceof Map)
    return source;
  return Object.fromEntries(Object.entries(source).map(([k, v]) => [k, whole(v)]));
}
