/**
 * The threads of a wasm device: the control block they share, and a worker's whole program as text,
 * so that it needs neither a bundler nor a loader. A worker does parts of calls; the first of a
 * page's workers hands them out as well.
 */
import {
  argcAt,
  argsAt,
  entryAt,
  noPart,
  partBits,
  partsAt,
  piecesAt,
  unitsAt,
} from "./wasm-words.ts";

/**
 * Words of the control block. `generation` goes up with each call handed out. `claim` is the number
 * of the call, and in its last bits the next part that nobody has; whoever counts it up has the
 * part. `left` counts parts not done, `tell` asks whoever does the last one for a message, a
 * negative `program` sends workers to their messages. Words that are written while others wait are
 * a cache line apart.
 */
export const control = {
  generation: 0,
  claim: 32,
  left: 64,
  tell: 65,
  trap: 66,
  trapLength: 67,
  program: 96,
  stack: 97,
  stride: 98,
  call: 99,
  /** WebAssembly allows 1,000 parameters. */
  text: 99 + argsAt + 1000,
  textEnd: 99 + argsAt + 1000 + 200,
} as const;

/**
 * How long a thread looks for news before it sleeps: longer than what separates two calls of a run.
 */
export const spinMs = 0.05;

/**
 * In `help`, a thread that comes late finds the call over, and may have read words of the next one:
 * then the claim fails.
 */
const program = `
const post = (message) => (node ?? self).postMessage(message);
const programs = new Map();
let block, memory, index, threads, leads;
let seen = 0;

function doPart(entries, words, at, part, stack) {
  const units = words[at + ${unitsAt}];
  const parts = words[at + ${partsAt}];
  const from = Math.floor((units * part) / parts);
  const length = Math.floor((units * (part + 1)) / parts) - from;
  const pieces = Math.min(words[at + ${piecesAt}], length);
  const first = at + ${argsAt};
  const args = Array.from(words.subarray(first, first + words[at + ${argcAt}]));
  const call = entries[words[at + ${entryAt}]];
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

function help() {
  const first = Atomics.load(block, ${control.claim});
  const program = programs.get(block[${control.program}]);
  const stack = block[${control.stack}] + index * block[${control.stride}];
  const words = block.slice(${control.call}, ${control.call + argsAt} + block[${control.call + argcAt}]);
  let claim = first;
  while (claim >> ${partBits} === first >> ${partBits} && (claim & ${noPart}) < words[${partsAt}]) {
    const found = Atomics.compareExchange(block, ${control.claim}, claim, claim + 1);
    if (found === claim) {
      try {
        doPart(program, words, 0, claim & ${noPart}, stack);
      } catch (error) {
        trap(error);
      }
      if (Atomics.sub(block, ${control.left}, 1) === 1) {
        Atomics.notify(block, ${control.left});
        if (Atomics.load(block, ${control.tell})) post({ is: "done" });
      }
      claim = Atomics.load(block, ${control.claim});
    } else claim = found;
  }
}

function follow() {
  for (;;) {
    waitWhile(${control.generation}, seen);
    seen = Atomics.load(block, ${control.generation});
    if (block[${control.program}] < 0) return;
    help();
  }
}

function handOut(words, program, stack, stride) {
  const call = (Atomics.load(block, ${control.claim}) >> ${partBits}) + 1;
  Atomics.store(block, ${control.claim}, (call << ${partBits}) | ${noPart});
  block.set(words, ${control.call});
  block[${control.program}] = program;
  block[${control.stack}] = stack;
  block[${control.stride}] = stride;
  Atomics.store(block, ${control.left}, words[${partsAt}]);
  Atomics.store(block, ${control.claim}, call << ${partBits});
  Atomics.add(block, ${control.generation}, 1);
  Atomics.notify(block, ${control.generation});
}

function lead({ program, words, stack, stride, timed }) {
  const times = [];
  for (let at = 0; at < words.length; at += ${argsAt} + words[at + ${argcAt}]) {
    const start = timed ? performance.now() : 0;
    if (words[at + ${partsAt}] > 1) {
      handOut(words.subarray(at, at + ${argsAt} + words[at + ${argcAt}]), program, stack, stride);
      help();
      for (let left; (left = Atomics.load(block, ${control.left})) > 0; ) waitWhile(${control.left}, left);
    } else {
      try {
        doPart(programs.get(program), words, at, 0, stack);
      } catch (error) {
        trap(error);
      }
    }
    if (Atomics.load(block, ${control.trap})) return post({ is: "trap", entry: words[at + ${entryAt}] });
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
      seen = Atomics.load(block, ${control.generation});
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

/** A thread of Node or of a page. */
export const workerSource = `"use strict";
const node = typeof require === "function" ? require("node:worker_threads").parentPort : null;
${program}`;

/** A page's, as a module without imports: what the build writes into `wasm-worker.js`. */
export const pageWorkerSource = `const node = null;\n${program}`;
