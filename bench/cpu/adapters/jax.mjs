/**
 * jax-js on its wasm backend in the CPU table: jitted functions of arrays, gradients by its own transformations, Adam
 * written out since it has none in this package. Arrays are consumed by use, hence the `.ref`.
 */
import { checkOf, serve } from "../protocol.ts";
import { floats, oneHot, sizeOf, workloadNamed } from "../workloads.ts";
import { addIteratorHelpers, addWorkers } from "./jax-globals.mjs";

const threads = Number(process.env.THREADS ?? 1);
addIteratorHelpers();
if (threads > 1) addWorkers(threads);
const jax = await import("@jax-js/jax");
const { numpy: np, nn, lax, jit, tree, valueAndGrad, blockUntilReady } = jax;
await jax.init("wasm");
jax.defaultDevice("wasm");

const operandsOf = (name) => workloadNamed(name).operands;
const upload = (operand) => np.array(floats(operand), { shape: [...operand.shape] });
const hot = (y) => np.array(oneHot(y), { shape: [sizeOf(y.shape), 10] });
const uploadAll = (operands) =>
  Object.fromEntries(Object.entries(operands).map(([name, o]) => [name, upload(o)]));
const asIs = (values) => values;

/** Work of a function whose arguments live on and whose last result is kept until the next. */
function forward(fn, args, view = asIs) {
  let last;
  return {
    run: async () => {
      const next = fn(...args.map((a) => tree.ref(a)));
      await blockUntilReady(next);
      last?.dispose();
      last = next;
    },
    check: async () => checkOf(view(await last.ref.data())),
    drop: () => {
      last?.dispose();
      for (const a of args) tree.dispose(a);
      fn.dispose?.();
    },
  };
}

/** `step` takes state, x and y, and gives the next state and the loss. */
function training(step, first, x, y) {
  let state = first;
  let last;
  return {
    run: async () => {
      const [next, loss] = step(state, x.ref, y.ref);
      await blockUntilReady([next, loss]);
      state = next;
      last?.dispose();
      last = loss;
    },
    check: async () => checkOf(await last.ref.data()),
    drop: () => {
      for (const held of [state, x, y, last]) tree.dispose(held);
      step.dispose?.();
    },
  };
}

const plain = (name, fn, view) => () =>
  forward(jit(fn), Object.values(operandsOf(name)).map(upload), view);

const linear = (x, w, b) => np.matmul(x, w).add(b);

function layerNorm(x, gain, bias) {
  const mean = x.ref.mean(-1, { keepdims: true });
  const centred = x.sub(mean);
  const variance = centred.ref.mul(centred.ref).mean(-1, { keepdims: true });
  return centred
    .div(np.sqrt(variance.add(1e-5)))
    .mul(gain)
    .add(bias);
}

const chain = (a, b, c) => {
  const gated = np.tanh(a.ref.mul(b.ref).add(c)).mul(nn.sigmoid(a));
  return gated.add(np.exp(b.ref.mul(b).neg()));
};

const perceptron = ({ w1, b1, w2, b2, w3, b3 }, x) =>
  linear(nn.gelu(linear(nn.gelu(linear(x, w1, b1)), w2, b2)), w3, b3);

const crossEntropy = (logits, wanted) => nn.logSoftmax(logits).mul(wanted).sum(-1).mean().neg();

function convolutional({ k1, c1, k2, c2, w3, b3, w4, b4 }, x) {
  const conv = (input, kernel, bias, channels) =>
    nn.relu(lax.conv(input, kernel, [1, 1], "VALID").add(bias.reshape([channels, 1, 1])));
  const features = conv(conv(x, k1, c1, 32), k2, c2, 64);
  const pooled = features.reshape([64, 64, 12, 2, 12, 2]).max([3, 5]).reshape([64, 9216]);
  return linear(nn.relu(linear(pooled, w3, b3)), w4, b4);
}

/** Adam's step on `loss(params, x, y)`; powers of the betas are kept beside the moments. */
function adam(loss) {
  return jit((state, x, y) => {
    const [value, grads] = valueAndGrad(loss)(tree.ref(state.params), x, y);
    const power1 = state.power1.mul(0.9);
    const power2 = state.power2.mul(0.999);
    const next = { params: {}, mean: {}, square: {} };
    for (const [name, g] of Object.entries(grads)) {
      const mean = state.mean[name].mul(0.9).add(g.ref.mul(0.1));
      const square = state.square[name].mul(0.999).add(g.ref.mul(g).mul(0.001));
      const unbiased = mean.ref.div(np.subtract(1, power1.ref));
      const root = np.sqrt(square.ref.div(np.subtract(1, power2.ref)));
      next.params[name] = state.params[name].sub(unbiased.mul(1e-3).div(root.add(1e-8)));
      next.mean[name] = mean;
      next.square[name] = square;
    }
    return [{ ...next, power1, power2 }, value];
  });
}

function adamState(params) {
  const zeros = () => tree.map((a) => np.zeros(a.shape), params);
  return { params, mean: zeros(), square: zeros(), power1: np.array(1), power2: np.array(1) };
}

