/**
 * Whether there can be threads here, and how many. Starts none: that is `wasm-thread.ts`, which is
 * loaded only where there are some.
 */

/**
 * Node's own modules without an import, which bundlers for pages would follow. Since Node 20.16.
 * Callers name the type: a declaration that did would need Node's types in pages' programs.
 */
export function nodeModule<M>(name: string): M | undefined {
  return typeof process === "undefined" ? undefined : (process.getBuiltinModule?.(name) as M);
}

export const inNode = (): boolean =>
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
  nodeModule<typeof import("node:os")>("node:os")?.availableParallelism() ??
  navigator.hardwareConcurrency ??
  1;

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
