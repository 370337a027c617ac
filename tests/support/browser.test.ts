/** The browser harness: pages compute on WebGPU, and a content security policy is really in force. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, isolated, pageOf, resultOf, withPage } from "./browser.ts";

browserTest("a page computes a WebGPU kernel", async () => {
  const text = await bundleForPage("tests/support/square-page.ts");
  await withPage(pageOf(text), async (page, { errors }) => {
    assert.equal(await resultOf(page), [1, 4, 9, 16]);
    assert.equal(errors, []);
  });
});

const makeFunction = `
let outcome = "allowed";
try { new Function("return 1")(); } catch (error) { outcome = error.name; }
globalThis.result = outcome;`;

browserTest("a strict policy blocks new Function", async () => {
  const strict = { "Content-Security-Policy": "default-src 'self'" };
  await withPage(pageOf(makeFunction, strict), async (page) => {
    assert.is(await resultOf(page), "EvalError");
  });
});

browserTest("without a policy new Function works", async () => {
  await withPage(pageOf(makeFunction), async (page) => {
    assert.is(await resultOf(page), "allowed");
  });
});

browserTest("a page can be cross-origin isolated", async () => {
  const text = "globalThis.result = [crossOriginIsolated, typeof SharedArrayBuffer];";
  await withPage(pageOf(text, isolated), async (page) => {
    assert.equal(await resultOf(page), [true, "function"]);
  });
});

browserTest("console errors and uncaught exceptions are collected", async () => {
  const text = 'console.error("first"); globalThis.result = 1; throw new Error("second");';
  await withPage(pageOf(text), async (page, { errors }) => {
    await resultOf(page);
    await page.waitForTimeout(50);
    assert.equal(errors, ["first", "Error: second"]);
  });
});

browserTest("a bundle for a page takes our packages from source", async () => {
  const text = await bundleForPage({ text: 'export { ShapeError } from "@kiln-ml/ir/errors";' });
  assert.match(text, "class extends Error");
});

test.run();
