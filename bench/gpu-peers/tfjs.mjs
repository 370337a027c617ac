/**
 * TensorFlow.js on its WebGPU backend in the GPU table, as its documentation writes things: `tidy` around a call, fused layers with
 * their biases, its optimizers and losses, channels last.
 */
import { createRequire } from "node:module";
import { permuted } from "../cpu/workloads.ts";
import { classesOf, inputValues, weightValues } from "../noise.ts";
import { printRows } from "./clock.ts";
import { complaintsOf } from "./navigator.mjs";
import { blockWeights } from "./weights.mjs";

const load = createRequire(import.meta.url);
const tf = load("@tensorflow/tfjs");
load("@tensorflow/tfjs-backend-webgpu");
if (!(await tf.setBackend("webgpu"))) throw new Error("bench: tfjs has no backend webgpu");
await tf.ready();
tf.enableProdMode();

const input = (index, ...shape) => tf.tensor(inputValues(index, shape), shape);
const inputs = (count, ...shape) => Array.from({ length: count }, (_, i) => input(i, ...shape));
/** Images are channels last. */
const images = (index, n, c, h, w) =>
  tf.tensor(permuted(inputValues(index, [n, c, h, w]), [n, c, h, w], [0, 2, 3, 1]), [n, h, w, c]);
const hot = (index, n) =>
  tf.tidy(() => tf.oneHot(tf.tensor1d(classesOf(inputValues(index, [n])), "int32"), 10).toFloat());

const weight = (seed, ...shape) => tf.tensor(weightValues(seed, shape), shape);
/** [out, in] → [in, out]. */
const dense = (seed, out, width) =>
  tf.tensor(permuted(weightValues(seed, [out, width]), [out, width], [1, 0]), [width, out]);
/** [out, in, height, width] → [height, width, in, out]. */
const filter = (values, o, i, h, w) =>
  tf.tensor(permuted(values, [o, i, h, w], [2, 3, 1, 0]), [h, w, i, o]);
/** A dense layer behind images: its inputs are channels before pixels there, and after them here. */
const flattened = (seed, out, c, side) => {
  const values = weightValues(seed, [out, c * side * side]);
  return tf.tensor(permuted(values, [out, c, side, side], [2, 3, 1, 0]), [side * side * c, out]);
};

const firstOf = (t) => tf.tidy(() => tf.slice(tf.reshape(t, [-1]), [0], [1]));

/** Reads a number of the last result, which waits for all before. */
async function settled(results) {
  const first = firstOf(results.at(-1));
  await first.data();
  first.dispose();
}

async function firstSum(results) {
  let sum = 0;
  for (const t of results) {
    const first = firstOf(t);
    sum += (await first.data())[0];
    first.dispose();
  }
  return sum;
}

/** Work whose last results are kept until the next. */
function repeated(next, drop) {
  let last = [];
  return {
    run: () => {
      tf.dispose(last);
      last = [next()].flat();
    },
    settle: () => settled(last),
    value: () => firstSum(last),
    drop: () => {
      tf.dispose(last);
      drop();
    },
  };
}

const forward = (fn, args) =>
  repeated(
    () => tf.tidy(() => fn(...args)),
    () => tf.dispose(args),
  );

function training(params, optimizer, loss, data) {
  const variables = params.map((p) => tf.variable(p));
  tf.dispose(params);
  return repeated(
    () => optimizer.minimize(() => loss(variables, ...data), true, variables),
    () => {
      tf.dispose([...variables, ...data]);
      optimizer.dispose();
    },
  );
}

const adam = () => tf.train.adam(1e-3, 0.9, 0.999, 1e-8);

const linear = (x, w, b, activation = "linear") =>
  tf.fused.matMul({ a: x, b: w, bias: b, activation });

/** Over the last axis of three, as its dense layer does it. */
const linear3 = (x, w, b) =>
  tf.reshape(linear(tf.reshape(x, [-1, w.shape[0]]), w, b), [...x.shape.slice(0, -1), w.shape[1]]);

const gelu = (x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));

function layerNorm(x, gain, bias) {
  const { mean, variance } = tf.moments(x, -1, true);
  return tf.add(tf.mul(tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, 1e-5))), gain), bias);
}

/** The mask is added, which is less than to select. */
function attend(q, k, v, mask) {
  const scores = tf.matMul(tf.mul(q, 1 / Math.sqrt(q.shape.at(-1))), k, false, true);
  return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
}

function maskOf(causal, length) {
  if (!causal) return undefined;
  const values = new Float32Array(length * length);
  for (let i = 0; i < length; i++) values.fill(-1e9, i * length + i + 1, (i + 1) * length);
  return tf.tensor(values, [length, length]);
}

function attention(causal, ...shape) {
  const mask = maskOf(causal, shape[2]);
  const args = inputs(3, ...shape);
  return repeated(
    () => tf.tidy(() => attend(...args, mask)),
    () => tf.dispose([...args, mask]),
  );
}

