/**
 * jax-js on its WebGPU backend in the GPU table: jitted functions of arrays, gradients by its own transformations, Adam written out
 * since this package has none. Arrays are consumed by use, hence the `.ref`; what is not waited for is never started.
 */
import { addIteratorHelpers } from "../cpu/adapters/jax-globals.mjs";
import { permuted } from "../cpu/workloads.ts";
import { classesOf, inputValues, weightValues } from "../noise.ts";
import { printRows } from "./clock.ts";
import { complaintsOf } from "./navigator.mjs";
import { blockWeights } from "./weights.mjs";

addIteratorHelpers();
const jax = await import("@jax-js/jax");
const { numpy: np, nn, lax, jit, tree, valueAndGrad, vjp, blockUntilReady } = jax;
await jax.init("webgpu");
jax.defaultDevice("webgpu");

const array = (values, shape) => np.array(values, { shape });
const input = (index, ...shape) => array(inputValues(index, shape), shape);
const inputs = (count, ...shape) => Array.from({ length: count }, (_, i) => input(i, ...shape));
const weight = (seed, ...shape) => array(weightValues(seed, shape), shape);
/** [out, in] → [in, out]. */
const dense = (seed, out, width) =>
  array(permuted(weightValues(seed, [out, width]), [out, width], [1, 0]), [width, out]);

function hot(index, n) {
  const values = new Float32Array(n * 10);
  for (const [i, label] of classesOf(inputValues(index, [n])).entries()) values[i * 10 + label] = 1;
  return array(values, [n, 10]);
}

/** [batch, heads, length, width] as its attention takes it: [batch, length, heads, width]. */
function headsLast(index, b, h, s, d) {
  const values = inputValues(index, [b, h, s, d]);
  const out = new Float32Array(values.length);
  for (let at = 0; at < values.length; at += d) {
    const row = at / d;
    const [i, j, k] = [Math.floor(row / (h * s)), Math.floor(row / s) % h, row % s];
    out.set(values.subarray(at, at + d), ((i * s + k) * h + j) * d);
  }
  return array(out, [b, s, h, d]);
}

async function firstSum(results) {
  let sum = 0;
  for (const leaf of tree.leaves(results)) sum += (await leaf.ref.reshape([-1]).data())[0];
  return sum;
}

/** Work whose results are kept until they are waited for, and the last of them until the next wait. */
function repeated(next, drop) {
  let held = [];
  let last;
  return {
    run: () => {
      held.push(next());
    },
    settle: async () => {
      await blockUntilReady(held);
      tree.dispose(last ?? []);
      last = held.pop();
      tree.dispose(held);
      held = [];
    },
    value: () => firstSum(last),
    drop: () => {
      tree.dispose([held, last ?? []]);
      drop();
    },
  };
}

function forward(fn, args) {
  const compiled = jit(fn);
  return repeated(
    () => compiled(...args.map((a) => tree.ref(a))),
    () => {
      tree.dispose(args);
      compiled.dispose();
    },
  );
}

/** `step` takes state and data, and gives the next state and the loss. */
function training(step, first, data) {
  let state = first;
  const next = () => {
    const [moved, loss] = step(state, ...data.map((a) => a.ref));
    state = moved;
    return loss;
  };
  const doing = repeated(next, () => {
    tree.dispose([state, data]);
    step.dispose();
  });
  // The last update is no part of the loss.
  const settle = async () => {
    await blockUntilReady(state);
    await doing.settle();
  };
  return { ...doing, settle };
}

/** Adam's step on `loss(params, ...data)`; powers of the betas are kept beside the moments. */
function adam(loss) {
  return jit((state, ...data) => {
    const [value, grads] = valueAndGrad(loss)(tree.ref(state.params), ...data);
    const power1 = state.power1.mul(0.9);
    const power2 = state.power2.mul(0.999);
    const moved = grads.map((g, i) => {
      const mean = state.mean[i].mul(0.9).add(g.ref.mul(0.1));
      const square = state.square[i].mul(0.999).add(g.ref.mul(g).mul(0.001));
      const unbiased = mean.ref.div(np.subtract(1, power1.ref));
      const root = np.sqrt(square.ref.div(np.subtract(1, power2.ref)));
      return [state.params[i].sub(unbiased.mul(1e-3).div(root.add(1e-8))), mean, square];
    });
    const [params, mean, square] = [0, 1, 2].map((part) => moved.map((m) => m[part]));
    return [{ params, mean, square, power1, power2 }, value];
  });
}

function adamState(params) {
  const zeros = () => params.map((a) => np.zeros(a.shape));
  return { params, mean: zeros(), square: zeros(), power1: np.array(1), power2: np.array(1) };
}

const sgd = (loss) =>
  jit((params, ...data) => {
    const [value, grads] = valueAndGrad(loss)(tree.ref(params), ...data);
    return [params.map((p, i) => p.sub(grads[i].mul(0.01))), value];
  });

const linear = (x, w, b) => np.matmul(x, w).add(b);
const gelu = (x) => nn.gelu(x, { approximate: false });
const crossEntropy = (logits, y) => nn.logSoftmax(logits).mul(y).sum(-1).mean().neg();

