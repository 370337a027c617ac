/**
 * Lets TensorFlow.js's threaded wasm build run in Node, where it counts half of the cores and starts its workers from
 * blob addresses that `worker_threads` refuses. Changes built-in modules, so only a process that measures it loads this.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the text of the worker expects of the module around it. */
const scope = [
  'var require$$0 = require("fs"), require$$1 = require("path"), require$$2 = require("worker_threads");',
  'var require$$3 = require("perf_hooks"), require$$4 = require("os"), commonjsGlobal = globalThis;',
  'var __dirname = ".", __filename = "worker.js";',
].join("\n");

export function allowTfjsThreads(require, threads) {
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  const fileOf = (text) => {
    const path = join(folder, `worker${count++}.cjs`);
    writeFileSync(path, text);
    return path;
  };

  const os = require("node:os");
  const cores = os.cpus();
  os.cpus = () => Array.from({ length: 2 * threads }, (_, i) => cores[i % cores.length]);

  const texts = new WeakMap();
  const NodeBlob = globalThis.Blob;
  globalThis.Blob = class extends NodeBlob {
    constructor(parts, options) {
      super(parts, options);
      texts.set(this, parts.join(""));
    }
  };
  const paths = new Map();
  URL.createObjectURL = (blob) => {
    const path = fileOf(texts.get(blob));
    paths.set(`blob:${path}`, path);
    return `blob:${path}`;
  };
  URL.revokeObjectURL = () => {};
  workersFrom(require("node:worker_threads"), paths, texts, (text) => fileOf(`${scope}\n${text}`));
}

/** Replaces the Worker of the built-in module by one that knows blob addresses and the handlers of pages. */
function workersFrom(module, paths, texts, scriptOf) {
  const scripts = new WeakMap();
  const scriptFor = (blob) => {
    if (!scripts.has(blob)) scripts.set(blob, scriptOf(texts.get(blob)));
    return scripts.get(blob);
  };
  const NodeWorker = module.Worker;
  module.Worker = class extends NodeWorker {
    constructor(address, options) {
      super(paths.get(String(address)) ?? address, options);
      this.on("message", (data) => this.onmessage?.({ data }));
      this.on("error", (error) => this.onerror?.(error));
    }
    postMessage(message, transfer) {
      const blob = message?.urlOrBlob;
      const text = blob !== undefined && texts.has(Object(blob));
      super.postMessage(text ? { ...message, urlOrBlob: scriptFor(blob) } : message, transfer);
    }
  };
}
