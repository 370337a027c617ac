/**
 * The threads of a wasm device: the control block they share, and a worker's whole program as text, so that it needs
 * neither a bundler nor a loader. A worker does parts of calls; the first of a page's workers hands them out as well.
 */
import { word } from "./wasm-calls.ts";

/**
 * Words of the control block. `generation` goes up with each call handed out, `left` counts the workers not done with
 * it, `tell` asks the last of them for a message, a negative `program` sends workers to their messages. Words that
 * different threads wait on are a cache line apart.
 */
export const control = {
  generation: 0,
  left: 32,
  tell: 33,
  trap: 34,
  trapLength: 35,
  program: 64,
  stack: 65,
  stride: 66,
  call: 67,
  /** WebAssembly allows 1,000 parameters. */
  text: 67 + word.args + 1000,
  textEnd: 67 + word.args + 1000 + 200,
} as const;

/** How long a thread looks for news before it sleeps: longer than what separates two calls of a run. */
export const spinMs = 0.05;

export const workerSource = `"use strict";
const node = typeof require === "function" ? require("node:worker_threads").parentPort : null;
const post = (message) => (node ?? self).postMessage(message);
const programs = new Map();
let block, memory, index, threads, leads;
let seen = 0;

function doPart(entries, words, at, part, stack) {
  const units = words[at + ${word.units}];
  const parts = words[at + ${word.parts}];
  const from = Math.floor((units * part) / parts);
  const length = Math.floor((units * (part + 1)) / parts) - from;
  const pieces = Math.min(words[at + ${word.pieces}], length);
  const first = at + ${word.args};
  const args = Array.from(words.subarray(first, first + words[at + ${word.argc}]));
  const call = entries[words[at + ${word.entry}]];
  for (let i = 0; i < pieces; i++)
    call(...args, from + Math.floor((length * i) / pieces), from + Math.floor((length * (i + 1)) / pieces), stack);
}

function waitWhile(at, value) {
  const until = performance.now() + ${spinMs};
  while (Atomics.load(block, at) === value)
    if (performance.now() > until) Atomics.wait(block, at, value);
}

function trap(error) {
  const text = String((error && error.message) || error).slice(0, ${control.textEnd - control.text});
  for (let i = 0; i < text.length; i++) block[${control.text} + i] = text.charCodeAt(i);
  block[${control.trapLength}] = text.length;
  Atomics.store(block, ${control.trap}, 1);
}

function follow() {
  for (;;) {
    waitWhile(${control.generation}, seen);
    seen = Atomics.load(block, ${control.generation});
    const program = block[${control.program}];
    if (program < 0) return;
    try {
      const stack = block[${control.stack}] + index * block[${control.stride}];
      doPart(programs.get(program), block, ${control.call}, index, stack);
    } catch (error) {
      trap(error);
    }
    if (Atomics.sub(block, ${control.left}, 1) > 1) continue;
    Atomics.notify(block, ${control.left});
    if (Atomics.load(block, ${control.tell})) post({ is: "done" });
  }
}

function lead({ program, words, stack, stride, timed }) {
  const entries = programs.get(program);
  const times = [];
  for (let at = 0; at < words.length; at += ${word.args} + words[at + ${word.argc}]) {
    const start = timed ? performance.now() : 0;
    const shared = words[at + ${word.parts}] > 1;
    if (shared) {
      block.set(words.subarray(at, at + ${word.args} + words[at + ${word.argc}]), ${control.call});
      block[${control.program}] = program;
      block[${control.stack}] = stack;
      block[${control.stride}] = stride;
      Atomics.store(block, ${control.left}, threads - 1);
      Atomics.add(block, ${control.generation}, 1);
      Atomics.notify(block, ${control.generation});
    }
    try {
      doPart(entries, words, at, index, stack);
    } catch (error) {
      trap(error);
    }
    for (let left; shared && (left = Atomics.load(block, ${control.left})) > 0; ) waitWhile(${control.left}, left);
    if (Atomics.load(block, ${control.trap})) return post({ is: "trap", entry: words[at + ${word.entry}] });
    if (timed) times.push(performance.now() - start);
  }
  post({ is: "ran", times });
}

function receive(message) {
  if (message.is === "start") ({ block, memory, index, threads, leads } = message);
  for (const id of message.drop ?? []) programs.delete(id);
  if (message.is === "run") return lead(message);
  if (message.is === "load") {
    try {
      const { exports } = new WebAssembly.Instance(message.module, { env: { memory }, Math });
      programs.set(message.program, message.entries.map((name) => exports[name]));
    } catch (error) {
      return post({ is: "failed", message: String(error) });
    }
  }
  post({ is: "ready" });
  if (message.is === "load" && !leads) follow();
}

if (node) node.on("message", receive);
else self.onmessage = ({ data }) => receive(data);
`;
