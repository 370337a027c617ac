/** `openModel` in a page: from a URL, in a worker of the page, and again without a network. */
import { type Artifact, encodeArtifact, packArtifact } from "@kiln-ml/artifact";
import { compile, nn, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, type Site, withPage } from "../support/browser.ts";

nn.seed(4);
const net = new nn.Linear(3, 2);
const classify = compile(({ x }: { x: Tensor }) => ({ y: net.forward(x) }), {
  inputs: [{ x: ["N", 3] }],
  target: "js",
});
const rows = [1, 2, 3, -1, 0, 1];
const wanted = async (): Promise<number[]> => [
  ...(await (await classify({ x: { data: Float32Array.from(rows), shape: [2, 3] } })).y.data()),
];

const page = `
import { openModel } from "kiln-ml/model";
globalThis.open = async (source, options = {}) => {
  try {
    const phases = [];
    const model = await openModel(source, { ...options, onProgress: (p) => phases.push(p.phase) });
    const { y } = await model.run({ x: Float32Array.from([${rows}]) });
    await model.dispose();
    return { target: model.target, y: [...y.data], phases: [...new Set(phases)] };
  } catch (error) { return error.name + ": " + error.message; }
};
globalThis.ready = true;`;

async function siteOf(artifact: Artifact): Promise<Site> {
  const { files } = pageOf(await bundleForPage({ text: page }));
  const worker = await bundleForPage({ text: 'import "kiln-ml/model-worker";' });
  const folder = [...encodeArtifact(artifact)].map(([n, b]) => [`/many/${n}`, b] as const);
  return {
    files: {
      ...files,
      "/worker.js": worker,
      "/net.kiln": packArtifact(artifact),
      ...Object.fromEntries(folder),
    },
  };
}

interface Opened {
  readonly target: string;
  readonly y: readonly number[];
  readonly phases: readonly string[];
}
type Open = (source: string, options?: object) => Promise<Opened | string>;

browserTest("from a URL, in a worker too, and from the cache when the server is gone", async () => {
  const want = await wanted();
  await withPage(await siteOf(await classify.artifact({ target: "wasm" })), async (tab) => {
    await tab.waitForFunction(() => "ready" in globalThis);
    const open = (source: string, options: object = {}) =>
      tab.evaluate(
        ([s, o]) => (globalThis as unknown as { open: Open }).open(s as string, o as object),
        [source, options] as const,
      );
    const agrees = (got: Opened | string): void => {
      assert.is(typeof got, "object", String(got));
      const { y, target } = got as Opened;
      assert.is(target, "wasm");
      for (const [i, v] of y.entries()) assert.ok(Math.abs(v - want[i]!) < 1e-5, `${y}`);
    };
    agrees(await open("net.kiln"));
    agrees(await open("/many"));
    const inWorker = await open("net.kiln", { worker: "worker.js", cache: true });
    agrees(inWorker);
    assert.equal((inWorker as Opened).phases, ["fetch", "load", "ready"]);
    await tab.context().setOffline(true);
    agrees(await open("net.kiln", { cache: true }));
    assert.match(
      String(await open("net.kiln")),
      /^ArtifactError: loadFromUrl: .* cannot be fetched/,
    );
  });
});

browserTest("a worker whose script is not there says so", async () => {
  await withPage(await siteOf(await classify.artifact({ target: "js" })), async (tab) => {
    await tab.waitForFunction(() => "ready" in globalThis);
    const text = await tab.evaluate(() =>
      (globalThis as unknown as { open: Open }).open("net.kiln", { worker: "none.js" }),
    );
    assert.is(
      text,
      "DeviceError: openModel: the worker ended: its script cannot be loaded\n  its script imports kiln-ml/model-worker; a page's policy names it in worker-src",
    );
  });
});

test.run();
