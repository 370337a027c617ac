/**
 * Workers of Node and of the web behind one face. Knows nothing of what they do.
 */
import type { inNode, nodeModule } from "./wasm-threads.ts";

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

/** What is known already of where threads start. */
export interface ThreadHost {
  readonly inNode: typeof inNode;
  readonly nodeModule: typeof nodeModule;
}

/** Throws where the page's policy forbids it; some browsers report that through `ended` instead. */
export function startThread(
  host: ThreadHost,
  source: string,
  script: string | undefined,
  events: ThreadEvents,
): Thread {
  return host.inNode()
    ? startNodeThread(host, source, events)
    : startWebThread(source, script, events);
}

function startNodeThread(host: ThreadHost, source: string, events: ThreadEvents): Thread {
  const { Worker: NodeWorker } =
    host.nodeModule<typeof import("node:worker_threads")>("node:worker_threads")!;
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

/** From the text, by a URL made of it; or from `script`, where the page's policy forbids that. */
function startWebThread(source: string, script: string | undefined, events: ThreadEvents): Thread {
  const made = script ? null : URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const name = "kiln-wasm";
  const worker = made ? new Worker(made, { name }) : new Worker(script!, { name, type: "module" });
  worker.onmessage = ({ data }) => {
    if (made) URL.revokeObjectURL(made);
    events.message(data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    // A policy's refusal has no message.
    events.ended(event.message || refusal(script));
  };
  return {
    post: (message) => worker.postMessage(message),
    hold: () => {},
    end: () => worker.terminate(),
  };
}

const refusal = (script: string | undefined): string =>
  script
    ? `${script} cannot be loaded: it is not there, or the page's policy lacks it in worker-src`
    : "the page's policy lacks worker-src blob:; allow it, or worker-src 'self' and pass threadScript, the URL of kiln-ml/wasm-worker";
