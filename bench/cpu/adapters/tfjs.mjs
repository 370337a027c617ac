/**
 * TensorFlow.js in the CPU table, as its documentation writes things: `tidy` around a call, its optimizers and losses,
 * channels last. `BACKEND` is wasm or cpu, `THREADS` the threads of the former.
 */
import { createRequire } from "node:module";
import { checkOf, serve } from "../protocol.ts";
import { floats, oneHot, permuted, sizeOf, workloadNamed } from "../workloads.ts";
import { allowTfjsThreads } from "./tfjs-threads.mjs";

const backend = process.env.BACKEND ?? "wasm";
const threads = Number(process.env.THREADS ?? 1);
const require = createRequire(import.meta.url);

// It advertises its Node bindings on these.
console.warn = () => {};
console.error = () => {};
if (backend === "wasm" && threads > 1) allowTfjsThreads(require, threads);
const tf = require("@tensorflow/tfjs");
if (backend === "wasm") {
  const wasm = require("@tensorflow/tfjs-backend-wasm");
  if (threads > 1) {
    tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", true);
    wasm.setThreadsCount(threads);
  }
}
if (!(await tf.setBackend(backend))) throw new Error(`bench: tfjs has no backend ${backend}`);
await tf.ready();
tf.enableProdMode();

const operandsOf = (name) => workloadNamed(name).operands;
const upload = (operand) => tf.tensor(floats(operand), [...operand.shape], "float32");
const asIs = (values) => values;

/** Work of a function of tensors, whose last result is kept until the next. */
function forward(fn, inputs, view = asIs) {
  let last;
  return {
    run: () => {
      const next = tf.tidy(() => fn(...inputs));
      last?.dispose();
      last = next;
    },
    check: () => checkOf(view(last.dataSync())),
    drop: () => {
      last?.dispose();
      for (const t of inputs) t.dispose();
    },
  };
}

function training(params, optimizer, loss) {
  const variables = params.map((p) => tf.variable(p));
  for (const p of params) p.dispose();
  let last;
  return {
    run: () => {
      const next = optimizer.minimize(() => loss(variables), true, variables);
      last?.dispose();
      last = next;
    },
    check: () => checkOf(last.dataSync()),
    drop: () => {
      last?.dispose();
      tf.disposeVariables();
      optimizer.dispose();
    },
  };
}

const plain = (name, fn) => () => forward(fn, Object.values(operandsOf(name)).map(upload));
const linear = (x, w, b) => tf.add(tf.matMul(x, w), b);

/** x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))); tfjs has no gelu of its own. */
function gelu(x) {
  const cubic = tf.add(x, tf.mul(tf.mul(tf.square(x), x), 0.044715));
  const gate = tf.add(tf.tanh(tf.mul(cubic, Math.sqrt(2 / Math.PI))), 1);
  return tf.mul(tf.mul(x, 0.5), gate);
}

function layerNorm(x, gain, bias) {
  const { mean, variance } = tf.moments(x, -1, true);
  const scale = tf.rsqrt(tf.add(variance, 1e-5));
  return tf.add(tf.mul(tf.mul(tf.sub(x, mean), scale), gain), bias);
}

const chain = (a, b, c) =>
  tf.add(tf.mul(tf.tanh(tf.add(tf.mul(a, b), c)), tf.sigmoid(a)), tf.exp(tf.neg(tf.mul(b, b))));

const perceptron = (x, w1, b1, w2, b2, w3, b3) =>
  linear(gelu(linear(gelu(linear(x, w1, b1)), w2, b2)), w3, b3);
const weightsOf = (operands, ...names) => names.map((name) => upload(operands[name]));
const hot = (y) => tf.tensor(oneHot(y), [sizeOf(y.shape), 10], "float32");

function mlpTrain() {
  const o = operandsOf("mlp_train");
  const [x, y] = [upload(o.x), hot(o.y)];
  const loss = (params) => tf.losses.softmaxCrossEntropy(y, perceptron(x, ...params));
  return training(
    weightsOf(o, "w1", "b1", "w2", "b2", "w3", "b3"),
    tf.train.adam(1e-3, 0.9, 0.999, 1e-8),
    loss,
  );
}

const imagesOf = ({ shape, ...operand }) => {
  const values = permuted(floats({ shape, ...operand }), shape, [0, 2, 3, 1]);
  return tf.tensor(values, [shape[0], shape[2], shape[3], shape[1]]);
};

/** [out, in, height, width] → [height, width, in, out]. */
const kernelOf = (operand) => {
  const [o, i, h, w] = operand.shape;
  return tf.tensor(permuted(floats(operand), operand.shape, [2, 3, 1, 0]), [h, w, i, o]);
};

/** The first dense layer of the network sees pixels before channels here, so its rows are reordered. */
function flattened(w, channels, side) {
  const [rows, columns] = w.shape;
  const values = permuted(floats(w), [channels, side, side, columns], [1, 2, 0, 3]);
  return tf.tensor(values, [rows, columns]);
}

