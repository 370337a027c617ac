/** The runtime in a page: WebGPU through `navigator.gpu`, and the CPU under a policy without `new Function`. */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

const program = (open: string, target: string, kernels: string) => `
import { createCpuDevice, load, openWebGpu } from "@kiln-ml/runtime";
import { addition } from "./tests/runtime/artifacts.ts";
const add = (x, y, out, n) => { for (let i = 0; i < n; i++) out[i] = x[i] + y[i]; };
async function main() {
  const device = await ${open};
  const artifact = addition("${target}");
  const program = await load(artifact, device, { states: [], kernels: ${kernels} });
  const x = Float32Array.of(1, 2, 3);
  const [sum] = await program.run([x, x]);
  return [device.kind, ...(await sum.data())];
}
globalThis.result = main().catch((error) => error.message);`;

const reopen = "\n  open a device again, and load the artifact on it";

browserTest("a page runs an artifact on WebGPU", async () => {
  const text = program("openWebGpu({ allowSoftware: true })", "webgpu", "undefined");
  await withPage(pageOf(await bundleForPage({ text })), async (page, { errors }) => {
    assert.equal(await resultOf(page), ["webgpu", 2, 4, 6]);
    assert.equal(errors, []);
  });
});

browserTest(
  "in a page, a hundred runs at once leave the right state, and a lost device ends what waits",
  async () => {
    const text = await bundleForPage({
      text: `
import { initialStates, load, openWebGpu } from "@kiln-ml/runtime";
import { accumulation } from "./tests/runtime/artifacts.ts";
async function main() {
  const device = await openWebGpu({ allowSoftware: true });
  const artifact = accumulation("webgpu");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const x = device.upload([1, 1, 1, 1], "f32", [4]);
  const results = await Promise.all(Array.from({ length: 100 }, () => program.run([x])));
  const values = await Promise.all(results.map(async ([after]) => (await after.data())[0]));
  const last = [...(await program.states[0].data())];
  const waiting = Array.from({ length: 50 }, () => program.run([x]));
  const reading = x.data();
  device.destroy();
  const ends = await Promise.allSettled([...waiting, reading]);
  const said = new Set(ends.map((e) => e.reason?.message ?? "done"));
  return [values.every((v, i) => v === i + 2), last, [...said].sort()];
}
globalThis.result = main().catch((error) => error.message);`,
    });
    await withPage(pageOf(text), async (page, { errors }) => {
      assert.equal(await resultOf(page), [
        true,
        [101, 102, 103, 104],
        [
          `data: the device was destroyed${reopen}`,
          "done",
          `run: the device was destroyed${reopen}`,
        ],
      ]);
      assert.equal(errors, []);
    });
  },
);

const strict = { "Content-Security-Policy": "default-src 'self'" };

browserTest("under a strict policy, kernels from a module run", async () => {
  const text = await bundleForPage({ text: program("createCpuDevice()", "js", "{ add }") });
  await withPage(pageOf(text, strict), async (page) => {
    assert.equal(await resultOf(page), ["cpu", 2, 4, 6]);
  });
});

browserTest("under a strict policy, kernels from text are refused with the way out", async () => {
  const text = await bundleForPage({ text: program("createCpuDevice()", "js", "undefined") });
  await withPage(pageOf(text, strict), async (page) => {
    assert.is(
      await resultOf(page),
      "load: this page forbids building functions from text\n  pass { kernels: await import(…) } with the artifact's kernels.js",
    );
  });
});

browserTest("a loop of runs on the cpu lets the page draw", async () => {
  const text = await bundleForPage({
    text: `
import { createCpuDevice, load } from "@kiln-ml/runtime";
import { addition } from "./tests/runtime/artifacts.ts";
async function main() {
  let tasks = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { tasks += 1; port2.postMessage(null); };
  port2.postMessage(null);
  const program = await load(addition("js"), createCpuDevice(), { states: [] });
  const x = new Float32Array(10);
  const start = performance.now();
  // A loop that never lets the page go on sees no task however long it runs.
  while (tasks < 3 && performance.now() - start < 20_000) (await program.run([x, x]))[0].dispose();
  port1.close();
  return tasks >= 3;
}
globalThis.result = main().catch((error) => error.message);`,
  });
  await withPage(pageOf(text), async (page) => {
    assert.is(await resultOf(page), true);
  });
});

browserTest("a page without WebGPU is told so", async () => {
  const text = await bundleForPage({
    text: `import { openWebGpu } from "@kiln-ml/runtime";
Object.defineProperty(navigator, "gpu", { value: undefined });
globalThis.result = openWebGpu().catch((error) => error.message);`,
  });
  await withPage(pageOf(text), async (page) => {
    assert.is(
      await resultOf(page),
      "openWebGpu: this browser has no WebGPU, or the page is not served over https\n  use createCpuDevice()",
    );
  });
});

test.run();
