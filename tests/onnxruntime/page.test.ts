/** A program for `onnxruntime-web` in a page, bundled with an alias and not changed: a model from a URL, on wasm and on WebGPU; images. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";
import { relu } from "./models.ts";

const alias = {
  "onnxruntime-web/webgpu": "@kiln-ml/onnxruntime/webgpu",
  "onnxruntime-web": "@kiln-ml/onnxruntime",
};

const program = `
import * as ort from "onnxruntime-web";
import webgpu from "onnxruntime-web/webgpu";
ort.env.wasm.wasmPaths = "/nowhere/";
ort.env.webgpu.forceFallbackAdapter = true;
const runOn = async (provider) => {
  const session = await ort.InferenceSession.create("/model.onnx", { executionProviders: [provider] });
  const { y } = await session.run({ x: new ort.Tensor("float32", [1, -2, 3], [1, 3]) });
  await session.release();
  return [...y.data];
};
const missing = () => ort.InferenceSession.create("/none.onnx").then(() => "there", (e) => e.message);
globalThis.result = (async () => ({
  same: webgpu.Tensor === ort.Tensor,
  wasm: await runOn("wasm"),
  webgpu: await runOn({ name: "webgpu" }),
  missing: await missing(),
}))().catch((error) => String(error.stack));
`;

browserTest("a model from a URL, on wasm and on WebGPU", async () => {
  const { files } = pageOf(await bundleForPage({ text: program }, { alias }));
  await withPage({ files: { ...files, "/model.onnx": relu() } }, async (tab) => {
    assert.equal(await resultOf(tab), {
      same: true,
      wasm: [1, 0, 3],
      webgpu: [1, 0, 3],
      missing: "failed to load /none.onnx. ERROR_CODE: 3, ERROR_MESSAGE: the server answers 404",
    });
  });
});

/** Both copies of the interface on the same images; what is compared are pixels and elements. */
const images = `
import * as kiln from "@kiln-ml/onnxruntime";
import * as common from "onnxruntime-common";
const image = new ImageData(3, 2);
for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 === 3 ? 255 : (i * 37) % 256;
const canvas = new OffscreenCanvas(3, 2);
canvas.getContext("2d").putImageData(image, 0, 0);
const bitmap = canvas.transferToImageBitmap();
const options = [
  [{}, { format: "RGB" }],
  [{ tensorFormat: "RGBA" }, { format: "RGBA" }],
  [{ tensorFormat: "BGR" }, { format: "RGB" }],
  [{ norm: { mean: [128, 64, 32], bias: [1, 2, 3] } }, { format: "RGB", norm: { mean: [128, 64, 32], bias: 0 } }],
  [{ norm: { mean: 2, bias: -7 } }, { format: "RGB", norm: { mean: 2 } }],
];
const of = async ({ Tensor }, source) => {
  const out = [];
  for (const [to, from] of options) {
    const t = await Tensor.fromImage(source, { ...to });
    out.push(t.type, ...t.dims, ...t.data, ...t.toImageData({ ...from }).data);
  }
  return out;
};
const size = async (url) => {
  const t = await kiln.Tensor.fromImage(url, { resizedWidth: 6, resizedHeight: 4, tensorLayout: "NHWC" });
  return t.dims;
};
globalThis.result = (async () => {
  const t = await kiln.Tensor.fromImage(image);
  const url = t.toDataURL();
  const back = await kiln.Tensor.fromImage(url);
  return {
    same: JSON.stringify(await of(kiln, image)) === JSON.stringify(await of(common, image)),
    sameBitmap: JSON.stringify(await of(kiln, bitmap)) === JSON.stringify(await of(common, bitmap)),
    png: url.startsWith("data:image/png;base64,"),
    back: JSON.stringify([...back.data]) === JSON.stringify([...t.data]),
    size: await size(url),
  };
})().catch((error) => String(error.stack));
`;

browserTest(
  "images become the tensors that onnxruntime-common makes of them, and back",
  async () => {
    await withPage(pageOf(await bundleForPage({ text: images })), async (tab) => {
      assert.equal(await resultOf(tab), {
        same: true,
        sameBitmap: true,
        png: true,
        back: true,
        size: [1, 4, 6, 3],
      });
    });
  },
);

test.run();
