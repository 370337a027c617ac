/** The pictures of the gallery's cards, 640 × 400, as Chromium shows the demos: `npm run picture`. */
import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { visit } from "./serve.ts";

const folder = "packages/site/pictures";

async function keep(page: Page, name: string, selector: string): Promise<void> {
  // What lies below the window is black in a picture.
  await page.setViewportSize({ width: 1360, height: 1400 });
  const box = (await page.locator(selector).boundingBox())!;
  // All of its width, and what is above and below it in the form of a card.
  const height = box.width / 1.6;
  const y = Math.max(0, box.y + (box.height - height) / 2);
  const clip = { x: box.x, y, width: box.width, height };
  const picture = await page.screenshot({ clip });
  writeFileSync(`${folder}/${name}.png`, picture);
  console.log(`${folder}/${name}.png, ${picture.length} bytes`);
}

const isDone = (page: Page) =>
  page.waitForFunction(() => /done|failed/.test(document.body.dataset.state ?? ""));

/** Programs fill a card with what they drew. */
const filling =
  "#figures{position:fixed!important;inset:0 auto auto 0;width:640px;height:400px;max-width:none!important;z-index:9;background:var(--paper);padding:24px!important;gap:20px!important;align-content:center!important;justify-content:center}#figures figure canvas:not(.plot){width:256px!important}#figures figure.wide{flex:1 1 100%}";
for (const name of ["picture", "circle"])
  await visit(`playground/index.html#${name}`, async (page) => {
    await page.waitForFunction(() => document.querySelector(".cm-content")?.textContent);
    await page.click("#run");
    await isDone(page);
    await page.addStyleTag({ content: `${filling}#figures figure.wide{display:none}` });
    await page.waitForTimeout(200);
    await keep(page, name, "#figures");
  });
await visit("gallery/digits.html", async (page) => {
  await isDone(page);
  await page.locator("#sheet").hover({ position: { x: 90, y: 60 } });
  await page.mouse.down();
  const box = (await page.locator("#sheet").boundingBox())!;
  for (const [x, y] of [
    [195, 60],
    [140, 120],
    [195, 180],
    [150, 228],
    [85, 205],
  ] as const)
    await page.mouse.move(box.x + x, box.y + y, { steps: 8 });
  await page.mouse.up();
  await page.waitForTimeout(300);
  await keep(page, "digits", ".bench");
});
await visit("gallery/onnx.html", async (page) => {
  await isDone(page);
  await page.addStyleTag({ content: ".pictures{width:560px}.pictures figcaption{display:none}" });
  await keep(page, "onnx", ".pictures");
});
const talk =
  ".work{max-width:none!important;padding:0!important}.drop,.bar,#say{display:none!important}#talk{flex:0 0 400px!important;width:640px;box-sizing:border-box;padding:56px 34px!important}";
await visit("gallery/chat.html", async (page) => {
  await isDone(page);
  for (const text of ["hello", "tell me about a fox"]) {
    await page.fill("#text", text);
    await page.press("#text", "Enter");
    await page.waitForFunction(() => document.body.dataset.state === "running");
    await isDone(page);
  }
  await page.addStyleTag({ content: `${talk}#model,.work h1,.work p{display:none!important}` });
  await keep(page, "chat", "#talk");
});
/** Of demos that learn, what stands around this. */
const middles = {
  gpt: "#said",
  gan: ".pair",
  unet: ".pair",
  eeg: "#traces",
  molecules: "#molecule",
} as const;
for (const [name, selector] of Object.entries(middles))
  await visit(`gallery/${name}.html`, async (page) => {
    await isDone(page);
    await keep(page, name, selector);
  });
