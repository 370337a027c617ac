// Runs test files in several processes, each file in the next one that is free. What a file prints
// is shown when it has ended, so that files do not mix; one that kills its process fails alone, and
// the others go on in a new one.

import { fork } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const worker = join(dirname(fileURLToPath(import.meta.url)), "test-worker.mjs");

/** Workers of a run: one a core, or as KILN_TEST_WORKERS says. */
export const workerCount = () =>
  Math.max(1, Math.floor(Number(process.env.KILN_TEST_WORKERS || availableParallelism()) || 1));

/** What a worker prints, both streams in order, shown from where it was last shown. */
function printed(path) {
  const fd = openSync(path, "a+");
  let shown = 0;
  return {
    fd,
    show() {
      const text = Buffer.alloc(fstatSync(fd).size - shown);
      shown += readSync(fd, text, 0, text.length, shown);
      writeAll(text);
    },
    close: () => closeSync(fd),
  };
}

function writeAll(text) {
  for (let at = 0; at < text.length; ) {
    try {
      at += writeSync(1, text, at);
    } catch (error) {
      // A pipe that is full for the moment.
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

/** Sends a message to a child; its answer, or why there is none. */
function ask(child, message) {
  return new Promise((resolve) => {
    const ended = (code, signal) => settle({ died: String(signal ?? code) });
    const settle = (answer) => {
      child.off("message", settle);
      child.off("exit", ended);
      resolve(answer);
    };
    child.once("message", settle);
    child.once("exit", ended);
    if (child.exitCode !== null || child.signalCode !== null)
      ended(child.exitCode, child.signalCode);
    else child.send(message);
  });
}

/**
 * Runs `files` (`{ name, url }`) with `count` workers after each has imported `setup`; counts,
 * skipped tests and the milliseconds of each file.
 */
export async function runPool(files, { setup, out, count, execArgv, env }) {
  const total = { passed: 0, failed: 0, skipped: [], elapsedMs: {} };
  const waiting = [...files];
  let started = 0;

  async function startWorker() {
    const output = printed(join(out, `worker-${started++}.log`));
    const stdio = ["ignore", output.fd, output.fd, "ipc"];
    const child = fork(worker, { execArgv, env, stdio });
    const { died } = await ask(child, { setup });
    if (died === undefined) return { child, output };
    output.show();
    throw new Error(`the tests' setup failed (${died})`);
  }

  function record(name, { died, passed = 0, failed = 0, skipped = [] }) {
    if (died !== undefined) console.log(`\n  FAIL ${name}\n    its process died (${died})\n`);
    total.passed += passed;
    total.failed += died === undefined ? failed : 1;
    total.skipped.push(...skipped);
  }

  async function work() {
    let now;
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      now ??= await startWorker();
      const began = performance.now();
      const answer = await ask(now.child, { file });
      total.elapsedMs[file.name] = performance.now() - began;
      now.output.show();
      record(file.name, answer);
      if (answer.died === undefined) continue;
      now.output.close();
      now = undefined;
    }
    if (!now) return;
    await ask(now.child, { end: true });
    now.output.show();
    now.output.close();
  }

  await Promise.all(Array.from({ length: Math.min(count, files.length) }, work));
  return total;
}
