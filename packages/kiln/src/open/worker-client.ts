/**
 * A model in a worker: calls go there as messages, results come back as arrays that are handed
 * over. Knows workers of pages and of Node alike, and starts one in pages.
 */
import { DeviceError, GraphError } from "@kiln-ml/artifact";
import type { RunOptions } from "@kiln-ml/runtime/loader";
import { type Abort, Channel, type WorkerLike } from "./channel.ts";
import type { OpenedModel, OpenModelOptions } from "./open-model.ts";
import { type ModelSource, type Progress, urlOf } from "./source.ts";
import type { ModelResult, ModelValue } from "./values.ts";

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
  | Abort;

const ended = (why: string): DeviceError =>
  new DeviceError(
    `openModel: the worker ended: ${why}\n  its script imports kiln-ml/model-worker; a page's policy names it in worker-src`,
  );

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
  const channel = new Channel<Progress>(workerOf(worker), ended);
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

/**
 * A worker's script lies elsewhere than the page: what is relative is made whole before it goes
 * there. URLs are no messages.
 */
function absolute(source: ModelSource): ModelSource {
  const whole = <T>(x: T): T | string =>
    typeof x === "string" || x instanceof URL ? urlOf(x).href : x;
  if (typeof source !== "object" || source instanceof URL) return whole(source) as ModelSource;
  if (source instanceof Uint8Array || source instanceof ArrayBuffer || source instanceof Map)
    return source;
  return Object.fromEntries(Object.entries(source).map(([k, v]) => [k, whole(v)]));
}
