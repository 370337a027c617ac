/**
 * `openWorker` and `serveTasks` over a channel of messages: results, reports, stages, errors, and
 * ends.
 */
import { MessageChannel, Worker } from "node:worker_threads";
import { compile, GraphError, KilnError, ones, type Tensor } from "kiln-ml";
import { type AnyTasks, openWorker, type Port, serveTasks, type WorkerLike } from "kiln-ml/worker";
import { test } from "uvu";
import * as assert from "uvu/assert";

let started = 0;
let ended = 0;

/** A worker in this thread: what goes through the channel is copied all the same. */
function startedWorker(tasks: AnyTasks): WorkerLike {
  started += 1;
  const { port1, port2 } = new MessageChannel();
  serveTasks(tasks, port1 as unknown as Port);
  return Object.assign(port2, {
    terminate: () => {
      ended += 1;
      port1.close();
      port2.close();
    },
  }) as unknown as WorkerLike;
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
const tasks = {
  double: (x: Float32Array) => x.map((v) => 2 * v),
  async count({ to }: { to: number }, { report }: { report(n: number): void }) {
    for (let i = 1; i <= to; i++) report(i);
    return "done";
  },
  async sum(x: number[]) {
    const total = compile((t: Tensor) => t.mul(3).exp().sum(), { target: "js", cache: false });
    return (await total(x)).item();
  },
  async patient(_: undefined, { signal }: { signal: AbortSignal }) {
    while (!signal.aborted) await pause(1);
    return "left off";
  },
  deaf: () => pause(60_000).then(() => "never"),
  tensor: () => ones([2]),
  fail(): never {
    throw new GraphError("fail: on purpose");
  },
};
type Tasks = typeof tasks;
const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => `resolved to ${value}`,
    (error: unknown) => error,
  );
const messageOf = async (work: Promise<unknown>): Promise<string> =>
  String(((await rejection(work)) as Error).message);

test("a task takes and gives what goes as a message, and reports in order", async () => {
  const worker = openWorker<Tasks>(startedWorker(tasks));
  assert.equal([...(await worker.call("double", Float32Array.of(1, 2)))], [2, 4]);
  const reports: unknown[] = [];
  const onReport = (n: unknown) => reports.push(n);
  assert.is(await worker.call("count", { to: 3 }, { onReport }), "done");
  assert.equal(reports, [1, 2, 3]);
  worker.end();
});

test("stages of what is compiled are told, of the program by name, to those who ask", async () => {
  const worker = openWorker<Tasks>(startedWorker(tasks));
  const stages: string[] = [];
  const programs = new Set<string>();
  const sum = await worker.call("sum", [0, 0], {
    onCompile: ({ program, stage }) => {
      programs.add(program);
      stages.push(stage);
    },
  });
  assert.is(sum, 2);
  for (const stage of ["fuse", "lower", "order", "emit"]) assert.ok(stages.includes(stage), stage);
  assert.ok(stages.indexOf("fuse") < stages.indexOf("emit"));
  assert.equal(programs.size, 1);
  worker.end();
});

test("an error keeps its name and text, and is of Kiln", async () => {
  const worker = openWorker<Tasks>(startedWorker(tasks));
  const error = (await rejection(worker.call("fail"))) as Error;
  assert.ok(error instanceof KilnError);
  assert.equal([error.name, error.message], ["GraphError", "fail: on purpose"]);
  assert.match(
    await messageOf(worker.call("tensor")),
    /^call: what tensor gives cannot go as a message: [\s\S]+\n {2}give numbers and typed arrays: await tensor\.data\(\)$/,
  );
  assert.is(
    await messageOf(worker.call("nothing" as "fail")),
    "call: the worker has no task nothing\n  its tasks are double, count, sum, patient, deaf, tensor, fail",
  );
  worker.end();
});

test("a signal ends a task at once; one that leaves off keeps its worker", async () => {
  const worker = openWorker<Tasks>(startedWorker(tasks), { patienceMs: 200 });
  const end = new AbortController();
  const waiting = rejection(worker.call("patient", undefined, { signal: end.signal }));
  await pause(5);
  const before = ended;
  end.abort(new Error("enough"));
  assert.is(((await waiting) as Error).message, "enough");
  await pause(300);
  assert.is(ended, before);
  assert.equal([...(await worker.call("double", Float32Array.of(4)))], [8]);
  worker.end();
});

test("one that hears nothing is ended with its worker, which is started anew", async () => {
  const worker = openWorker<Tasks>(() => startedWorker(tasks), { patienceMs: 20 });
  const [atFirst, endedBefore] = [started, ended];
  const end = new AbortController();
  const deaf = rejection(worker.call("deaf", undefined, { signal: end.signal }));
  const other = rejection(worker.call("deaf"));
  await pause(5);
  end.abort();
  assert.is(((await deaf) as Error).name, "AbortError");
  assert.is(
    ((await other) as Error).message,
    "openWorker: the worker was ended, as another task did not stop",
  );
  assert.is(ended, endedBefore + 1);
  assert.equal([...(await worker.call("double", Float32Array.of(5)))], [10]);
  assert.is(started, atFirst + 1);
  worker.end();
});

test("a worker that ends by itself says how, and is started anew for the next call", async () => {
  const failing = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", ({ id, task }) => {
      if (task === "exit") process.exit(3);
      if (task === "throw") throw new Error("out of luck");
      parentPort.postMessage({ id, value: "alive" });
    });`;
  const start = () => new Worker(failing, { eval: true }) as unknown as WorkerLike;
  const hint =
    "\n  its script calls serveTasks of kiln-ml/worker; a page's policy names it in worker-src";
  const [kept, single] = [openWorker(start), openWorker(start())];
  for (const [task, why] of [
    ["exit", "it exited with code 3"],
    ["throw", "out of luck"],
  ] as const) {
    const message = `openWorker: the worker ended: ${why}${hint}`;
    assert.is(await messageOf(kept.call(task)), message);
    assert.is(await kept.call("anything"), "alive");
  }
  const exited = await messageOf(single.call("exit"));
  assert.is(await messageOf(single.call("anything")), exited);
  kept.end();
});

test("a worker that was ended says so", async () => {
  const worker = openWorker<Tasks>(startedWorker(tasks));
  worker.end();
  assert.is(
    await messageOf(worker.call("double", Float32Array.of(1))),
    "openWorker: the worker was ended\n  pass a function that starts one, and it is started anew",
  );
});

test("what is no worker is refused, on both sides", () => {
  const said = (call: () => unknown): string => {
    try {
      return String(call());
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.is(
    said(() => openWorker("train.js" as never)),
    'openWorker: takes a worker, or a function that starts one\n  pass () => new Worker(url, { type: "module" })',
  );
  assert.is(
    said(() => serveTasks(tasks, {} as never)),
    "serveTasks: this is no worker\n  call it in a worker's script; in Node, pass parentPort of node:worker_threads",
  );
});

test.run();
