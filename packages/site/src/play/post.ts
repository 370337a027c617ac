/** The worker's own side of the channel to its page. */
import type { FromWorker, ToWorker } from "./messages.ts";

interface Scope {
  postMessage(message: FromWorker): void;
  addEventListener(kind: "message", listen: (event: { readonly data: ToWorker }) => void): void;
}

/** The worker's global, which the types of a page do not tell. */
export const scope = globalThis as unknown as Scope;

export const post = (message: FromWorker): void => scope.postMessage(message);
