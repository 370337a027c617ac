/**
 * What jax-js expects of an engine and Node 20 lacks: helpers of iterators, and the Worker of pages over
 * `worker_threads`. Changes globals, so only a process that measures it loads this.
 */
import { Worker as NodeWorker } from "node:worker_threads";

const helpers = {
  *map(fn) {
    let i = 0;
    for (const value of this) yield fn(value, i++);
  },
  *filter(fn) {
    let i = 0;
    for (const value of this) if (fn(value, i++)) yield value;
  },
  *take(count) {
    if (count <= 0) return;
    let left = count;
    for (const value of this) {
      yield value;
      if (--left === 0) return;
    }
  },
  *flatMap(fn) {
    let i = 0;
    for (const value of this) yield* fn(value, i++);
  },
  toArray() {
    return Array.from(this);
  },
  some(fn) {
    return Array.from(this).some(fn);
  },
  every(fn) {
    return Array.from(this).every(fn);
  },
  find(fn) {
    return Array.from(this).find(fn);
  },
  forEach(fn) {
    Array.from(this).forEach(fn);
  },
  reduce(fn, ...first) {
    return Array.from(this).reduce(fn, ...first);
  },
};

export function addIteratorHelpers() {
  const prototype = Object.getPrototypeOf(Object.getPrototypeOf([].values()));
  for (const [name, value] of Object.entries(helpers))
    if (!(name in prototype))
      Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
}

/** Runs before the script of a worker: the globals of a page's worker. */
const preamble = [
  'const { parentPort } = require("node:worker_threads");',
  "globalThis.self = globalThis;",
  "globalThis.postMessage = (message) => parentPort.postMessage(message);",
  'parentPort.on("message", (data) => globalThis.onmessage?.({ data }));',
].join("\n");

export function addWorkers(threads) {
  const texts = new Map();
  const parts = new WeakMap();
  const NodeBlob = globalThis.Blob;
  globalThis.Blob = class extends NodeBlob {
    constructor(from, options) {
      super(from, options);
      parts.set(this, from.join(""));
    }
  };
  URL.createObjectURL = (blob) => {
    const address = `blob:worker/${texts.size}`;
    texts.set(address, parts.get(blob));
    return address;
  };
  URL.revokeObjectURL = () => {};
  globalThis.Worker = class {
    #worker;
    constructor(address) {
      const script = `${preamble}\n{\n${texts.get(String(address))}\n}`;
      this.#worker = new NodeWorker(script, { eval: true });
      this.#worker.on("message", (data) => this.onmessage?.({ data }));
      this.#worker.on("error", (error) => this.onerror?.(error));
    }
    postMessage(message, transfer) {
      this.#worker.postMessage(message, transfer);
    }
    terminate() {
      this.#worker.terminate();
    }
  };
  const navigator = { hardwareConcurrency: threads };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
}