function convTrain() {
  const o = operandsOf("conv_train");
  const [x, y] = [imagesOf(o.x), hot(o.y)];
  const loss = ([k1, c1, k2, c2, w3, b3, w4, b4]) => {
    const first = tf.relu(tf.add(tf.conv2d(x, k1, 1, "valid"), c1));
    const second = tf.relu(tf.add(tf.conv2d(first, k2, 1, "valid"), c2));
    const flat = tf.reshape(tf.maxPool(second, 2, 2, "valid"), [64, 9216]);
    return tf.losses.softmaxCrossEntropy(y, linear(tf.relu(linear(flat, w3, b3)), w4, b4));
  };
  const [c1, c2, b3, w4, b4] = weightsOf(o, "c1", "c2", "b3", "w4", "b4");
  const params = [kernelOf(o.k1), c1, kernelOf(o.k2), c2, flattened(o.w3, 64, 12), b3, w4, b4];
  return training(params, tf.train.adam(1e-3, 0.9, 0.999, 1e-8), loss);
}

/** A product with a matrix over the last axis: tfjs multiplies matrices of equal rank only. */
const linear3 = (x, w, b) => {
  const rows = tf.reshape(x, [-1, w.shape[0]]);
  return tf.reshape(linear(rows, w, b), [x.shape[0], x.shape[1], w.shape[1]]);
};

function attend(x, wqkv, bqkv) {
  const parts = tf.reshape(linear3(x, wqkv, bqkv), [8, 128, 3, 8, 32]);
  const [q, k, v] = tf.unstack(tf.transpose(parts, [2, 0, 3, 1, 4]));
  const weights = tf.softmax(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(32)));
  return tf.reshape(tf.transpose(tf.matMul(weights, v), [0, 2, 1, 3]), [8, 128, 256]);
}

function block(x, g1, n1, wqkv, bqkv, wo, bo, g2, n2, wf, bf, wp, bp) {
  const mixed = tf.add(x, linear3(attend(layerNorm(x, g1, n1), wqkv, bqkv), wo, bo));
  return tf.add(mixed, linear3(gelu(linear3(layerNorm(mixed, g2, n2), wf, bf)), wp, bp));
}

function transformerTrain() {
  const { x, t, ...weights } = operandsOf("tf_train");
  const [input, wanted] = [upload(x), upload(t)];
  const loss = (params) => tf.losses.meanSquaredError(wanted, block(input, ...params));
  return training(Object.values(weights).map(upload), tf.train.sgd(0.01), loss);
}

function lstm(x, wx, wh, b) {
  const [steps, batch, width] = x.shape;
  const rows = linear(tf.reshape(x, [steps * batch, width]), wx, b);
  let hidden = tf.zeros([batch, width]);
  let cell = tf.zeros([batch, width]);
  const states = [];
  for (const own of tf.unstack(tf.reshape(rows, [steps, batch, 4 * width]))) {
    const [i, f, u, o] = tf.split(tf.add(own, tf.matMul(hidden, wh)), 4, 1);
    cell = tf.add(tf.mul(tf.sigmoid(f), cell), tf.mul(tf.sigmoid(i), tf.tanh(u)));
    hidden = tf.mul(tf.sigmoid(o), tf.tanh(cell));
    states.push(hidden);
  }
  return tf.stack(states);
}

const channelsFirst = (values) => permuted(values, [1, 56, 56, 64], [0, 3, 1, 2]);

function convolution() {
  const { x, w } = operandsOf("conv2d");
  return forward((a, k) => tf.conv2d(a, k, 1, "same"), [imagesOf(x), kernelOf(w)], channelsFirst);
}

function depthwise() {
  const { x, w } = operandsOf("dwconv");
  const kernel = tf.tensor(permuted(floats(w), w.shape, [2, 3, 0, 1]), [3, 3, 64, 1]);
  return forward(
    (a, k) => tf.depthwiseConv2d(a, k, 1, "same"),
    [imagesOf(x), kernel],
    channelsFirst,
  );
}

const functions = {
  chain4m: chain,
  chain16k: chain,
  chain64: chain,
  softmax: (x) => tf.softmax(x),
  layernorm: layerNorm,
  mlp_fwd: perceptron,
  matmul512: (a, b) => tf.matMul(a, b),
  matmul1024: (a, b) => tf.matMul(a, b),
  matmul2048: (a, b) => tf.matMul(a, b),
  tf_fwd: block,
  lstm,
  sum0: (x) => tf.sum(x, 0),
  sum1: (x) => tf.sum(x, 1),
  cumsum: (x) => tf.cumsum(x, 1),
  argmax: (x) => tf.argMax(x, 1),
  transpose: (x) => tf.transpose(x),
};

const works = {
  ...Object.fromEntries(Object.entries(functions).map(([name, fn]) => [name, plain(name, fn)])),
  mlp_train: mlpTrain,
  conv_train: convTrain,
  tf_train: transformerTrain,
  conv2d: convolution,
  dwconv: depthwise,
};

await serve(`tfjs ${tf.version.tfjs} ${tf.getBackend()}, threads ${threads}`, works);
