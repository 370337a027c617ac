/** A GPU that is lost under a session: the model is loaded again and says so, on the GPU if it can be had, else on the next provider. */
import { env, InferenceSession, Tensor } from "@kiln-ml/onnxruntime";
import { sessionFor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest } from "../support/webgpu.ts";
import { externalModel, weights } from "./external.ts";

async function warned<T>(work: () => Promise<T>): Promise<{ value: T; said: string[] }> {
  const said: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => said.push(text);
  try {
    return { value: await work(), said };
  } finally {
    console.warn = warn;
  }
}

gpuTest("a session goes on after its GPU is lost", async () => {
  env.webgpu.forceFallbackAdapter = true;
  const s = await InferenceSession.create(externalModel(), {
    executionProviders: ["webgpu", "wasm"],
    externalData: [{ path: "w.bin", data: weights }],
  });
  const run = async () => {
    const { y } = await s.run({ x: new Tensor("float32", [1, 1], [2]) });
    return [...(y!.data as Float32Array)];
  };
  const lose = async () => (await sessionFor("webgpu")).device.destroy();
  assert.equal(await run(), [3, 5]);
  await lose();
  const again = await warned(run);
  assert.equal(again.value, [3, 5]);
  assert.equal(again.said, ["onnxruntime: the GPU was lost: the model is loaded again"]);
  assert.is((await sessionFor("webgpu")).device.kind, "webgpu");
  await lose();
  // A software adapter is no longer taken, and there is no other.
  env.webgpu.forceFallbackAdapter = false;
  const elsewhere = await warned(() => Promise.all([run(), run()]));
  assert.equal(elsewhere.value, [
    [3, 5],
    [3, 5],
  ]);
  assert.is(elsewhere.said.length, 1);
  assert.match(elsewhere.said[0]!, /^onnxruntime: \[webgpu\] .*: wasm runs the model$/);
});

test.run();
