/** Memory over many steps: nothing is disposed of by hand, and nothing grows. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { compile, nn, optim, sessionFor, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { labels, Net, rows } from "./net.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects, and lets finalizers run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test("2000 training steps keep device memory flat", async () => {
  const { device } = await sessionFor("js");
  const net = new Net();
  const opt = new optim.Adam(net.parameters(), { lr: 0.01 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return { loss };
    },
    { target: "js" },
  );
  const x = tensor(rows(8));
  const y = tensor(labels(8));
  const live: number[] = [];
  for (let i = 0; i < 2000; i++) {
    const { loss } = await step(x, y);
    if (i % 200 === 0) {
      await loss.item();
      await settle();
      live.push(device.memory().live);
    }
  }
  const late = live.slice(2);
  assert.ok(Math.max(...late) <= Math.max(...live.slice(0, 2)) * 1.25, live.join(" "));
  assert.is(step.compiles, 1);
});

test("eager values give their memory back when they are collected", async () => {
  const { device } = await sessionFor("js");
  const run = async (n: number): Promise<number> => {
    for (let i = 0; i < n; i++) await tensor(new Float32Array(4096)).add(i).data();
    await settle();
    return device.memory().live;
  };
  const first = await run(10);
  const second = await run(100);
  // One array of 16 kB may still be waiting for its finalizer.
  assert.ok(second <= first + 5 * 16384, `${second} after ${first}`);
});

test("dispose gives memory back at once", async () => {
  const { device } = await sessionFor("js");
  const f = compile((x: Tensor) => x.add(1), { target: "js" });
  const big = await f(new Float32Array(100_000));
  const before = device.memory().live;
  big.dispose();
  assert.ok(device.memory().live <= before - 400_000);
});

test.run();
