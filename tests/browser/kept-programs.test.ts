/**
 * Programs that a page keeps between visits: the second compiles nothing, what is damaged is
 * compiled anew and put right, another build finds none, and a page without a place for them works.
 */
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

const text = (build: string) => `
import { compile, nn, optim } from "kiln-ml";
import { cacheCounts } from "./packages/kiln/src/cache/compile-once.ts";
globalThis.KILN_BUILD = ${JSON.stringify(build)};

async function main() {
  nn.seed(3);
  const net = new nn.Linear(4, 3);
  const opt = new optim.Adam(net.parameters(), { lr: 0.1 });
  const step = compile((x, y) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  }, { target: "wasm" });
  const x = [[1, 2, 3, 4], [4, 3, 2, 1]];
  const losses = [];
  for (let i = 0; i < 3; i++) losses.push(await (await step(x, Int32Array.of(0, 2))).item());
  const cache = await caches.open("kiln-programs").catch(() => undefined);
  return { losses, counts: cacheCounts(), kept: (await cache?.keys())?.length ?? 0 };
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));`;

interface Visit {
  readonly losses: number[];
  readonly counts: { compiled: number; fromMemory: number; fromStore: number };
  readonly kept: number;
}

async function visit(page: Page): Promise<Visit> {
  const result = await resultOf(page);
  assert.type(result, "object", String(result));
  return result as Visit;
}

/** Changes each kept program, as a disk or another page might. */
const damage = (page: Page, how: "flip" | "cut") =>
  page.evaluate(async (kind) => {
    const cache = await caches.open("kiln-programs");
    for (const request of await cache.keys()) {
      const bytes = new Uint8Array(await (await cache.match(request))!.arrayBuffer());
      if (kind === "flip") bytes[bytes.length - 1]! ^= 1;
      const left = kind === "cut" ? bytes.slice(0, 100) : bytes;
      await cache.put(request, new Response(left));
    }
  }, how);

browserTest(
  "the second visit compiles nothing, and one with damaged entries puts them right",
  async () => {
    const site = pageOf(await bundleForPage({ text: text("a build") }));
    const other = await bundleForPage({ text: text("another build") });
    const html = String(site.files["/index.html"]).replace("/main.js", "/other.js");
    const files = { ...site.files, "/other.js": other, "/other.html": html };
    await withPage({ files }, async (page, { url, errors }) => {
      const first = await visit(page);
      const programs = first.counts.compiled;
      assert.ok(programs > 0);
      assert.is(first.counts.fromStore, 0);
      assert.is(first.kept, programs);
      await page.reload();
      const second = await visit(page);
      assert.equal(second.counts, { compiled: 0, fromMemory: 0, fromStore: programs });
      assert.equal(second.losses, first.losses);
      for (const how of ["flip", "cut"] as const) {
        await damage(page, how);
        await page.reload();
        const mended = await visit(page);
        assert.equal(mended.counts, { compiled: programs, fromMemory: 0, fromStore: 0 }, how);
        assert.equal(mended.losses, first.losses);
        assert.is(mended.kept, programs);
        await page.reload();
        assert.is((await visit(page)).counts.fromStore, programs, how);
      }
      await page.goto(`${url}other.html`);
      const apart = await visit(page);
      assert.equal(apart.counts, { compiled: programs, fromMemory: 0, fromStore: 0 });
      assert.equal(errors, []);
    });
  },
);

browserTest("a page whose browser gives no place compiles each time, and runs", async () => {
  const refusing = 'caches.open = () => Promise.reject(new Error("no room"));\n';
  const script = refusing + (await bundleForPage({ text: text("a build") }));
  await withPage(pageOf(script), async (page, { errors }) => {
    for (let i = 0; i < 2; i++) {
      const { losses, counts } = await visit(page);
      assert.is(losses.length, 3);
      assert.is(counts.fromStore, 0);
      assert.ok(counts.compiled > 0);
      await page.reload();
    }
    assert.equal(errors, []);
  });
});

test.run();
