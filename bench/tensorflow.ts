/**
 * The cases of the peer table in TensorFlow.js, on its plain CPU backend, as its documentation writes them: `tidy` around
 * a step, its own Adam, its own gradients. Used by the benchmarks only.
 */

import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Core from "@tensorflow/tfjs-core";
import { build } from "esbuild";
import { noise } from "./session.ts";

/** The packages' ES modules import folders and leave out extensions, which Node refuses, so they are bundled first. */
async function bundled(): Promise<typeof Core> {
  const outfile = join(process.cwd(), "node_modules/.cache/kiln-bench/tensorflow.cjs");
  const contents = [
    'import "@tensorflow/tfjs-core/dist/register_all_gradients";',
    'import "@tensorflow/tfjs-backend-cpu";',
    'export * from "@tensorflow/tfjs-core";',
  ].join("\n");
  const stdin = { contents, resolveDir: process.cwd() };
  const how = { bundle: true, format: "cjs", platform: "node", logLevel: "error" } as const;
  // The backend must meet the core that the gradients are registered with: one copy, the ES modules.
  await build({ ...how, stdin, outfile, mainFields: ["module", "main"] });
  return createRequire(import.meta.url)(outfile) as typeof Core;
}

const tf = await bundled();
await tf.setBackend("cpu");

const random = (shape: number[], seed: number, scale = 1): Core.Tensor =>
  tf.tensor(
    noise(
      shape.reduce((a, b) => a * b, 1),
      seed,
    ).map((v) => v * scale),
    shape,
  );

const variable = (shape: number[], seed: number, fan: number): Core.Variable =>
  tf.variable(random(shape, seed, 1 / Math.sqrt(fan)));

/** Reads the result, which is when a lazy backend would compute it, and frees it. */
const finish = (t: Core.Tensor): void => {
  t.dataSync();
  t.dispose();
};

export function tfMatmul(n: number): () => void {
  const [a, b] = [random([n, n], 100), random([n, n], 101)];
  return () => finish(tf.matMul(a, b));
}

export function tfChain(size: number): () => void {
  const [a, b, c] = [random([size], 100), random([size], 101), random([size], 102)];
  return () =>
    finish(
      tf.tidy(() => {
        const gate = tf.mul(tf.tanh(tf.add(tf.mul(a, b), c)), tf.sigmoid(a));
        return tf.add(gate, tf.exp(tf.neg(tf.square(b))));
      }),
    );
}

const labels = (batch: number): Core.Tensor =>
  tf.tidy(() => {
    const classes = Int32Array.from(noise(batch, 101), (v) => Math.floor((v + 1) * 5));
    return tf.oneHot(tf.tensor1d(classes, "int32"), 10);
  });

const crossEntropy = (logits: Core.Tensor, wanted: Core.Tensor): Core.Scalar =>
  tf.neg(tf.mean(tf.sum(tf.mul(wanted, tf.logSoftmax(logits)), -1))) as Core.Scalar;

export function tfMlpStep(batch: number): () => void {
  const x = random([batch, 784], 100) as Core.Tensor2D;
  const y = labels(batch);
  const sizes = [784, 512, 512, 10];
  const layers = [1, 2, 3].map((i) => ({
    w: variable([sizes[i - 1]!, sizes[i]!], i, sizes[i - 1]!),
    b: variable([sizes[i]!], 10 + i, sizes[i - 1]!),
  }));
  const adam = tf.train.adam(1e-3);
  const forward = () =>
    layers.reduce<Core.Tensor>((h, { w, b }, i) => {
      const z = tf.add(tf.matMul(h as Core.Tensor2D, w as Core.Tensor2D), b);
      return i < 2 ? tf.relu(z) : z;
    }, x);
  return () => finish(adam.minimize(() => crossEntropy(forward(), y), true)!);
}

/** Images in NHWC, which is what the backend's convolutions take. */
export function tfCnnStep(batch: number): () => void {
  const x = random([batch, 28, 28, 1], 100) as Core.Tensor4D;
  const y = labels(batch);
  const [k1, b1] = [variable([3, 3, 1, 32], 1, 9), variable([32], 2, 9)];
  const [k2, b2] = [variable([3, 3, 32, 64], 3, 288), variable([64], 4, 288)];
  const [w1, c1] = [variable([9216, 128], 5, 9216), variable([128], 6, 9216)];
  const [w2, c2] = [variable([128, 10], 7, 128), variable([10], 8, 128)];
  const adam = tf.train.adam(1e-3);
  const forward = () => {
    const h1 = tf.relu(tf.add(tf.conv2d(x, k1 as Core.Tensor4D, 1, "valid"), b1));
    const h2 = tf.relu(tf.add(tf.conv2d(h1 as Core.Tensor4D, k2 as Core.Tensor4D, 1, "valid"), b2));
    const pooled = tf.maxPool(h2 as Core.Tensor4D, 2, 2, "valid");
    const flat = tf.reshape(pooled, [batch, 9216]) as Core.Tensor2D;
    const hidden = tf.relu(tf.add(tf.matMul(flat, w1 as Core.Tensor2D), c1)) as Core.Tensor2D;
    return tf.add(tf.matMul(hidden, w2 as Core.Tensor2D), c2);
  };
  return () => finish(adam.minimize(() => crossEntropy(forward(), y), true)!);
}
