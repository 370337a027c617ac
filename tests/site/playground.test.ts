/**
 * The playground in a browser: programs run on each target beside their inspection, stop, fail in
 * their line, and travel in links.
 */
import type { Page } from "playwright-core";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest } from "../support/browser.ts";
import { picture, visit } from "./serve.ts";

const page = "playground/index.html";

/** Puts a program into the editor and runs it. */
async function run(at: Page, program: string, target = "wasm"): Promise<void> {
  await at.selectOption("#target", target);
  await at.click(".cm-content");
  await at.keyboard.press("ControlOrMeta+a");
  await at.keyboard.insertText(program);
  await at.click("#run");
}

const settled = (at: Page) =>
  at.waitForFunction(() => /done|failed/.test(document.body.dataset.state ?? ""));
const said = (at: Page) => at.locator("#console .line").allTextContents();
const state = (at: Page) => at.evaluate(() => document.body.dataset.state);

/** The inspector's frame, once it shows something. */
async function inspected(at: Page) {
  const frame = at.frameLocator("#inspector");
  await frame.locator("g.kernel").first().waitFor();
  return frame;
}

browserTest("the first program runs on wasm, draws, and is inspected beside", async () => {
  await visit(page, async (at) => {
    await at.click("#run");
    await settled(at);
    assert.is(await state(at), "done", (await said(at)).join("\n"));
    assert.equal(await said(at), ["one step is one program: see its kernels beside"]);
    assert.is(await at.locator("#figures canvas").count(), 2);
    const frame = await inspected(at);
    assert.match((await frame.locator("header .note").textContent()) ?? "", /^wasm, \d+ kernels$/);
    const edges = await frame.locator("aside").textContent();
    assert.match(edges ?? "", /kernels/);
    await picture(at, "playground");
  });
});

const twice = `import { compile, type Tensor } from "kiln-ml";
const f = compile((x: Tensor) => x.mul(2).sum());
console.log(await (await f([1, 2, 3])).item(), { a: [1, "two"] });
`;

browserTest("a program runs on every target, and is profiled", async () => {
  await visit(page, async (at) => {
    for (const target of ["js", "wasm", "webgpu"]) {
      await run(at, twice, target);
      await settled(at);
      assert.equal(await said(at), ['12 { a: [1, "two"] }'], target);
      const frame = at.frameLocator("#inspector");
      await frame.getByText(new RegExp(`^${target}, \\d+ kernels?`)).waitFor();
      await at.click("#profile");
      await frame.getByText("in kernels, the median of 5").waitFor();
    }
  });
});

browserTest("a failure is told with the line of the program", async () => {
  await visit(page, async (at) => {
    await run(at, `import { ones } from "kiln-ml";\n\nones([2, 3]).add(ones([4, 3]));\n`);
    await settled(at);
    assert.is(await state(at), "failed");
    assert.match((await said(at)).join("\n"), /^ShapeError: add: /);
    assert.is(await at.textContent("#state"), "failed in line 3");
    assert.is(await at.locator(".cm-fault").textContent(), "ones([2, 3]).add(ones([4, 3]));");
    // What the class and the op mean is one click away, at its place.
    const more = (await at.locator("#console a").getAttribute("href")) ?? "";
    assert.match(more, /docs\/errors\.html#shapeerror-add$/);
    const errors = new URL(more, at.url());
    const there = await at.evaluate(
      async ({ href, id }) => (await (await fetch(href)).text()).includes(`id="${id}"`),
      { href: errors.href, id: errors.hash.slice(1) },
    );
    assert.ok(there, more);
    await run(at, "const x = 1;\nlet = ;\n");
    assert.is(await at.textContent("#state"), "failed in line 2");
    await run(at, 'import "node:fs";\n');
    assert.match((await said(at)).join("\n"), /^SyntaxError: import: there is no node:fs here/);
  });
});

browserTest("a program without end is stopped, and the page stays awake", async () => {
  await visit(page, async (at) => {
    await run(at, 'console.log("begun"); for (;;) {}\n');
    await at.locator("#console .line").waitFor();
    assert.is(await state(at), "running");
    await at.click("#stop");
    assert.is(await at.textContent("#state"), "stopped");
    await run(at, twice);
    await settled(at);
    assert.is(await state(at), "done");
  });
});

browserTest("a link holds a program and its target, and opens it again", async () => {
  await visit(page, async (at) => {
    await run(at, twice, "js");
    await settled(at);
    await at.click("#share");
    await at.waitForFunction(() => location.hash.startsWith("#js:"));
    const { hash } = new URL(at.url());
    assert.match(hash, /^#js:[\w-]+$/);
    await at.goto("about:blank");
    await at.goBack();
    await at.waitForFunction(() => document.querySelector(".cm-content")?.textContent);
    assert.match((await at.textContent(".cm-content")) ?? "", /x\.mul\(2\)\.sum/);
    assert.is(await at.inputValue("#target"), "js");
  });
});

browserTest("names are completed with what they are", async () => {
  await visit(page, async (at) => {
    await at.click(".cm-content");
    await at.keyboard.press("ControlOrMeta+a");
    await at.keyboard.type("const l = nn.crossEn");
    await at.locator(".cm-tooltip-autocomplete li[aria-selected]").waitFor();
    assert.match(
      (await at.textContent(".cm-tooltip-autocomplete li[aria-selected]")) ?? "",
      /crossEntropy\(x: Tensor, target: Tensor/,
    );
  });
});

test.run();