function classifier(name, model) {
  const { x, y, ...weights } = operandsOf(name);
  const step = adam((params, input, wanted) => crossEntropy(model(params, input), wanted));
  return training(step, adamState(uploadAll(weights)), upload(x), hot(y));
}

function block(p, x) {
  const parts = linear(layerNorm(x.ref, p.g1, p.n1), p.wqkv, p.bqkv).reshape([8, 128, 3, 8, 32]);
  const part = (all, i) => all.slice([], [], i, [], []);
  const mixed = nn.dotProductAttention(part(parts.ref, 0), part(parts.ref, 1), part(parts, 2));
  const first = x.add(linear(mixed.reshape([8, 128, 256]), p.wo, p.bo));
  const hidden = nn.gelu(linear(layerNorm(first.ref, p.g2, p.n2), p.wf, p.bf));
  return first.add(linear(hidden, p.wp, p.bp));
}

function transformerTrain() {
  const { x, t, ...weights } = operandsOf("tf_train");
  const loss = (params, input, wanted) => {
    const error = block(params, input).sub(wanted);
    return error.ref.mul(error).mean();
  };
  const step = jit((params, input, wanted) => {
    const [value, grads] = valueAndGrad(loss)(tree.ref(params), input, wanted);
    const moved = Object.keys(params).map((name) => [
      name,
      params[name].sub(grads[name].mul(0.01)),
    ]);
    return [Object.fromEntries(moved), value];
  });
  return training(step, uploadAll(weights), upload(x), upload(t));
}

/** It has no scan: one jitted projection, and a jitted step called for each time. */
function lstm() {
  const o = operandsOf("lstm");
  const [steps, batch, width] = o.x.shape;
  const [x, wx, wh, b] = [o.x, o.wx, o.wh, o.b].map(upload);
  const project = jit((input, w, bias) => np.matmul(input, w).add(bias));
  const advance = jit((projected, hidden, cell, w, time) => {
    const gates = projected.slice(time, [], []).add(np.matmul(hidden, w));
    const gate = (all, i) => all.slice([], [i * width, (i + 1) * width]);
    const input = nn.sigmoid(gate(gates.ref, 0));
    const forget = nn.sigmoid(gate(gates.ref, 1));
    const update = np.tanh(gate(gates.ref, 2));
    const output = nn.sigmoid(gate(gates, 3));
    const next = forget.mul(cell).add(input.mul(update));
    return [output.mul(np.tanh(next.ref)), next];
  });
  const times = Array.from({ length: steps }, (_, i) =>
    np.array(Int32Array.of(i), { shape: [1], dtype: np.int32 }).reshape([]),
  );
  let last;
  const run = async () => {
    const projected = project(x.ref, wx.ref, b.ref);
    let hidden = np.zeros([batch, width]);
    let cell = np.zeros([batch, width]);
    const states = [];
    for (const time of times) {
      [hidden, cell] = advance(projected.ref, hidden, cell, wh.ref, time.ref);
      states.push(hidden.ref);
    }
    for (const done of [projected, hidden, cell]) done.dispose();
    const next = np.stack(states);
    await blockUntilReady(next);
    last?.dispose();
    last = next;
  };
  return { run, check: async () => checkOf(await last.ref.data()) };
}

const pads = [
  [1, 1],
  [1, 1],
];

/** A jitted transposition is a view here, which costs nothing; adding one makes it move the elements. */
const lessOne = (values) => values.map((v) => v - 1);

const functions = {
  chain4m: chain,
  chain16k: chain,
  chain64: chain,
  softmax: (x) => nn.softmax(x, -1),
  layernorm: layerNorm,
  matmul512: (a, b) => np.matmul(a, b),
  matmul1024: (a, b) => np.matmul(a, b),
  matmul2048: (a, b) => np.matmul(a, b),
  conv2d: (x, w) => lax.conv(x, w, [1, 1], pads),
  dwconv: (x, w) => lax.convGeneralDilated(x, w, [1, 1], pads, { featureGroupCount: 64 }),
  sum0: (x) => x.sum(0),
  sum1: (x) => x.sum(1),
  cumsum: (x) => np.cumsum(x, 1),
  argmax: (x) => np.argmax(x, 1),
};

function inference(name, model) {
  const { x, ...weights } = operandsOf(name);
  return forward(jit(model), [uploadAll(weights), upload(x)]);
}

const works = {
  ...Object.fromEntries(Object.entries(functions).map(([name, fn]) => [name, plain(name, fn)])),
  transpose: plain("transpose", (x) => x.transpose().add(1), lessOne),
  mlp_fwd: () => inference("mlp_fwd", perceptron),
  tf_fwd: () => inference("tf_fwd", block),
  mlp_train: () => classifier("mlp_train", perceptron),
  conv_train: () => classifier("conv_train", convolutional),
  tf_train: transformerTrain,
  lstm,
};

await serve(`jax-js, threads ${threads}`, works);
