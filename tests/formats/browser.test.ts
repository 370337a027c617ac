/** The readers in a page: files by fetch and from a Blob, under a policy that forbids code from text. */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";
import { fixture } from "./read.ts";

const text = `
import { openSafetensors, readTensors, writeSafetensors } from "@kiln-ml/formats";
const bytesOf = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
const names = ["/nested.pt", "/views.legacy.pt", "/tar-form.pt", "/compressed.npz", "/version3.npy"];
const files = await Promise.all(names.map(async (file) => readTensors(await bytesOf(file), { file })));
const { tensors } = files[0];
const opened = await openSafetensors(new File([writeSafetensors(tensors)], "w.safetensors"));
const read = await opened.read("model.p");
globalThis.result = {
  formats: files.map(({ format, tensors }) => format + " " + Object.keys(tensors).length),
  values: [...new Float32Array(read.data.slice().buffer)],
};
`;

browserTest("a page reads PyTorch, NumPy and safetensors files", async () => {
  const { files } = pageOf(await bundleForPage({ text }));
  const names = ["nested.pt", "views.legacy.pt", "tar-form.pt", "compressed.npz", "version3.npy"];
  const served = Object.fromEntries(names.map((name) => [`/${name}`, fixture(name)]));
  const headers = { "*": { "Content-Security-Policy": "default-src 'self'" } };
  await withPage({ files: { ...files, ...served }, headers }, async (page, { errors }) => {
    assert.equal(await resultOf(page), {
      formats: ["torch 6", "torch 7", "torch 2", "npz 10", "npy 1"],
      values: [-2, -1.25],
    });
    assert.equal(errors, []);
  });
});

test.run();
