/**
 * The worker's side of a channel: requests run side by side, each with a signal that an abort sets
 * off, and what one throws is its answer.
 */
import type { Abort, Reply } from "./channel.ts";

/** What takes requests. `run` posts its value itself, as it knows what can be handed over. */
export function answering<Request extends { readonly id: number; readonly call: string }>(
  run: (request: Request, signal: AbortSignal) => Promise<void>,
  post: (reply: Reply<never>) => void,
): (request: Request | Abort) => Promise<void> {
  const running = new Map<number, AbortController>();
  const isAbort = (request: Request | Abort): request is Abort => request.call === "abort";
  return async (request) => {
    if (isAbort(request)) return running.get(request.of)?.abort();
    const { id } = request;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      await run(request, controller.signal);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      post({ id, error: { name, message } });
    } finally {
      running.delete(id);
    }
  };
}
