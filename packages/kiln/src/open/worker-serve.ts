/** The worker's side of `openModel`: opens one model and runs it, call by call. */
import type { Reply } from "./channel.ts";
import type { OpenedModel, OpenModelOptions, openModel } from "./open-model.ts";
import type { Progress } from "./source.ts";
import type { Request } from "./worker-client.ts";

/** Serves one model; `post` sends a reply and hands over the buffers. The result takes requests. */
export function serveModel(
  open: typeof openModel,
  post: (reply: Reply<Progress>, transfer: ArrayBuffer[]) => void,
): (request: Request) => Promise<void> {
  let model: OpenedModel | undefined;
  const running = new Map<number, AbortController>();
  const answer = async (request: Exclude<Request, { call: "abort" }>, signal: AbortSignal) => {
    if (request.call === "open") {
      const onProgress: OpenModelOptions["onProgress"] = (progress) =>
        post({ id: request.id, progress }, []);
      model = await open(request.source, { ...request.options, onProgress, signal });
      const { name, target, inputs, outputs } = model;
      return { name, target, inputs, outputs };
    }
    const { maxTrips } = request;
    const how = { signal, ...(maxTrips === undefined ? {} : { maxTrips }) };
    return model!.run(request.inputs as never, how);
  };
  return async (request) => {
    if (request.call === "abort") return running.get(request.of)?.abort();
    const controller = new AbortController();
    running.set(request.id, controller);
    try {
      const value = await answer(request, controller.signal);
      post({ id: request.id, value }, buffersIn(value));
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      post({ id: request.id, error: { name, message } }, []);
    } finally {
      running.delete(request.id);
    }
  };
}

/** Each buffer once. One that threads share cannot be handed over, and is copied. */
function buffersIn(value: object): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  for (const x of Object.values(value) as unknown[]) {
    const data = (x as { data?: unknown } | null)?.data;
    if (ArrayBuffer.isView(data) && data.buffer instanceof ArrayBuffer) found.add(data.buffer);
  }
  return [...found];
}
