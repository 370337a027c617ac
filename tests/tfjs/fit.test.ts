/**
 * `model.fit` of TensorFlow.js's layers: a small convolutional network learns the same on Kiln's
 * backend as on tfjs's own.
 */
import { counts } from "@kiln-ml/tfjs";
import * as tf from "@tensorflow/tfjs-core";
import * as layers from "@tensorflow/tfjs-layers";
import type { TargetName } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { onCpu, onKiln } from "./backend.ts";

const classes = 3;
const count = 24;

/** Numbers that look like chance, the same each time. */
function noise(n: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}

const initializer = (seed: number) =>
  layers.initializers.randomUniform({ seed, minval: -0.3, maxval: 0.3 });

function network(): layers.Sequential {
  const model = layers.sequential();
  const kernel = (seed: number) => ({ kernelInitializer: initializer(seed) });
  model.add(
    layers.layers.conv2d({ inputShape: [8, 8, 1], filters: 4, kernelSize: 3, ...kernel(1) }),
  );
  model.add(layers.layers.batchNormalization());
  model.add(layers.layers.activation({ activation: "relu" }));
  model.add(layers.layers.maxPooling2d({ poolSize: 2 }));
  model.add(layers.layers.flatten());
  model.add(layers.layers.dense({ units: classes, activation: "softmax", ...kernel(2) }));
  model.compile({ optimizer: tf.train.adam(0.02), loss: "categoricalCrossentropy" });
  return model;
}

/** The losses of three epochs, and the tensors that are left. */
async function losses(): Promise<{ history: number[]; left: number }> {
  const before = tf.memory().numTensors;
  const x = tf.tensor4d(noise(count * 64, 3), [count, 8, 8, 1]);
  const labels = Int32Array.from({ length: count }, (_, i) => i % classes);
  const y = tf.tidy(() => tf.oneHot(tf.tensor1d(labels, "int32"), classes));
  const model = network();
  const { history } = await model.fit(x, y, { batchSize: 8, epochs: 3, shuffle: false });
  model.dispose();
  tf.dispose([x, y]);
  model.optimizer.dispose();
  return { history: history.loss as number[], left: tf.memory().numTensors - before };
}

for (const target of ["js", "wasm"] satisfies TargetName[])
  test(`${target}: losses of fit are those of the cpu backend`, async () => {
    const wanted = await onCpu(losses);
    const got = await onKiln(target, losses);
    assert.is(got.history.length, 3);
    for (const [i, loss] of got.history.entries())
      assert.ok(Math.abs(loss - wanted.history[i]!) < 2e-5, `${got.history} ${wanted.history}`);
    assert.is(got.left, wanted.left);
    assert.equal(counts().fallbacks, {});
  });

test("a second epoch compiles nothing", () =>
  onKiln("wasm", async () => {
    const compiled: number[] = [];
    const x = tf.tensor4d(noise(count * 64, 3), [count, 8, 8, 1]);
    const y = tf.oneHot(tf.zeros([count], "int32"), classes);
    const model = network();
    const onEpochEnd = () => void compiled.push(counts().compiled);
    await model.fit(x, y, { batchSize: 8, epochs: 4, callbacks: { onEpochEnd } });
    assert.is(compiled[3], compiled[1]);
    model.dispose();
    tf.dispose([x, y]);
  }));

test.run();