function attentionStep(causal, ...shape) {
  const mask = maskOf(causal, shape[2]);
  const all = inputs(4, ...shape);
  const both = tf.valueAndGrads((q, k, v) => attend(q, k, v, mask));
  return repeated(
    () =>
      tf.tidy(() => {
        const { value, grads } = both(all.slice(0, 3), all[3]);
        return [value, ...grads];
      }),
    () => tf.dispose([...all, mask]),
  );
}

function cnn(x, [k1, c1, k2, c2, w3, b3, w4, b4]) {
  const conv = (h, filter, bias) =>
    tf.fused.conv2d({ x: h, filter, bias, strides: 1, pad: "valid", activation: "relu" });
  const pooled = tf.maxPool(conv(conv(x, k1, c1), k2, c2), 2, 2, "valid");
  const flat = tf.reshape(pooled, [x.shape[0], -1]);
  return linear(linear(flat, w3, b3, "relu"), w4, b4);
}

const cnnWeights = () => [
  filter(weightValues(1, [32, 1, 3, 3]), 32, 1, 3, 3),
  weight(2, 32),
  filter(weightValues(3, [64, 32, 3, 3]), 64, 32, 3, 3),
  weight(4, 64),
  flattened(5, 128, 64, 12),
  weight(6, 128),
  dense(7, 10, 128),
  weight(8, 10),
];

function block(x, [g1, n1, wq, bq, wk, bk, wv, bv, wo, bo, g2, n2, wu, bu, wd, bd]) {
  const [batch, length, width] = x.shape;
  const normed = layerNorm(x, g1, n1);
  const heads = (w, b) =>
    tf.transpose(tf.reshape(linear3(normed, w, b), [batch, length, 8, width / 8]), [0, 2, 1, 3]);
  const mixed = tf.transpose(attend(heads(wq, bq), heads(wk, bk), heads(wv, bv)), [0, 2, 1, 3]);
  const first = tf.add(x, linear3(tf.reshape(mixed, [batch, length, width]), wo, bo));
  return tf.add(first, linear3(gelu(linear3(layerNorm(first, g2, n2), wu, bu)), wd, bd));
}

const crossEntropy = (logits, y) => tf.losses.softmaxCrossEntropy(y, logits);

function mlpStep(batch) {
  const widths = [784, 512, 512, 10];
  const params = [1, 2, 3].flatMap((i) => [
    dense(2 * i - 1, widths[i], widths[i - 1]),
    weight(2 * i, widths[i]),
  ]);
  const loss = ([w1, b1, w2, b2, w3, b3], x, y) =>
    crossEntropy(linear(linear(linear(x, w1, b1, "relu"), w2, b2, "relu"), w3, b3), y);
  return training(params, adam(), loss, [input(0, batch, 784), hot(1, batch)]);
}

const kinds = {
  matmul: (n) => forward((a, b) => tf.matMul(a, b), inputs(2, n, n)),
  chain: (n) =>
    forward(
      (a, b, c) => {
        const gated = tf.mul(tf.tanh(tf.add(tf.mul(a, b), c)), tf.sigmoid(a));
        return tf.add(gated, tf.exp(tf.neg(tf.mul(b, b))));
      },
      inputs(3, n),
    ),
  softmax: (m, n) => forward((x) => tf.softmax(x), [input(0, m, n)]),
  layerNorm: (m, n) => forward(layerNorm, [input(0, m, n), weight(1, n), weight(2, n)]),
  sum: (m, n) => forward((x) => tf.sum(x), [input(0, m, n)]),
  sumColumns: (m, n) => forward((x) => tf.sum(x, 0), [input(0, m, n)]),
  cumsum: (m, n) => forward((x) => tf.cumsum(x, 1), [input(0, m, n)]),
  conv3x3: (batch, c, size) => {
    const w = filter(inputValues(1, [c, c, 3, 3]), c, c, 3, 3);
    return forward((x, k) => tf.conv2d(x, k, 1, "same"), [images(0, batch, c, size, size), w]);
  },
  attention,
  attentionStep,
  mlpStep,
  cnn: (batch) =>
    forward((x, ...params) => cnn(x, params), [images(0, batch, 1, 28, 28), ...cnnWeights()]),
  cnnStep: (batch) => {
    const loss = (params, x, y) => crossEntropy(cnn(x, params), y);
    return training(cnnWeights(), adam(), loss, [images(0, batch, 1, 28, 28), hot(1, batch)]);
  },
  block: (...shape) =>
    forward(
      (x, ...params) => block(x, params),
      [input(0, ...shape), ...blockWeights({ weight, dense }, shape[2])],
    ),
  blockStep: (...shape) => {
    const loss = (params, x) => tf.mean(tf.square(block(x, params)));
    return training(blockWeights({ weight, dense }, shape[2]), tf.train.sgd(0.01), loss, [
      input(0, ...shape),
    ]);
  },
};

await printRows({ name: "tfjs", kinds, complaints: complaintsOf(tf.backend().device) });
