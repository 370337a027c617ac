/**
 * A thread of the wasm device as a script of its own, for pages whose policy allows no `blob:`
 * workers. The build puts the text itself in this file's place; only unbuilt is it made a function.
 */
import { pageWorkerSource } from "./devices/wasm-worker.ts";

new Function(pageWorkerSource)();
