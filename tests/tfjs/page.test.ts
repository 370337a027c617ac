/** A program of TensorFlow.js in a page: on WebGPU, where values come later, and on wasm, where they need not. */

import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";

const program = `
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-cpu";
import "@tensorflow/tfjs-core/dist/register_all_gradients";
import { counts, setTarget } from "@kiln-ml/tfjs";
import { openWebGpu } from "kiln-ml/runtime";
import { useDevice } from "kiln-ml";
const use = async (target) => {
  setTarget(target);
  const { factory, priority } = tf.engine().registryFactory.kiln;
  tf.removeBackend("kiln");
  tf.registerBackend("kiln", factory, priority);
  await tf.setBackend("kiln");
};
const train = async () => {
  const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [3, 2]);
  const w = tf.variable(tf.tensor2d([0.5, -0.5], [2, 1]));
  const optimizer = tf.train.sgd(0.01);
  const losses = [];
  for (let i = 0; i < 4; i++) {
    const loss = optimizer.minimize(() => tf.mean(tf.square(tf.sub(tf.matMul(x, w), 1))), true, [w]);
    losses.push((await loss.data())[0]);
    loss.dispose();
  }
  tf.dispose([x, w]);
  return losses;
};
const refused = () => {
  try {
    return String(tf.exp(tf.tensor1d([0])).dataSync()[0]);
  } catch (error) {
    return error.message;
  }
};
globalThis.result = (async () => {
  useDevice(await openWebGpu({ allowSoftware: true }));
  await use("webgpu");
  const before = tf.memory().numTensors;
  const webgpu = await train();
  const out = { webgpu, refused: refused(), compiled: counts().compiled };
  await use("wasm");
  out.wasm = await train();
  out.now = refused();
  await tf.setBackend("cpu");
  out.cpu = await train();
  return out;
})().catch((error) => String(error.stack));
`;

browserTest("losses on WebGPU and wasm are those of the cpu backend", async () => {
  const { files } = pageOf(await bundleForPage({ text: program }));
  await withPage({ files }, async (tab) => {
    const result = (await resultOf(tab)) as Record<string, number[]>;
    assert.type(result, "object", String(result));
    for (const target of ["webgpu", "wasm"])
      for (const [i, loss] of result[target]!.entries())
        assert.ok(Math.abs(loss - result.cpu![i]!) < 1e-4, JSON.stringify(result));
    assert.is(
      result.refused as unknown,
      "dataSync: values on webgpu come later\n  await data(), or take the target wasm",
    );
    assert.is(result.now as unknown, "1");
    assert.is(result.compiled as unknown, 1);
  });
});

test.run();
