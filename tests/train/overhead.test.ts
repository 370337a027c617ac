/**
 * What `fit` does at a step beyond a loop by hand, in counts: promises, timers, reads, kernels,
 * programs. Times are the bench's (`npm run bench -- --train`).
 */
import { createHook } from "node:async_hooks";
import { compile, data, nn, setDefaultTarget, Tensor } from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { settings } from "../../packages/kiln/src/devices/settings.ts";
import { adam, classifier, inFolder, points, quiet } from "./samples.ts";

test.before(() => setDefaultTarget("js"));
test.after(() => setDefaultTarget("auto"));

const steps = 400;
const loader = () => new data.DataLoader(points(4 * steps), { batch: 4, shuffle: true });

/** A loop by hand over the model that `fit` is given. */
function loopByHand(target?: "js" | "wasm"): () => Promise<void> {
  const net = classifier();
  const optimizer = adam()(net.parameters());
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      optimizer.step(loss);
      return loss;
    },
    { name: "byHand", inputs: [[4, 2], { shape: [4], dtype: "i32" }], ...(target && { target }) },
  );
  return async () => {
    for await (const [x, y] of loader()) await step(x as Float32Array, y as Int32Array);
  };
}

type Counts = Record<string, number>;

/** Counts asynchronous resources by kind between `start` and `end`. */
function counter() {
  const counts: Counts = {};
  const hook = createHook({
    init(_, kind) {
      counts[kind] = (counts[kind] ?? 0) + 1;
    },
  });
  return { start: () => hook.enable(), end: () => hook.disable(), counts };
}

/** Promises of an epoch by hand. */
async function byHand(): Promise<number> {
  const loop = loopByHand();
  await loop();
  const { start, end, counts } = counter();
  start();
  await loop();
  end();
  return counts.PROMISE!;
}

/** What an epoch costs `fit` with these callbacks: compiling and the end of a run are left out. */
async function ofAnEpoch(options: Partial<train.FitOptions>): Promise<Counts> {
  const { start, end, counts } = counter();
  const between: train.Callback = {
    name: "between",
    onEpochEnd: ({ epoch }) => {
      if (epoch === 1) start();
      else end();
    },
  };
  const callbacks = [...(options.callbacks ?? []), between];
  await train.fit(classifier(), loader(), { ...quiet, ...options, callbacks, epochs: 2 });
  return counts;
}

/**
 * For the end of an epoch, where metrics are read and callbacks are told; its steps have many more.
 */
const some = steps / 2;

for (const [name, options] of [
  ["alone", () => ({})],
  ["with a renderer", () => ({ renderer: train.terminal({ out: { write() {} } }) })],
  ["with a guard against NaN", () => ({ callbacks: [train.nanGuard({ every: 10_000 })] })],
  ["with three that watch", () => ({ callbacks: [watcher(), watcher(), watcher()] })],
] as const)
  test(`fit ${name} makes no promise at a step that a loop by hand does not`, async () => {
    const { PROMISE = 0, Immediate = 0, Timeout = 0 } = await ofAnEpoch(options());
    const extra = PROMISE - (await byHand());
    assert.ok(extra < some, `${extra} promises more in ${steps} steps`);
    assert.ok(Immediate + Timeout < some, `${Immediate} turns and ${Timeout} timers`);
  });

/** A callback that gives no promise. */
const watcher = (): train.Callback => ({ name: "watcher", onStepEnd: () => undefined });

test("fit with files makes no promise at a step that it writes nothing at", () =>
  inFolder(async (folder) => {
    const files = [train.tensorBoard(folder), train.checkpoint(folder, { every: 10_000 })];
    const { PROMISE = 0 } = await ofAnEpoch({ callbacks: files });
    // A checkpoint reads all state, and is written in several calls.
    const extra = PROMISE - (await byHand());
    assert.ok(extra < 2 * some, `${extra} promises more in ${steps} steps`);
  }));

test("fit reads nothing at a step: an epoch of 4 times the steps has as many reads", async () => {
  const { data: read } = Tensor.prototype;
  let reads = 0;
  Tensor.prototype.data = function (this: Tensor) {
    reads++;
    return read.call(this);
  } as typeof read;
  try {
    const readsOf = async (count: number) => {
      reads = 0;
      await train.fit(classifier(), new data.DataLoader(points(count), { batch: 4 }), {
        ...quiet,
        metrics: [train.metrics.accuracy()],
        validation: new data.DataLoader(points(8), { batch: 4 }),
        callbacks: [train.nanGuard({ every: 1000 })],
        epochs: 3,
      });
      return reads;
    };
    const few = await readsOf(40);
    assert.ok(few > 0);
    assert.is(await readsOf(160), few);
  } finally {
    Tensor.prototype.data = read;
  }
});

for (const target of ["js", "wasm"] as const)
  test(`${target}: a step of fit is one program, with no more kernels than the loop by hand`, async () => {
    const ran: Record<string, { runs: number; kernels: number }> = {};
    settings.profile = (program, timings) => {
      const found = ran[program] ?? { runs: 0, kernels: 0 };
      ran[program] = { runs: found.runs + 1, kernels: timings.length };
    };
    try {
      await loopByHand(target)();
      await train.fit(classifier(), loader(), { ...quiet, target });
    } finally {
      delete settings.profile;
    }
    assert.is(ran.train!.runs, steps);
    assert.ok(ran.train!.kernels <= ran.byHand!.kernels, JSON.stringify(ran));
    const others = Object.entries(ran).filter(([name]) => name !== "train" && name !== "byHand");
    assert.ok(
      others.every(([, { runs }]) => runs <= 2),
      JSON.stringify(ran),
    );
  });

test("a callback may return anything: what is no promise is not waited for", async () => {
  const seen: string[] = [];
  const returns = (value: unknown): train.Callback => ({
    name: String(value),
    onStepEnd: (() => {
      seen.push(String(value));
      return value;
    }) as never,
  });
  const late: train.Callback = {
    name: "late",
    async onStepEnd() {
      await new Promise((resolve) => setTimeout(resolve, 1));
      seen.push("late");
    },
  };
  await train.fit(classifier(), new data.DataLoader(points(4), { batch: 4 }), {
    ...quiet,
    callbacks: [returns(7), late, returns("text"), returns({ then: 1 })],
  });
  assert.equal(seen, ["7", "late", "text", "[object Object]"]);
});

test.run();