function layerNorm(x, gain, bias) {
  const centred = x.ref.sub(x.mean(-1, { keepdims: true }));
  const variance = centred.ref.mul(centred.ref).mean(-1, { keepdims: true });
  return centred
    .div(np.sqrt(variance.add(1e-5)))
    .mul(gain)
    .add(bias);
}

const attend = (causal) => (q, k, v) => nn.dotProductAttention(q, k, v, { isCausal: causal === 1 });

const attention = (causal, ...shape) =>
  forward(
    attend(causal),
    [0, 1, 2].map((i) => headsLast(i, ...shape)),
  );

const attentionStep = (causal, ...shape) =>
  forward(
    (q, k, v, g) => {
      const [y, back] = vjp(attend(causal), [q, k, v]);
      return [y, ...back(g)];
    },
    [0, 1, 2, 3].map((i) => headsLast(i, ...shape)),
  );

function cnn([k1, c1, k2, c2, w3, b3, w4, b4], x) {
  const conv = (h, k, b) =>
    nn.relu(lax.conv(h, k, [1, 1], "VALID").add(b.reshape([b.shape[0], 1, 1])));
  const features = conv(conv(x, k1, c1), k2, c2);
  const [n, c, h, w] = features.shape;
  const pooled = features.reshape([n, c, h / 2, 2, w / 2, 2]).max([3, 5]);
  return linear(nn.relu(linear(pooled.reshape([n, (c * h * w) / 4]), w3, b3)), w4, b4);
}

const cnnWeights = () => [
  weight(1, 32, 1, 3, 3),
  weight(2, 32),
  weight(3, 64, 32, 3, 3),
  weight(4, 64),
  dense(5, 128, 9216),
  weight(6, 128),
  dense(7, 10, 128),
  weight(8, 10),
];

function block([g1, n1, wq, bq, wk, bk, wv, bv, wo, bo, g2, n2, wu, bu, wd, bd], x) {
  const [batch, length, width] = x.shape;
  const normed = layerNorm(x.ref, g1, n1);
  const heads = (h, w, b) => linear(h, w, b).reshape([batch, length, 8, width / 8]);
  const [q, k] = [heads(normed.ref, wq, bq), heads(normed.ref, wk, bk)];
  const mixed = nn.dotProductAttention(q, k, heads(normed, wv, bv));
  const first = x.add(linear(mixed.reshape([batch, length, width]), wo, bo));
  const hidden = gelu(linear(layerNorm(first.ref, g2, n2), wu, bu));
  return first.add(linear(hidden, wd, bd));
}

function perceptron([w1, b1, w2, b2, w3, b3], x) {
  const hidden = nn.relu(linear(nn.relu(linear(x, w1, b1)), w2, b2));
  return linear(hidden, w3, b3);
}

function mlpStep(batch) {
  const widths = [784, 512, 512, 10];
  const params = [1, 2, 3].flatMap((i) => [
    dense(2 * i - 1, widths[i], widths[i - 1]),
    weight(2 * i, widths[i]),
  ]);
  const step = adam((p, x, y) => crossEntropy(perceptron(p, x), y));
  return training(step, adamState(params), [input(0, batch, 784), hot(1, batch)]);
}

const pads = [
  [1, 1],
  [1, 1],
];

const kinds = {
  matmul: (n) => forward((a, b) => np.matmul(a, b), inputs(2, n, n)),
  chain: (n) =>
    forward(
      (a, b, c) => {
        const gated = np.tanh(a.ref.mul(b.ref).add(c)).mul(nn.sigmoid(a));
        return gated.add(np.exp(b.ref.mul(b).neg()));
      },
      inputs(3, n),
    ),
  softmax: (m, n) => forward((x) => nn.softmax(x, -1), [input(0, m, n)]),
  layerNorm: (m, n) => forward(layerNorm, [input(0, m, n), weight(1, n), weight(2, n)]),
  sum: (m, n) => forward((x) => x.sum(), [input(0, m, n)]),
  sumColumns: (m, n) => forward((x) => x.sum(0), [input(0, m, n)]),
  cumsum: (m, n) => forward((x) => np.cumsum(x, 1), [input(0, m, n)]),
  conv3x3: (batch, c, size) =>
    forward(
      (x, w) => lax.conv(x, w, [1, 1], pads),
      [input(0, batch, c, size, size), input(1, c, c, 3, 3)],
    ),
  attention,
  attentionStep,
  mlpStep,
  cnn: (batch) => forward(cnn, [cnnWeights(), input(0, batch, 1, 28, 28)]),
  cnnStep: (batch) => {
    const step = adam((params, x, y) => crossEntropy(cnn(params, x), y));
    return training(step, adamState(cnnWeights()), [input(0, batch, 1, 28, 28), hot(1, batch)]);
  },
  block: (...shape) =>
    forward(block, [blockWeights({ weight, dense }, shape[2]), input(0, ...shape)]),
  blockStep: (...shape) => {
    const step = sgd((params, x) => {
      const y = block(params, x);
      return y.ref.mul(y).mean();
    });
    return training(step, blockWeights({ weight, dense }, shape[2]), [input(0, ...shape)]);
  },
};

const complaints = complaintsOf(jax.getWebGPUDevice());
await printRows({ name: "jax-js", kinds, complaints });
