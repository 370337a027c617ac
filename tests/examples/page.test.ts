/**
 * The example that is a page: made in Node, opened in a browser, which says of digits what Node
 * said of them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, withPage } from "../support/browser.ts";
import { inFolder, runScript } from "./script.ts";

interface Samples {
  readonly labels: readonly number[];
  readonly chances: readonly number[];
}

/** Draws a line from point to point on the sheet. */
async function draw(page: Page, points: readonly (readonly [number, number])[]): Promise<void> {
  const box = (await page.locator("#sheet").boundingBox())!;
  const [first, ...rest] = points.map(([x, y]) => [box.x + x, box.y + y] as const);
  await page.mouse.move(...first!);
  await page.mouse.down();
  for (const at of rest) await page.mouse.move(...at, { steps: 6 });
  await page.mouse.up();
}

/** The shares that the page shows, of 1. */
const shares = async (page: Page): Promise<number[]> =>
  (await page.locator("#bars em").allTextContents()).map((text) => Number.parseFloat(text) / 100);

const isRead = (page: Page) =>
  page.waitForFunction(() => document.getElementById("guess")?.textContent !== "");

async function tryPage(folder: string): Promise<void> {
  const names = readdirSync(folder);
  const files = Object.fromEntries(names.map((n) => [`/${n}`, readFileSync(join(folder, n))]));
  const { labels, chances } = JSON.parse(String(files["/samples.json"])) as Samples;
  await withPage({ files }, async (page, { errors }) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.waitForFunction(() =>
      document.getElementById("state")?.textContent?.startsWith("ready"),
    );
    for (const i of labels.keys()) {
      await page.click("#clear");
      await page.locator("#samples canvas").nth(i).click();
      await isRead(page);
      for (const [digit, share] of (await shares(page)).entries())
        assert.ok(Math.abs(share - chances[10 * i + digit]!) < 1e-2, `digit ${i}: ${share}`);
    }
    await page.click("#clear");
    assert.is(await page.textContent("#guess"), "");
    await draw(page, [
      [140, 40],
      [140, 240],
    ]);
    await isRead(page);
    assert.is(await page.textContent("#guess"), "1");
    assert.equal(errors, []);
    const before = asked.length;
    await page.click("#clear");
    await draw(page, [
      [60, 60],
      [200, 60],
    ]);
    await isRead(page);
    assert.is(asked.length, before, `asked for ${asked.slice(before)}`);
    if (process.env.KILN_PICTURES)
      await page.screenshot({ path: join(process.env.KILN_PICTURES, "page.png"), fullPage: true });
  });
}

browserTest("the page says of digits what Node says, and reads what is drawn", () =>
  inFolder(async (folder) => {
    const args = ["--quick", "--samples", "2000", "--out", folder];
    const { code, out, err } = await runScript("examples/page/train.ts", args);
    assert.is(code, 0, err);
    const [, program] = /program (\d+) kB, model \d+ kB\n/.exec(out) ?? [];
    assert.ok(Number(program) < 120, `the page downloads ${program} kB before it runs`);
    await tryPage(folder);
  }),
);

test.run();
