/** The gallery in a browser: a network learns digits and reads what is drawn; an ONNX file is opened, run and inspected. */
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest } from "../support/browser.ts";
import { picture, visit } from "./serve.ts";

const isDone = (page: Page) =>
  page.waitForFunction(() => /done|failed/.test(document.body.dataset.state ?? ""));
const state = (page: Page) => page.textContent("#state");

/** Draws a line from point to point on the sheet, of 280 × 280. */
async function draw(page: Page, points: readonly (readonly [number, number])[]): Promise<void> {
  const box = (await page.locator("#sheet").boundingBox())!;
  const [first, ...rest] = points.map(([x, y]) => [box.x + x, box.y + y] as const);
  await page.mouse.move(...first!);
  await page.mouse.down();
  for (const at of rest) await page.mouse.move(...at, { steps: 6 });
  await page.mouse.up();
}

const seven = [
  [70, 60],
  [200, 60],
  [120, 230],
] as const;

browserTest("a network learns digits in the page, and reads one that is drawn", async () => {
  await visit("gallery/digits.html", async (page) => {
    await draw(page, seven);
    await isDone(page);
    assert.match((await state(page)) ?? "", /^step 300 of 300, loss 0\.\d+$/);
    const accuracy = Number.parseFloat((await page.textContent("#accuracy")) ?? "");
    assert.ok(accuracy > 90, `${accuracy} % of what was held back`);
    await page.waitForFunction(() => document.getElementById("guess")?.textContent === "7");
    await page.frameLocator("#inspector").locator("g.kernel").first().waitFor();
    await picture(page, "digits");
    await page.click("#clear");
    assert.is(await page.textContent("#guess"), "");
  });
});

for (const target of ["wasm", "webgpu"])
  browserTest(`an ONNX file is run on ${target}, on a picture`, async () => {
    await visit("gallery/onnx.html", async (page) => {
      await page.selectOption("#target", target);
      await page.locator("#results canvas").waitFor();
      await isDone(page);
      assert.match((await state(page)) ?? "", /ms a run/);
      assert.match(
        (await page.textContent("#results")) ?? "",
        /^sketch f32\[1, 1, 192, 192\], from 0\.\d+ to 1$/,
      );
      const frame = page.frameLocator("#inspector");
      await frame.locator("g.kernel").first().waitFor();
      assert.match((await frame.locator("header .note").textContent()) ?? "", new RegExp(target));
      await picture(page, `onnx-${target}`);
    });
  });

browserTest("a file that is no model is refused with why", async () => {
  await visit("gallery/onnx.html", async (page) => {
    await isDone(page);
    const file = { name: "x.onnx", mimeType: "", buffer: Buffer.from("not a model at all") };
    await page.setInputFiles("#file", file);
    await page.waitForFunction(() => document.body.dataset.state === "failed");
    assert.match((await state(page)) ?? "", /^ArtifactError: /);
  });
});

browserTest("the gallery leads to every demo", async () => {
  await visit("gallery/index.html", async (page) => {
    assert.ok((await page.locator("a.card").count()) >= 6);
    await picture(page, "gallery");
  });
});

test.run();
