/** The inspector's page in a browser: what it shows, where links lead, how soon it stands there, and that it asks nobody. */
import type { Inspection } from "@kiln-ml/inspector";
import { inspectionPage } from "@kiln-ml/inspector/node";
import { compile, type Tensor } from "kiln-ml";
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, type Site, type Visit, withPage } from "../support/browser.ts";
import { resnetStep } from "./networks.ts";

let small: Promise<Inspection> | undefined;
const inspection = (): Promise<Inspection> => {
  small ??= resnetStep([1], 4, "js").inspect();
  return small;
};

const siteOf = async (data: Inspection): Promise<Site> => ({
  files: { "/index.html": await inspectionPage(data) },
});

const ready = (page: Page) =>
  page.waitForFunction(() => performance.getEntriesByName("kiln-inspector-ready").length > 0);

async function visit(data: Inspection, body: (page: Page, visit: Visit) => Promise<void>) {
  await withPage(await siteOf(data), async (page, at) => {
    const asked: string[] = [];
    page.on("request", (r) => asked.push(r.url()));
    await ready(page);
    await body(page, at);
    assert.equal(at.errors, []);
    assert.equal(
      asked.filter((url) => !url.startsWith(at.url)),
      [],
    );
  });
}

const title = (page: Page) => page.textContent("aside h2");

browserTest("a link leads to its kernel, with reasons, IR and text", async () => {
  const data = await inspection();
  const id = data.kernels.findIndex((_, i) => data.edges.some((e) => e.to === i));
  await visit(data, async (page) => {
    assert.match((await title(page)) ?? "", /resnet/);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `kernel-${id}`);
    await page.waitForSelector(`[data-kernel="${id}"].selected`);
    assert.match((await title(page)) ?? "", new RegExp(`^${id} ${data.kernels[id]!.name}`));
    const edge = data.edges.find((e) => e.to === id)!;
    assert.match((await page.textContent("aside .why")) ?? "", edge.why);
    assert.ok((await page.textContent("aside"))!.includes(edge.text));
    const code = (await page.textContent("aside pre")) ?? "";
    assert.is(code, data.texts[data.kernels[id]!.text]!.text.trimEnd());
  });
});

browserTest("what there is not is said, and the way back", async () => {
  await visit(await inspection(), async (page) => {
    for (const hash of ["kernel-9999", "node-x", "nonsense"]) {
      await page.evaluate((h) => {
        location.hash = h;
      }, hash);
      await page.waitForFunction(() =>
        document.querySelector("aside")?.textContent?.includes("Nothing of that name"),
      );
    }
    await page.click("aside a");
    await page.waitForFunction(() => document.querySelector("aside h2")?.textContent === "resnet");
  });
});

browserTest("views, search and kernels are reached with keys alone", async () => {
  const data = await inspection();
  await visit(data, async (page) => {
    for (const [key, view] of [
      ["k", "kernels"],
      ["m", "memory"],
      ["s", "stages"],
      ["g", "graph"],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForSelector(`nav a[data-view=${view}][aria-current=page]`);
    }
    await page.keyboard.press("n");
    await page.waitForFunction(() =>
      /^0 /.test(document.querySelector("aside h2")?.textContent ?? ""),
    );
    await page.keyboard.press("n");
    await page.waitForFunction(() =>
      /^1 /.test(document.querySelector("aside h2")?.textContent ?? ""),
    );
    await page.keyboard.press("/");
    await page.keyboard.type("convolution");
    await page.waitForSelector(".found li");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() =>
      document.querySelector("aside h2")?.textContent?.endsWith("convolution"),
    );
  });
});

browserTest("modules fold and open, by mouse and by Enter", async () => {
  await visit(await inspection(), async (page) => {
    const kernels = () => page.locator(".kernel").count();
    await page.click("text=fold");
    await page.waitForSelector(".cluster:not(.open)");
    const folded = await kernels();
    const box = page.locator(".cluster:not(.open)").first();
    await box.focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector(".cluster.open");
    await page.click("text=open all");
    await page.waitForFunction((n) => document.querySelectorAll(".kernel").length > n, folded);
  });
});

browserTest("it is light or dark as the system is, or as one asks", async () => {
  await visit(await inspection(), async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: "light" });
    const light = await paper();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await paper();
    assert.is.not(light, dark);
    await page.keyboard.press("t");
    assert.is(await paper(), light);
  });
});

browserTest("no name in a model can run in the page", async () => {
  const data = await inspection();
  const evil =
    "</script><script>globalThis.ran=1</script><img src=x onerror=globalThis.ran=1>\u2028";
  const hostile: Inspection = {
    ...data,
    name: evil,
    nodes: data.nodes.map((n) => ({ ...n, name: evil, module: evil, site: evil })),
    kernels: data.kernels.map((k) => ({ ...k, name: evil, module: evil })),
    texts: data.texts.map((t) => ({ ...t, text: evil })),
  };
  await visit(hostile, async (page) => {
    await page.evaluate(() => {
      location.hash = "kernel-0";
    });
    await page.waitForFunction(() => document.querySelector("aside pre"));
    for (const key of ["k", "m", "s", "g"]) await page.keyboard.press(key);
    assert.is(await page.evaluate(() => "ran" in globalThis), false);
  });
});

browserTest("another version is refused by name", async () => {
  const future = { ...(await inspection()), version: 99 } as unknown as Inspection;
  await withPage(await siteOf(future), async (page) => {
    assert.match(
      (await page.textContent("body > p")) ?? "",
      "This page shows inspections of version 1, and was given one of version 99.",
    );
  });
});

/** A kernel a node: rows of ops beside each other, which no module holds. */
function thousand(): Promise<Inspection> {
  const fn = (x: Tensor): Tensor => {
    let columns = Array.from({ length: 8 }, (_, i) => x.mul(i + 2));
    for (let i = 0; columns.length * i < 1000; i++)
      columns = columns.map((c, j) => c.add(columns[(j + 1) % 8]!).tanh());
    return columns.reduce((a, b) => a.add(b));
  };
  return compile(fn, { inputs: [[4]], target: "js", fusion: false, name: "thousand" }).inspect();
}

browserTest("a thousand kernels stand there within two seconds, and stay navigable", async () => {
  const data = await thousand();
  assert.ok(data.kernels.length >= 1000, String(data.kernels.length));
  await visit(data, async (page) => {
    let best = Infinity;
    for (let i = 0; i < 3; i++) {
      await page.reload();
      await ready(page);
      const [mark] = await page.evaluate(() =>
        performance.getEntriesByName("kiln-inspector-ready").map((m) => m.startTime),
      );
      best = Math.min(best, mark!);
    }
    console.log(
      `inspector: ${data.kernels.length} kernels stand there after ${Math.round(best)} ms`,
    );
    assert.ok(best < 2000, `${best} ms`);
    assert.ok((await page.locator("svg.graph g[role=button]").count()) <= 100);
    await page.evaluate(() => {
      location.hash = "kernel-777";
    });
    await page.waitForSelector('[data-kernel="777"].selected');
  });
});

test.run();
