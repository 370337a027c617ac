/** The worker's side of `openModel`: opens one model and runs it, call by call. */
import { answering } from "./answering.ts";
import type { Abort, Reply } from "./channel.ts";
import type { OpenedModel, OpenModelOptions } from "./open-model.ts";
import type { ModelSource, Progress } from "./source.ts";
import type { Request } from "./worker-client.ts";

type Asked = Exclude<Request, Abort>;

/** Serves one model; `post` sends a reply and hands over the buffers. The result takes requests. */
export function serveModel(
  open: (source: ModelSource, options: OpenModelOptions) => Promise<OpenedModel>,
  post: (reply: Reply<Progress>, transfer: ArrayBuffer[]) => void,
): (request: Request) => Promise<void> {
  let model: OpenedModel | undefined;
  const answer = async (request: Asked, signal: AbortSignal) => {
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
  return answering<Asked>(
    async (request, signal) => {
      const value = await answer(request, signal);
      post({ id: request.id, value }, buffersIn(value));
    },
    (reply) => post(reply, []),
  );
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
