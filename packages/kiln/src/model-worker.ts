/** The script of a page's worker that `openModel` talks to. A worker of your own imports it, and nothing more. */
import { openModel } from "./open/open-model.ts";
import { serveModel } from "./open/worker-serve.ts";

const scope = globalThis as unknown as {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(name: "message", listener: (event: MessageEvent) => void): void;
};
const serve = serveModel(openModel, (reply, transfer) => scope.postMessage(reply, transfer));
scope.addEventListener("message", (event) => {
  void serve(event.data);
});
