/**
 * Demos that learn in their page: each on wasm until it has learned what it is there for, in a page
 * whose policy lets it ask nobody else. On WebGPU, whose pipelines take a minute each demo to be
 * made in software, a worker takes its device and is stopped; that kernels run there is held by
 * `demos.test.ts` and by `tests/gpu`.
 */
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { paintedSide } from "../../packages/site/src/gallery/lab/views.ts";
import { browserTest } from "../support/browser.ts";
import { picture, visit } from "./serve.ts";

interface Lab {
  readonly name: string;
  /** Steps on wasm after which it has. */
  readonly enough: number;
  /** What it must have learned. */
  learned(page: Page): Promise<void>;
}

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.textContent(selector)) ?? "";
const numberOf = async (page: Page, selector: string): Promise<number> =>
  Number(/-?\d+(\.\d+)?/.exec(await textOf(page, selector))?.[0]);

/** Ink in the corners of the pictures of a grid, and in all of them, from 0 to 1. */
const inked = (page: Page, selector: string): Promise<{ corners: number; all: number }> =>
  page.locator(selector).evaluate(
    (canvas: HTMLCanvasElement, [side, pitch]: number[]) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      const ink = { corners: 0, all: 0 };
      const pixels = { corners: 0, all: 0 };
      for (let i = 0; i < data.length / 4; i++) {
        const x = (i % canvas.width) % pitch!;
        const y = Math.floor(i / canvas.width) % pitch!;
        if (x >= side! || y >= side!) continue;
        const isCorner = [x, y].every((p) => p < 2 || p >= side! - 2);
        for (const part of isCorner ? (["corners", "all"] as const) : (["all"] as const)) {
          ink[part] += data[4 * i + 3]! / 255;
          pixels[part]++;
        }
      }
      return { corners: ink.corners / pixels.corners, all: ink.all / pixels.all };
    },
    [paintedSide, paintedSide + 2],
  );

const labs: readonly Lab[] = [
  {
    name: "gpt",
    enough: 110,
    async learned(page) {
      assert.ok((await page.locator("#said li").count()) >= 4);
      assert.match(await textOf(page, "#said li >> nth=0"), /wood|chuck|could/);
      await page.fill("#prompt", "as much");
      await page.click("#go button");
      await page.waitForFunction(() => document.querySelector("#answer")?.textContent);
      assert.match(await textOf(page, "#answer"), /^as much.{120}$/s);
    },
  },
  {
    name: "gan",
    enough: 120,
    async learned(page) {
      // Untrained, half of the ink is everywhere; what is round leaves corners free.
      const { corners, all } = await inked(page, "#painted");
      assert.ok(corners < 0.1 && all > 2 * corners, `${corners} in corners, ${all} in all`);
    },
  },
  {
    name: "unet",
    // Its scenes are drawn at random: after 80 steps a run finds 48 to 75 % of them.
    enough: 200,
    async learned(page) {
      const overlap = await numberOf(page, "#accuracy");
      assert.ok(overlap > 60, `${overlap} % overlap`);
      assert.is(await page.locator("#scenes canvas").count(), 6);
      await page.setInputFiles("#file", {
        name: "x.png",
        mimeType: "image/png",
        buffer: Buffer.from("no picture"),
      });
      await page.getByText("x.png is no picture that this browser reads").waitFor();
    },
  },
  {
    name: "eeg",
    enough: 45,
    async learned(page) {
      const accuracy = await numberOf(page, "#accuracy");
      assert.ok(accuracy > 85, `${accuracy} % of people it never heard`);
      await page.click("#right");
      assert.is(await textOf(page, "#imagined"), "imagined: right hand");
      assert.is(await page.locator("#head .weight").count(), 8);
    },
  },
  {
    name: "molecules",
    enough: 200,
    async learned(page) {
      const error = await numberOf(page, "#accuracy");
      assert.ok(error < 12, `off by ${error} Å²`);
      assert.match(await textOf(page, "#surface"), /^\d+\.\d Å² learned, 63\.6 by the table$/);
      await page.click("text=caffeine");
      await page.getByText("61.8 by the table").waitFor();
      await page.fill("#smiles", "c1ccccc");
      assert.is(await textOf(page, "#surface"), "ring 1 is not closed");
      await page.fill("#smiles", "CC(=O)Oc1ccccc1C(=O)O");
    },
  },
];

async function trained(page: Page, target: string): Promise<void> {
  await page.waitForFunction(() => /done|failed/.test(document.body.dataset.state ?? ""));
  const state = await textOf(page, "#state");
  assert.match(state, /^step (\d+) of \1, ([\w Å²]+ -?\d+\.\d+(, )?)+$/);
  await page
    .frameLocator("#inspector")
    .getByText(new RegExp(`^${target}, \\d+ kernels$`))
    .waitFor();
}

for (const { name, enough, learned } of labs)
  browserTest(`${name} learns in its page, on wasm`, async () => {
    await visit(`gallery/${name}.html#steps=${enough}`, async (page) => {
      await trained(page, "wasm");
      await learned(page);
      await picture(page, name);
    });
  });

browserTest("a demo takes WebGPU in its worker, and leaves it for wasm when told", async () => {
  await visit("gallery/gan.html#target=webgpu&steps=2", async (page) => {
    await page.getByText("compiling for swiftshader").waitFor();
    await page.selectOption("#target", "wasm");
    await page.click("#train");
    await trained(page, "wasm");
  });
});

test.run();
