/** The wasm device in pages: threads where the page is isolated, one thread where not, the same results. */
import type { Artifact } from "@kiln-ml/artifact";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { pageWorkerSource } from "../../runtime/src/devices/wasm-worker.ts";
import {
  browserTest,
  bundleForPage,
  isolated,
  pageOf,
  resultOf,
  withPage,
} from "../support/browser.ts";
import { elementwise, wasmKernel } from "./artifacts.ts";

/** The artifact as an expression for a page's script. */
function spelled(artifact: Artifact): string {
  const { modules, ...rest } = artifact;
  const bytes = `Uint8Array.of(${modules!.plain})`;
  return `{ ...${JSON.stringify(rest)}, modules: { plain: ${bytes}, relaxed: ${bytes} } }`;
}

/** More than a page does on its own thread. */
const long = 1e8;

const page = (body: string, options = "{ threads: 3 }") =>
  bundleForPage({
    text: `
import { createWasmDevice, load } from "@kiln-ml/runtime";
const device = createWasmDevice(${options});
const open = (artifact) => load(artifact, device, { states: [] });
const ramp = (n) => Float32Array.from({ length: n }, (_, i) => i);
async function main() {${body}}
globalThis.result = main().catch((error) => error.message);`,
  });

const running = `
  const [sine, reverse, light] = await Promise.all([
    open(${spelled(elementwise(wasmKernel("sine"), long))}),
    open(${spelled(elementwise(wasmKernel("increment reverse"), long))}),
    open(${spelled(elementwise(wasmKernel("add")))}),
  ]);
  const x = device.upload(ramp(1000), "f32", [1000]);
  const running = Array.from({ length: 20 }, async () => {
    const [y] = await reverse.run([x]);
    const [z] = await light.run([y, y]);
    return (await sine.run([z]))[0].data();
  });
  x.write(ramp(1000).fill(5));
  const late = (await light.run([x, x]))[0];
  const all = await Promise.all(running);
  const [row] = await reverse.profile([x]);
  const same = all.every((values) => values.every((v, i) => v === all[0][i]));
  return [device.name, same, all[0].length, all[0][7], (await late.data())[3], row.ms >= 0];`;
const results = page(running);

async function resultsUnder(
  headers: Readonly<Record<string, string>>,
  body = results,
  more: Readonly<Record<string, string>> = {},
) {
  let result: unknown;
  const { files } = pageOf(await body);
  await withPage({ files: { ...files, ...more }, headers: { "*": headers } }, async (open) => {
    result = await resultOf(open);
  });
  return result as unknown[];
}

const expected = (values: unknown[]) => {
  const [, same, length, seventh, late, timed] = values;
  assert.equal([same, length, late, timed], [true, 1000, 10, true]);
  assert.is(seventh, Math.fround(Math.sin(2 * 993)));
};

browserTest("an isolated page runs kernels on several threads", async () => {
  const values = await resultsUnder(isolated);
  assert.is(values[0], "wasm (relaxed simd, 3 threads)");
  expected(values);
});

browserTest("a page that is not isolated runs them on one", async () => {
  const values = await resultsUnder({});
  assert.is(values[0], "wasm (relaxed simd, 1 thread: the page is not cross-origin isolated)");
  expected(values);
});

const policy = (text: string) => ({ ...isolated, "Content-Security-Policy": text });

browserTest(
  "an isolated page that forbids blob workers runs them on one, and says why",
  async () => {
    const values = await resultsUnder(policy("default-src 'self' 'wasm-unsafe-eval'"));
    assert.match(
      String(values[0]),
      /^wasm \(relaxed simd, 1 thread: workers do not start: .*worker-src blob:/,
    );
    expected(values);
  },
);

browserTest("under such a policy, threads have a script of the page's own", async () => {
  const strict = policy("default-src 'self' 'wasm-unsafe-eval'");
  const text = (path: string) =>
    page(running, `{ threads: 3, threadScript: ${JSON.stringify(path)} }`);
  const threads = { "/threads.js": pageWorkerSource };
  const values = await resultsUnder(strict, text("/threads.js"), threads);
  assert.is(values[0], "wasm (relaxed simd, 3 threads)");
  expected(values);
  const none = await resultsUnder(strict, text("/none.js"));
  assert.is(
    none[0],
    "wasm (relaxed simd, 1 thread: workers do not start: a worker ended: /none.js cannot be loaded: it is not there, or the page's policy lacks it in worker-src)",
  );
});

browserTest("a page that forbids WebAssembly is told the way out", async () => {
  assert.is(
    await resultsUnder(policy("default-src 'self'")),
    "load: this page forbids WebAssembly\n  add 'wasm-unsafe-eval' to script-src of its Content-Security-Policy",
  );
});

const trap = page(`
  const trap = await open(${spelled(elementwise(wasmKernel("trap"), long))});
  const run = () => trap.run([ramp(10).fill(9, 0, 1)]).catch((error) => error.message.split("\\n")[0]);
  return [await run(), await run(), (await device.lost).reason];`);

browserTest("a trap in a page's worker names the kernel, and the device is lost", async () => {
  const why = "run: the device is lost: kernel trap trapped: unreachable";
  assert.equal(await resultsUnder(isolated, trap), [why, why, "unknown"]);
});

browserTest("a page's own worker runs kernels on several threads", async () => {
  const text = `${await results}\nglobalThis.result.then(postMessage);`;
  const files = {
    ...pageOf(`
const worker = new Worker("/worker.js", { type: "module" });
globalThis.result = new Promise((resolve) => {
  worker.onmessage = ({ data }) => resolve(data);
});`).files,
    "/worker.js": text,
  };
  await withPage({ files, headers: { "*": isolated } }, async (open) => {
    const values = (await resultOf(open)) as unknown[];
    assert.is(values[0], "wasm (relaxed simd, 3 threads)");
    expected(values);
  });
});

const destroyed = page(`
  const slow = await open(${spelled(elementwise(wasmKernel("slow"), long))});
  setTimeout(() => device.destroy(), 10);
  return slow.run([ramp(3)]);`);

browserTest(
  "destroy while a page's workers are at work ends the run, and the page goes on meanwhile",
  async () => {
    assert.match(
      String(await resultsUnder(isolated, destroyed)),
      /^run: the device was destroyed($|\n)/,
    );
  },
);

test.run();
