/**
 * The chat page in a browser: the model of the site answers on wasm and on WebGPU, token by token
 * and off the page's thread, and stops when told; a file that is dropped is opened in its place.
 */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { storiesGguf, story } from "../llm/stories-gguf.ts";
import { browserTest } from "../support/browser.ts";
import { dataFolder } from "../support/data.ts";
import { skip } from "../support/skip.ts";
import { picture, visit } from "./serve.ts";

const isIn = (page: Page, state: string) =>
  page.waitForFunction(
    (wanted) => [wanted, "failed"].includes(document.body.dataset.state ?? ""),
    state,
  );
const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.textContent(selector)) ?? "";

/** Asks, and waits until the page has taken it: a short answer can be over before anyone looks. */
async function say(page: Page, text: string): Promise<void> {
  const before = await page.locator("#talk li").count();
  await page.fill("#text", text);
  await page.press("#text", "Enter");
  await page.waitForFunction((n) => document.querySelectorAll("#talk li").length > n, before);
}

const tale = /^Once there was a fox called (\w+)\. \1 lived .+ One day the fox found .+\.$/;

for (const target of ["wasm", "webgpu"])
  browserTest(`the site's model tells a story that it is asked for, on ${target}`, async () => {
    await visit(`gallery/chat.html#target=${target}`, async (page) => {
      await isIn(page, "done");
      assert.match(await textOf(page, "#model"), /^teller: 13\d,\d{3} parameters, 512 tokens/);
      await say(page, "tell me about a fox");
      await isIn(page, "done");
      assert.match(await textOf(page, "#state"), /^\d+ tokens, first after \d+ ms, \d+ tokens\/s$/);
      assert.match(await textOf(page, "#talk li >> nth=1"), tale);
      if (target === "webgpu") return;
      await say(page, "thank you");
      await isIn(page, "done");
      assert.is(await textOf(page, "#talk li >> nth=3"), "You are welcome. Shall I tell one more?");
      await picture(page, "chat");
    });
  });

browserTest("an answer grows while the page goes on, and ends when it is stopped", async () => {
  await visit("gallery/chat.html", async (page) => {
    await isIn(page, "done");
    // Every piece as it comes, and which frame came before it: frames are few on a busy machine.
    await page.evaluate(() => {
      const seen: string[] = [];
      const frames = new Set<number>();
      let frame = 0;
      const draw = (): void => {
        frame += 1;
        requestAnimationFrame(draw);
      };
      draw();
      new MutationObserver(() => {
        const told = document.querySelector("#talk li.told")?.textContent ?? "";
        seen.push(told);
        frames.add(frame);
        if (told.length > 20) document.getElementById("stop")!.click();
      }).observe(document.getElementById("talk")!, { childList: true, subtree: true });
      Object.assign(globalThis, { seen, frames });
    });
    await say(page, "a story about a hen");
    await isIn(page, "done");
    assert.match(await textOf(page, "#state"), /^\d+ tokens, stopped, first after/);
    const { seen, frames } = await page.evaluate(() => {
      const kept = globalThis as unknown as { seen: string[]; frames: Set<number> };
      return { seen: kept.seen, frames: kept.frames.size };
    });
    assert.ok(frames > 1, "the page drew nothing while the answer grew");
    const steps = [...new Set(seen)];
    assert.ok(steps.length > 4, `${steps.length} texts, each longer than the last`);
    for (const [i, text] of steps.entries()) assert.ok(text.startsWith(steps[i - 1] ?? ""));
    assert.ok((await textOf(page, "#talk li.told")).length < 120);
    await page.click("#fresh");
    assert.is(await page.locator("#talk li").count(), 0);
  });
});

browserTest("files that are no model are refused with why, and another can be opened", async () => {
  await visit("gallery/chat.html", async (page) => {
    await isIn(page, "done");
    const file = { name: "x.gguf", mimeType: "", buffer: Buffer.from("no model") };
    await page.setInputFiles("#file", file);
    await isIn(page, "failed");
    assert.match(await textOf(page, "#state"), /^\w+Error: .*x\.gguf/);
    // There is no model any more, and nothing says that there is.
    assert.is(await textOf(page, "#model"), "");
    assert.ok(await page.isDisabled("#send"));
    const folder = "packages/site/models/teller";
    const names = ["config.json", "tokenizer.json", "model.safetensors"];
    const buffers = names.map((name) => readFileSync(`${folder}/${name}`));
    await page.setInputFiles(
      "#file",
      names.map((name, i) => ({ name, mimeType: "", buffer: buffers[i]! })),
    );
    await isIn(page, "done");
    // Without its template it goes on where a text ends.
    await say(page, "Once there was a pig called");
    await isIn(page, "done");
    assert.match(await textOf(page, "#talk li"), /^Once there was a pig called [A-Z]\w+\. /);
  });
});

/** Drops the site's model as a folder, with another config.json in a folder of it. */
const dropFolder = (page: Page) =>
  page.evaluate(async () => {
    const file = (name: string, parts: BlobPart[]) => ({
      isFile: true,
      name,
      file: (give: (f: File) => void) => give(new File(parts, name)),
    });
    const folder = (name: string, list: object[]) => ({
      isFile: false,
      name,
      createReader: () => ({
        readEntries: (give: (l: object[]) => void) => give(list.splice(0, 100)),
      }),
    });
    const names = ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"];
    const own = names.map(async (name) =>
      file(name, [await (await fetch(`teller/${name}`)).arrayBuffer()]),
    );
    const deep = folder("1_Pooling", [
      file("config.json", ["{}"]),
      folder("deeper", [file("x.gguf", ["no"])]),
    ]);
    const dropped = folder("teller", [...(await Promise.all(own)), deep]);
    const dataTransfer = { items: [{ webkitGetAsEntry: () => dropped }] };
    document.body.dispatchEvent(
      Object.assign(new Event("drop", { bubbles: true }), { dataTransfer }),
    );
  });

browserTest(
  "a model that is exchanged in the middle of an answer is talked to at once",
  async () => {
    await visit("gallery/chat.html", async (page) => {
      await isIn(page, "done");
      await page.fill("#text", "a story about a hen");
      await page.click("#send");
      assert.is(await page.evaluate(() => document.activeElement?.id), "text");
      await dropFolder(page);
      await isIn(page, "done");
      assert.match(await textOf(page, "#model"), /^the model that you dropped: 13\d,\d{3}/);
      await say(page, "thank you");
      await isIn(page, "done");
      assert.is(await textOf(page, "#talk li >> nth=1"), "You are welcome. Shall I tell one more?");
    });
  },
);

const stories = "stories260K in one GGUF file tells what llama2.c does";
const folder = dataFolder("stories260K");
if (folder === undefined) skip(stories, "no data: stories260K");
else
  browserTest(stories, async () => {
    await visit("gallery/chat.html", async (page) => {
      await isIn(page, "done");
      const buffer = Buffer.from(storiesGguf(folder));
      await page.setInputFiles("#file", { name: "stories260K.gguf", mimeType: "", buffer });
      await isIn(page, "done");
      assert.match(await textOf(page, "#model"), /^stories260K\.gguf: 26\d,\d{3} parameters, 512/);
      await say(page, "Once upon a time");
      await isIn(page, "done");
      const told = await textOf(page, "#talk li");
      const common = Math.min(told.length, story.length);
      assert.ok(common > 300, `${told.length} letters were told`);
      assert.is(told.slice(0, common), story.slice(0, common));
      await picture(page, "chat-stories");
    });
  });

test.run();
