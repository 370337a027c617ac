/** The script of the worker that `openModel` of `kiln-ml/node` starts. */
import { parentPort } from "node:worker_threads";
import { openModel } from "./node.ts";
import { serveModel } from "./open/worker-serve.ts";

const serve = serveModel(openModel, (reply, transfer) => parentPort!.postMessage(reply, transfer));
parentPort!.on("message", (request) => {
  void serve(request);
});
