/**
 * The routes: what answers, what is refused and as what, and what is counted. Knows no sockets.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import type { OpenedModel } from "kiln-ml/model";
import type { Batches } from "./batches.ts";
import { answerEmbeddings, type EmbeddingService } from "./embeddings.ts";
import { bodyOf, RequestError, refusalOf } from "./errors.ts";
import type { Metrics } from "./metrics.ts";
import { inputsOf, outputsOf } from "./tensor-json.ts";
import { answerText, type TextService } from "./text-model.ts";

export interface Served {
  readonly name: string;
  readonly metrics: Metrics;
  readonly maxBodyBytes: number;
  /** False once it is stopping. */
  readonly isReady: () => boolean;
  /** Ends everything that runs. */
  readonly signal: AbortSignal;
  readonly log: (text: string) => void;
  readonly text?: TextService;
  readonly embeddings?: EmbeddingService;
  readonly tensors?: { readonly model: OpenedModel; readonly batches: Batches };
}

export function appOf(served: Served): Hono {
  const { metrics, name } = served;
  const app = new Hono();
  app.use(async (c, next) => {
    const began = performance.now();
    await next();
    metrics.observe("kiln_request_seconds", (performance.now() - began) / 1000);
    // Paths that nobody serves are one label: a client could make any number of them.
    const route = routes.includes(c.req.path) ? c.req.path : "other";
    metrics.add("kiln_requests_total", 1, { route, status: c.res.status });
  });
  app.use(
    bodyLimit({
      maxSize: served.maxBodyBytes,
      onError: () => {
        const most = `the body may have ${served.maxBodyBytes} bytes`;
        throw new RequestError(413, "body_too_large", most);
      },
    }),
  );
  app.onError((error) => refused(error, served));
  app.notFound((c) => {
    const isKnown = routes.includes(c.req.path);
    return response(
      isKnown
        ? new RequestError(405, "method_not_allowed", `${c.req.path} does not take ${c.req.method}`)
        : new RequestError(404, "not_found", `there is no ${c.req.path.slice(0, 80)} here`),
    );
  });
  app.get("/health", (c) =>
    served.isReady() ? c.json({ status: "ok", model: name }) : c.json({ status: "stopping" }, 503),
  );
  app.get("/metrics", (c) =>
    c.text(metrics.text(), 200, { "content-type": "text/plain; version=0.0.4" }),
  );
  const listed = {
    id: name,
    object: "model",
    created: Math.floor(Date.now() / 1000),
    owned_by: "kiln",
  };
  app.get("/v1/models", (c) => c.json({ object: "list", data: [listed] }));
  if (served.text) addText(app, served, served.text);
  if (served.embeddings) addEmbeddings(app, served, served.embeddings);
  if (served.tensors) addTensors(app, served, served.tensors);
  return app;
}

const routes = [
  "/health",
  "/metrics",
  "/v1/models",
  "/v1/completions",
  "/v1/chat/completions",
  "/v1/embeddings",
  "/v1/run",
  "/v1/signature",
];

const response = (refusal: RequestError): Response =>
  Response.json(bodyOf(refusal), {
    status: refusal.status,
    headers: refusal.status === 429 || refusal.status === 503 ? { "retry-after": "1" } : {},
  });

function refused(error: unknown, { log, metrics }: Served): Response {
  if (error instanceof HTTPException) return error.getResponse();
  const refusal = refusalOf(error);
  if (refusal.status === 499) metrics.add("kiln_aborted_total");
  if (refusal.status === 500)
    log(`${error instanceof Error ? (error.stack ?? error.message) : error}`);
  return response(refusal);
}

async function jsonOf(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  // A page of another site may send plain text without asking first.
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type))
    throw new RequestError(415, "not_json", "content-type must be application/json");
  try {
    return await request.json();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(
      400,
      "invalid_json",
      `the body is no JSON: ${(error as Error).message.slice(0, 200)}`,
    );
  }
}

/** Ends when the client goes away, or the server does. */
function signalOf(request: Request, { signal }: Served): AbortSignal {
  const gone = new AbortController();
  const leave = () => gone.abort(new RequestError(499, "client_gone", "the client went away"));
  if (request.signal.aborted) leave();
  else request.signal.addEventListener("abort", leave, { once: true });
  return AbortSignal.any([gone.signal, signal]);
}

function addText(app: Hono, served: Served, service: TextService): void {
  for (const [path, kind] of [
    ["/v1/completions", "completion"],
    ["/v1/chat/completions", "chat"],
  ] as const)
    app.post(path, async (c) => {
      // Who would only wait to be refused is refused before anything is read.
      service.gate.check();
      const json = await jsonOf(c.req.raw);
      return answerText(service, kind, json, signalOf(c.req.raw, served));
    });
}

function addEmbeddings(app: Hono, served: Served, service: EmbeddingService): void {
  app.post("/v1/embeddings", async (c) => {
    service.gate.check();
    const json = await jsonOf(c.req.raw);
    return answerEmbeddings(service, json, signalOf(c.req.raw, served));
  });
}

function addTensors(app: Hono, served: Served, { model, batches }: NonNullable<Served["tensors"]>) {
  const { inputs, outputs, target } = model;
  app.get("/v1/signature", (c) => c.json({ name: served.name, target, inputs, outputs }));
  app.post("/v1/run", async (c) => {
    batches.check();
    const values = inputsOf(await jsonOf(c.req.raw), inputs);
    return c.json(outputsOf(await batches.run(values, signalOf(c.req.raw, served))));
  });
}
