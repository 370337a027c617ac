/** The whole of Kiln in a page: trains on WebGPU and on the CPU, to the same losses. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

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

test.run();
