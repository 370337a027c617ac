/** Listening: a port for one model, and an end that loses nothing. */
import type { AddressInfo } from "node:net";
import { serve as listen } from "@hono/node-server";
import { checkOptions, type OptionNames } from "kiln-ml/ir";
import type { OpenedModel } from "kiln-ml/model";
import { appOf, type Served } from "./app.ts";
import { Batches } from "./batches.ts";
import type { EmbeddingModel } from "./embeddings.ts";
import { RequestError } from "./errors.ts";
import { Gate } from "./gate.ts";
import { Metrics } from "./metrics.ts";
import { rowsAreAlone } from "./rows-alone.ts";
import type { TextModel } from "./text-model.ts";

export interface ServeOptions {
  /** What requests call the model. */
  readonly name: string;
  /** 8080 by default; 0 takes one that is free. */
  readonly port?: number;
  /** The address that is listened on; this machine's own by default. */
  readonly host?: string;
  /** Requests that wait at most, 64 by default: more are refused with 429. */
  readonly queue?: number;
  /** Rows of requests that run together at most, 32 by default; 1 runs each alone. */
  readonly batch?: number;
  /** Bytes of a request's body at most, 16 MiB by default. */
  readonly maxBodyBytes?: number;
  /** How long requests are waited for at the end, in ms, 10,000 by default. */
  readonly graceMs?: number;
  /** Hears of failures that are not the client's. */
  readonly log?: (text: string) => void;
}

const serveOptions: OptionNames<ServeOptions> = {
  name: 1,
  port: 1,
  host: 1,
  queue: 1,
  batch: 1,
  maxBodyBytes: 1,
  graceMs: 1,
  log: 1,
};

/** A model that is served. */
export interface Server {
  readonly port: number;
  readonly url: string;
  /** Whether requests run together. */
  readonly isBatched: boolean;
  /**
   * Ends it: new requests are refused with 503, those at hand are answered, or cut off after the
   * grace.
   */
  stop(): Promise<void>;
}

/** What is taken where an option is left out. */
export const serveDefaults = {
  port: 8080,
  host: "127.0.0.1",
  queue: 64,
  batch: 32,
  maxBodyBytes: 16 << 20,
  graceMs: 10_000,
} as const satisfies Partial<ServeOptions>;

type Model = TextModel | EmbeddingModel | OpenedModel;

/** What answers for a model. */
async function serviceOf(
  model: Model,
  { name, batch, queue, metrics }: Named,
): Promise<Pick<Served, "text" | "embeddings" | "tensors"> & { readonly isBatched: boolean }> {
  const gate = new Gate(queue);
  if ("session" in model) return { text: { name, model, gate, metrics }, isBatched: false };
  if ("embedder" in model) return { embeddings: { name, model, gate }, isBatched: false };
  const isBatched = batch > 1 && (await rowsAreAlone(model));
  const batches = new Batches(model, isBatched ? batch : 1, queue, metrics);
  return { tensors: { model, batches }, isBatched };
}

interface Named {
  readonly name: string;
  readonly batch: number;
  readonly queue: number;
  readonly metrics: Metrics;
}

/** Without those that are undefined, which would take the place of defaults. */
const definedOf = (options: ServeOptions): ServeOptions =>
  Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as ServeOptions;

/**
 * Serves a model until `stop`.
 *
 *     const server = await serve(await openModel("digits.kiln"), { name: "digits", port: 0 });
 *     await fetch(`${server.url}/v1/run`, {
 *       method: "POST",
 *       headers: { "content-type": "application/json" },
 *       body: JSON.stringify({ inputs: { x: [[0, 1]] } }),
 *     });
 *     await server.stop();
 *
 * Rejects where the port cannot be had.
 */
export async function serve(model: Model, options: ServeOptions): Promise<Server> {
  checkOptions("serve", options, serveOptions);
  const { name, port, host, queue, batch, maxBodyBytes, graceMs } = {
    ...serveDefaults,
    ...definedOf(options),
  };
  const metrics = new Metrics();
  let stopping: Promise<void> | undefined;
  const end = new AbortController();
  const { isBatched, ...service } = await serviceOf(model, { name, batch, queue, metrics });
  const requests = (service.text ?? service.embeddings)?.gate ?? service.tensors!.batches;
  metrics.gauge("kiln_queue_waiting", () => requests.waiting);
  metrics.gauge("kiln_running", () => requests.running);
  const served: Served = {
    name,
    metrics,
    maxBodyBytes,
    isReady: () => stopping === undefined,
    signal: end.signal,
    log: options.log ?? (() => {}),
    ...service,
  };
  const { server, at } = await opened(appOf(served).fetch, port, host);
  const stop = async (): Promise<void> => {
    const late = setTimeout(
      () => end.abort(new RequestError(503, "stopping", "the server stopped")),
      graceMs,
    );
    await requests.close();
    clearTimeout(late);
    await closed(server);
  };
  return {
    port: at.port,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${at.port}`,
    isBatched,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

type Listening = ReturnType<typeof listen>;

function opened(
  fetch: (request: Request) => Response | Promise<Response>,
  port: number,
  hostname: string,
): Promise<{ server: Listening; at: AddressInfo }> {
  return new Promise((resolve, reject) => {
    const server = listen({ fetch, port, hostname }, (at) => {
      server.off("error", reject);
      resolve({ server, at });
    });
    server.once("error", reject);
  });
}

/** Answers that are written are sent; connections that nothing is asked of end. */
async function closed(server: Listening): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    if (!("closeIdleConnections" in server)) return;
    server.closeIdleConnections();
    // A client that does not read its answer holds up nobody.
    setTimeout(() => server.closeAllConnections(), 1000).unref();
  });
}
