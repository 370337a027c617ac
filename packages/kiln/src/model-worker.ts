/** The script of a page's worker that `openModel` talks to. A worker of your own imports it, and nothing more. */
import { openHere } from "./open/open-here.ts";
import { serveModel } from "./open/worker-serve.ts";

const scope = globalThis as unknown as {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(name: "message", listener: (event: MessageEvent) => void): void;
};
const serve = serveModel(openHere, (reply, transfer) => scope.postMessage(reply, transfer));
scope.addEventListener("message", (event) => {
  void serve(event.data);
});
