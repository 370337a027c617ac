/** The whole of Kiln in a page: trains on WebGPU, on js and on wasm with threads and without. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  browserTest,
  bundleForPage,
  isolated,
  pageOf,
  resultOf,
  withPage,
} from "../support/browser.ts";

const text = `
import { compile, nn, optim, setDefaultTarget, useDevice } from "kiln-ml";
import { openWebGpu } from "@kiln-ml/runtime";

const rows = Array.from({ length: 8 }, (_, i) => [Math.sin(i), Math.cos(i), i / 8, 1 - i / 8]);
const labels = Int32Array.from(rows, (r) => (r[0] > 0 ? 1 : 0) + (r[2] > 0.5 ? 1 : 0));

async function train(target) {
  nn.seed(7);
  const net = new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU(), new nn.Linear(8, 3));
  const opt = new optim.SGD(net.parameters(), { lr: 0.5, momentum: 0.9 });
  const step = compile((x, y) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  }, { target });
  const losses = [];
  for (let i = 0; i < 20; i++) losses.push(await (await step(rows, labels)).item());
  return losses;
}

async function main() {
  useDevice(await openWebGpu({ allowSoftware: true }));
  return { webgpu: await train("webgpu"), js: await train("js") };
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));`;

browserTest("a page trains a network on WebGPU and on js, to the same losses", async () => {
  await withPage(pageOf(await bundleForPage({ text })), async (page, { errors }) => {
    const result = (await resultOf(page)) as Record<"js" | "webgpu", number[]>;
    assert.type(result, "object", String(result));
    const { js, webgpu } = result;
    assert.is(js.length, 20);
    assert.ok(js[19]! < js[0]! / 2, `${js}`);
    for (const [i, loss] of js.entries())
      assert.ok(Math.abs(loss - webgpu[i]!) <= 1e-3 * loss, `js ${js}, webgpu ${webgpu}`);
    assert.equal(errors, []);
  });
});

const onWasm = `
import { compile, nn, optim, sessionFor, setThreads } from "kiln-ml";

// Large enough that the threads share the kernels.
const [batch, width] = [96, 128];
const rows = { data: Float32Array.from({ length: batch * width }, (_, i) => Math.sin(i * i)), shape: [batch, width] };
const labels = Int32Array.from({ length: batch }, (_, i) => i % 5);

async function main() {
  setThreads(2);
  nn.seed(7);
  const net = new nn.Sequential(new nn.Linear(width, 160), new nn.GELU(), new nn.Linear(160, 5));
  const opt = new optim.Adam(net.parameters(), { lr: 0.01 });
  const step = compile((x, y) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  }, { target: "wasm" });
  const losses = [];
  for (let i = 0; i < 6; i++) losses.push(await (await step(rows, labels)).item());
  const weights = [];
  for (const p of net.parameters()) weights.push([...new Int32Array((await p.data()).buffer)]);
  return { name: (await sessionFor("wasm")).device.name, losses, weights };
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));`;

interface Trained {
  readonly name: string;
  readonly losses: number[];
  readonly weights: number[][];
}

browserTest(
  "an isolated page trains on two threads, a plain one on one, to the same bits",
  async () => {
    const script = await bundleForPage({ text: onWasm });
    const train = async (headers: Readonly<Record<string, string>>): Promise<Trained> => {
      let result: unknown;
      await withPage(pageOf(script, headers), async (page, { errors }) => {
        result = await resultOf(page);
        assert.equal(errors, []);
      });
      assert.type(result, "object", String(result));
      return result as Trained;
    };
    const [two, one] = [await train(isolated), await train({})];
    assert.match(two.name, /^wasm \(relaxed simd, 2 threads\)$/);
    assert.match(
      one.name,
      /^wasm \(relaxed simd, 1 thread: the page is not cross-origin isolated\)$/,
    );
    assert.equal(one.losses, two.losses);
    assert.equal(one.weights, two.weights);
    assert.ok(one.losses[5]! < one.losses[0]! / 2, `${one.losses}`);
  },
);

test.run();
