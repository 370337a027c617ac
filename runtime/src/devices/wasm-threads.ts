/**
 * Workers of Node and of the web behind one face, and whether there can be any. Knows nothing of
 * what they do.
 */

export interface Thread {
  post(message: unknown): void;
  /** Whether the process must not end before the thread has spoken. */
  hold(on: boolean): void;
  end(): void;
}

export interface ThreadEvents {
  message(data: { readonly is: string }): void;
  /** It has died, or never came to life. */
  ended(why: string): void;
}

/**
 * Node's own modules without an import, which bundlers for pages would follow. Since Node 20.16.
 */
function nodeModule(name: "node:worker_threads"): typeof import("node:worker_threads") | undefined;
function nodeModule(name: "node:os"): typeof import("node:os") | undefined;
function nodeModule(name: string): unknown {
  return typeof process === "undefined" ? undefined : process.getBuiltinModule?.(name);
}

const inNode = (): boolean =>
  typeof process !== "undefined" && process.versions?.node !== undefined;

/** Why there can be no threads, or null. */
export function noThreads(): string | null {
  if (typeof SharedArrayBuffer === "undefined" || globalThis.crossOriginIsolated === false)
    return "the page is not cross-origin isolated";
  if (inNode() && !nodeModule("node:worker_threads")) return "this Node is older than 20.16";
  return inNode() || typeof Worker === "function" ? null : "there are no workers";
}

/** Processors that the program may use. */
export const processors = (): number =>
  nodeModule("node:os")?.availableParallelism() ?? navigator.hardwareConcurrency ?? 1;

/** How many threads are asked for: "auto" is one a processor, at most 8. */
export const threadsWanted = (threads: number | "auto"): number =>
  threads === "auto" ? Math.min(processors(), 8) : threads;

/** The threads that `createWasmDevice` would run with. Workers may still fail to start. */
export const wasmThreads = (threads: number | "auto" = "auto"): number =>
  noThreads() === null ? threadsWanted(threads) : 1;

/** Whether this thread may sleep: a page's own may not. */
export function maySleep(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    return true;
  } catch {
    return false;
  }
}

/** Throws where the page's policy forbids it; some browsers report that through `ended` instead. */
export function startThread(source: string, events: ThreadEvents): Thread {
  return inNode() ? startNodeThread(source, events) : startWebThread(source, events);
}

function startNodeThread(source: string, events: ThreadEvents): Thread {
  const { Worker: NodeWorker } = nodeModule("node:worker_threads")!;
  // The options of this process could name loaders, which every thread would start anew.
  const worker = new NodeWorker(source, { eval: true, execArgv: [], name: "kiln-wasm" });
  worker.unref();
  worker.on("message", (data) => events.message(data));
  worker.on("error", (error) => events.ended(error.message));
  worker.on("exit", (code) => events.ended(`it exited with code ${code}`));
  return {
    post: (message) => worker.postMessage(message),
    hold: (on) => (on ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
}

function startWebThread(source: string, events: ThreadEvents): Thread {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(url, { name: "kiln-wasm" });
  worker.onmessage = ({ data }) => {
    URL.revokeObjectURL(url);
    events.message(data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // A policy's refusal has no message.
    events.ended(event.message || "the page's policy lacks worker-src blob:");
  };
  return {
    post: (message) => worker.postMessage(message),
    hold: () => {},
    end: () => worker.terminate(),
  };
}
