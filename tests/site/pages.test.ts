/** Pages of the site in a browser: they load nothing from elsewhere, log nothing, and lead on. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest } from "../support/browser.ts";
import { picture, visit } from "./serve.ts";

browserTest("the first page leads to playground, tasks and inspector picture", async () => {
  await visit("index.html", async (page) => {
    assert.is(await page.locator("img").evaluateAll((all) => all.length), 4);
    await picture(page, "landing");
    await page.click("text=Ten first tasks");
    assert.is(await page.textContent("h1"), "Ten first tasks");
    await page.click("text=a training loop");
    assert.match(page.url(), /guide\.html#a-training-loop$/);
    await picture(page, "guide");
  });
});

browserTest("figures are shown as they were kept", async () => {
  await visit("numbers.html", async (page) => {
    assert.ok((await page.locator("table.figures tr").count()) > 40);
    await picture(page, "numbers");
  });
});

test.run();
