/**
 * `npm run fuzz -- --ops …`: models of one node against ONNX Runtime; see `ops/front.ts`.
 *
 * `npm run fuzz -- --readers [--count N] [--seed S] [--only NAME] [--case NAME:INDEX]`: every reader of files against
 * damaged and made-up ones. Each input must be read, or refused with an error of ours that names the file and the place, in
 * bounded time and memory; the first that is not is printed with how to run it again, and the command fails.
 */

import { Worker } from "node:worker_threads";
import { flagsOf } from "../../packages/tools/src/flags.ts";
import { onnxRuntime } from "../support/onnxruntime.ts";
import { readers } from "./readers.ts";
import { headOf, rowOf, type Tally, totalOf } from "./tally.ts";
import type { Job } from "./worker.ts";

const { values } = flagsOf("npm run fuzz --", {
  options: {
    readers: { type: "boolean" },
    ops: { type: "boolean" },
    lenient: { type: "boolean" },
    first: { type: "string", default: "0" },
    count: { type: "string" },
    seed: { type: "string" },
    only: { type: "string", multiple: true },
    case: { type: "string" },
  },
});

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

const seed = Number(values.seed ?? Date.now() % 1_000_000);
const total = Number(values.count ?? (values.ops ? 5000 : 104_000));
if (values.ops) await runOps();
const [caseName, caseIndex] = values.case?.split(":") ?? [];
const only = caseName ? [caseName] : values.only;
const chosen = readers.filter((r) => !only || only.includes(r.name));
if (!values.readers && !values.case) fail("fuzz: say --readers or --ops");
if (!Number.isSafeInteger(seed) || !(total > 0)) fail("fuzz: --seed and --count are numbers");
if (chosen.length === 0)
  fail(`fuzz: no reader ${only?.join(", ")}; there are ${readers.map((r) => r.name).join(", ")}`);

async function runOps(): Promise<never> {
  if (!onnxRuntime()) {
    console.log("ops: skipped, onnxruntime-node is not installed: npm run conformance installs it");
    process.exit(0);
  }
  const { fuzzOps } = await import("./ops/front.ts");
  const { lenient = false } = values;
  const only = values.only?.flatMap((list) => list.split(","));
  const options = { seed, count: total, only, first: Number(values.first), lenient };
  const agrees = await fuzzOps(options).catch((error: Error) => fail(error.message));
  process.exit(agrees ? 0 : 1);
}

/** An input that takes this long hangs, on a machine that is busy too: the first one waits for the thread to start. */
const hangMs = 120_000;

const again = (name: string, index: number) =>
  `npm run fuzz -- --seed ${seed} --case ${name}:${index}`;

function runReader(name: string, count: number, first: number): Promise<Tally> {
  const at = new SharedArrayBuffer(4);
  const place = new Int32Array(at);
  const job: Job = { name, seed, count, first, at };
  // A thread does not take over how this one reads TypeScript.
  const url = new URL("./worker.ts", import.meta.url).href;
  const script = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(url)}); });`;
  const worker = new Worker(script, {
    eval: true,
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });
  return new Promise((resolve, reject) => {
    let [last, since] = [-1, Date.now()];
    const watch = setInterval(() => {
      const index = Atomics.load(place, 0);
      if (index !== last) [last, since] = [index, Date.now()];
      else if (Date.now() - since > hangMs) void worker.terminate();
    }, 500);
    worker.on("message", resolve);
    worker.on("error", reject);
    worker.on("exit", () => {
      clearInterval(watch);
      const index = Atomics.load(place, 0);
      reject(new Error(`input ${index} did not come to an end\n  ${again(name, index)}`));
    });
  });
}

const each = caseName ? 1 : Math.ceil(total / chosen.length);
console.log(`seed ${seed}\n${headOf()}`);
const tallies: Tally[] = [];
for (const { name } of chosen) {
  const first = Number(caseIndex ?? 0);
  const tally = await runReader(name, each, first).catch((error: Error) =>
    fail(`${name}: ${error.message}`),
  );
  tallies.push(tally);
  console.log(rowOf(tally));
  const { fault } = tally;
  if (fault)
    fail(
      `${name}: input ${fault.index}, ${fault.kind}: ${fault.what}\n  ${again(name, fault.index)}`,
    );
}
console.log(rowOf(totalOf(tallies)));
