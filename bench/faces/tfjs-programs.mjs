/**
 * Programs of TensorFlow.js as its users write them: layers, `fit`, `tidy`, and a value read by
 * `data()`. Each is made of `tf` and its layers, and gives a unit of work and what results are
 * compared by.
 */
import { loopSteps } from "./loop-steps.ts";

/** Numbers that look like chance, the same on each backend. */
function noise(n, seed) {
  let state = seed;
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}

/** Initial weights that keep the size of what goes through them. */
function weights(tf, fanIn, seed) {
  const limit = Math.sqrt(6 / fanIn);
  return tf.initializers.randomUniform({ seed, minval: -limit, maxval: limit });
}

async function read(tensor) {
  const values = await tensor.data();
  tensor.dispose();
  return values;
}

/** MobileNet 1.0 for 224 × 224 pixels. Howard et al. 2017, table 1. */
function mobileNet(tf) {
  const model = tf.sequential();
  let [seed, channels] = [1, 3];
  const end = (first = {}) => {
    model.add(tf.layers.batchNormalization(first));
    model.add(tf.layers.reLU({ maxValue: 6 }));
  };
  const conv = (filters, kernelSize, strides, more = {}) => {
    const kernelInitializer = weights(tf, kernelSize ** 2 * channels, seed++);
    const fixed = { padding: "same", useBias: false, kernelInitializer };
    model.add(tf.layers.conv2d({ filters, kernelSize, strides, ...fixed, ...more }));
    channels = filters;
    end();
  };
  const depthwise = (strides) => {
    const depthwiseInitializer = weights(tf, 9, seed++);
    const fixed = { padding: "same", useBias: false, depthwiseInitializer };
    model.add(tf.layers.depthwiseConv2d({ kernelSize: 3, strides, ...fixed }));
    end();
  };
  conv(32, 3, 2, { inputShape: [224, 224, 3] });
  const blocks = [
    [64, 1],
    [128, 2],
    [128, 1],
    [256, 2],
    [256, 1],
    [512, 2],
    ...Array.from({ length: 5 }, () => [512, 1]),
    [1024, 2],
    [1024, 1],
  ];
  for (const [filters, strides] of blocks) {
    depthwise(strides);
    conv(filters, 1, 1);
  }
  model.add(tf.layers.globalAveragePooling2d({}));
  const kernelInitializer = weights(tf, channels, seed);
  model.add(tf.layers.dense({ units: 1000, activation: "softmax", kernelInitializer }));
  const x = tf.tensor4d(noise(224 * 224 * 3, 7), [1, 224, 224, 3]);
  const unit = () => read(tf.tidy(() => model.predict(x)));
  return { unit, value: unit };
}

/** The convolutional network of tfjs's own MNIST example; a card gets more and larger batches. */
function fit(tf, onCard) {
  const [count, batchSize] = onCard ? [640, 64] : [160, 32];
  const model = tf.sequential();
  const kernel = (fanIn, seed) => ({ kernelInitializer: weights(tf, fanIn, seed) });
  const { layers } = tf;
  const conv = (filters, fanIn, seed, more = {}) =>
    model.add(
      layers.conv2d({
        filters,
        kernelSize: 5,
        activation: "relu",
        ...kernel(fanIn, seed),
        ...more,
      }),
    );
  conv(8, 25, 1, { inputShape: [28, 28, 1] });
  model.add(layers.maxPooling2d({ poolSize: 2, strides: 2 }));
  conv(16, 200, 2);
  model.add(layers.maxPooling2d({ poolSize: 2, strides: 2 }));
  model.add(layers.flatten());
  model.add(layers.dense({ units: 10, activation: "softmax", ...kernel(256, 3) }));
  model.compile({ optimizer: tf.train.adam(1e-3), loss: "categoricalCrossentropy" });
  const x = tf.tensor4d(noise(count * 784, 3), [count, 28, 28, 1]);
  const labels = Int32Array.from({ length: count }, (_, i) => (i * 7) % 10);
  const y = tf.tidy(() => tf.oneHot(tf.tensor1d(labels, "int32"), 10).toFloat());
  let first;
  const unit = async () => {
    const { history } = await model.fit(x, y, { batchSize, epochs: 1, shuffle: false, verbose: 0 });
    first ??= history.loss[0];
  };
  return { unit, value: async () => Float32Array.of(first) };
}

/** Twenty ops on a million elements. */
function elementwise(tf) {
  const [a, b] = [1, 2].map((seed) => tf.tensor1d(noise(1 << 20, seed)));
  const chain = () => {
    let x = a.mul(2).add(b).square().sub(a).abs().add(1e-3).sqrt().mul(b);
    x = x.maximum(-0.4).minimum(0.4).add(a.mul(b)).tanh().mul(3).sub(0.5).relu();
    return x.add(b.abs()).exp().div(4).sigmoid();
  };
  const unit = () => read(tf.tidy(chain));
  return { unit, value: unit };
}

/** Thirty-two steps of an LSTM of 128 cells, eight sequences at a time. */
function lstm(tf) {
  const [steps, width, units] = [32, 32, 128];
  const model = tf.sequential();
  model.add(
    tf.layers.lstm({
      units,
      inputShape: [steps, width],
      kernelInitializer: weights(tf, width, 1),
      recurrentInitializer: weights(tf, 2 * units, 2),
    }),
  );
  model.add(tf.layers.dense({ units: 10, kernelInitializer: weights(tf, units, 3) }));
  const x = tf.tensor3d(noise(8 * steps * width, 4), [8, steps, width]);
  const unit = () => read(tf.tidy(() => model.predict(x)));
  return { unit, value: unit };
}

/** A hundred steps on eight numbers, each of which reads a scalar. */
function scalarLoop(tf) {
  const w = tf.variable(tf.tensor1d(noise(8, 5)));
  let first;
  const unit = async () => {
    for (let i = 0; i < loopSteps; i++) {
      const sum = tf.tidy(() => {
        w.assign(w.mul(0.999).add(1e-3));
        return w.square().sum();
      });
      const [value] = await read(sum);
      if (first === undefined && i === loopSteps - 1) first = value;
    }
  };
  return { unit, value: async () => Float32Array.of(first) };
}

export const programs = { mobileNet, fit, elementwise, lstm, scalarLoop };
