/** The page of docs/guide.md, as printed there, in a browser: its policy forbids functions from text, and it answers. */
import { encodeArtifact } from "@kiln-ml/artifact";
import { exportArtifact, nn, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, withPage } from "../support/browser.ts";
import { fencesOf, readPage } from "./snippets.ts";

const fences = fencesOf(readPage("docs/guide.md"));
const only = (language: string): string => {
  const found = fences.filter((fence) => fence.language === language);
  assert.is(found.length, 1, `one ${language} fence`);
  return found[0]!.text;
};

browserTest("the page of the guide runs a compiled model under its policy", async () => {
  nn.seed(1);
  const net = new nn.Sequential([new nn.Input([2]), new nn.Dense(2)]);
  const predict = (x: Tensor) => net.forward(x).softmax();
  const artifact = await exportArtifact(predict, { inputs: [["N", 2]], target: "js" });
  const files: Record<string, string | Uint8Array> = {
    "/index.html": only("html"),
    "/main.js": await bundleForPage({ text: only("javascript") }),
  };
  for (const [name, bytes] of encodeArtifact(artifact)) files[`/model/${name}`] = bytes;
  await withPage({ files }, async (page, { errors }) => {
    const answer = page.locator("#answer");
    await answer.filter({ hasText: /true|false/ }).waitFor();
    const [, here] = await predict(tensor([[0, 0]])).data();
    assert.is(await answer.textContent(), String(here! > 0.5));
    assert.equal(errors, []);
  });
});

test.run();
