/**
 * The other side of a loader's workers: a module that is started as a worker makes its samples and
 * serves batches of them. The same text runs in Node's threads and in a page's workers.
 */
import { ArtifactError, checkOptions, GraphError } from "@kiln-ml/ir";
import { batchShapeOf } from "./batch-shape.ts";
import type { Collate } from "./collate.ts";
import type { Dataset, Fields } from "./dataset.ts";
import { checkSource, type Items, type Source } from "./items.ts";
import { batchMaker } from "./loader.ts";
import { arraysOf, type BatchReply, type BatchRequest } from "./worker-crew.ts";

interface Port {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  listen(heard: (request: BatchRequest) => void): void;
}

/**
 * Serves a loader's batches from this worker; call it once, with the samples that the loader has
 * and the collate that it would use. Requests that come before are kept. Throws GraphError where
 * the module is no worker.
 *
 * `serveBatches(await imageFolder("photos"))` in batches.ts is for a loader with `workers: { count:
 * 2, start: () => new Worker(new URL("./batches.ts", import.meta.url)) }`. `num_workers` of
 * `torch.utils.data.DataLoader`.
 *
 * @param source What the loader loads.
 * @param options `collate`, as of the loader.
 * @example
 *   serveBatches(itemsOf([1, 2, 3])) // throws GraphError; outside of a worker
 */
export function serveBatches<S>(
  source: Items<S> | Dataset<S & Fields>,
  options: { readonly collate?: Collate<S, unknown> } = {},
): void {
  checkSource("serveBatches", source);
  const { collate } = checkOptions("serveBatches", options, { collate: 1 });
  const make = batchMaker(
    "dataLoader",
    source as Source<unknown>,
    collate as Collate<unknown, unknown> | undefined,
  );
  const port = portOf();
  port.listen(async ({ id, indices }) => {
    try {
      const batch = await make(indices);
      const arrays = arraysOf(batch);
      const reply: BatchReply = {
        id,
        batch,
        shapes: arrays.map((array) => batchShapeOf(array)?.slice()),
      };
      port.postMessage(reply, movable(arrays));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const file = error instanceof ArtifactError;
      port.postMessage({ id, error: { file, message } } satisfies BatchReply, []);
    }
  });
}

/**
 * Buffers that can be moved: of arrays that gathering, `stack` or `pad` made, as their known shape
 * tells, and that hold nothing else. Others are copied, since the samples may live in them.
 */
function movable(arrays: readonly ArrayBufferView[]): ArrayBuffer[] {
  const own = arrays.filter((a) => batchShapeOf(a) && a.byteLength === a.buffer.byteLength);
  return [...new Set(own.map((a) => a.buffer))].filter((b) => b instanceof ArrayBuffer);
}

function portOf(): Port {
  // Not an import: a bundler for pages would look for the module.
  const parent = globalThis.process?.getBuiltinModule?.("node:worker_threads").parentPort;
  if (parent)
    return {
      postMessage: (message, transfer) => parent.postMessage(message, transfer),
      listen: (heard) => void parent.on("message", heard),
    };
  const scope = globalThis as unknown as {
    importScripts?: unknown;
    postMessage(message: unknown, transfer: ArrayBuffer[]): void;
    addEventListener(type: "message", heard: (event: { data: BatchRequest }) => void): void;
  };
  // Only workers of a page have it.
  if (typeof scope.importScripts !== "function")
    throw new GraphError(
      'serveBatches: this module is no worker\n  start it as one: new Worker(new URL("./batches.js", import.meta.url))',
    );
  return {
    postMessage: (message, transfer) => scope.postMessage(message, transfer),
    listen: (heard) => scope.addEventListener("message", (event) => heard(event.data)),
  };
}
