/**
 * ONNX Runtime in the CPU table, native or on wasm as `KIND` says: inference only. Weights are part of the model, the
 * other operands are fed at each run.
 */
import { encodeOnnx } from "../onnx.ts";
import { checkOf, serve } from "../protocol.ts";
import { floats, workloadNamed } from "../workloads.ts";

const kind = process.env.KIND ?? "node";
const threads = Number(process.env.THREADS ?? 1);
const loaded = await import(kind === "node" ? "onnxruntime-node" : "onnxruntime-web");
const ort = loaded.default ?? loaded;
const common = { logSeverityLevel: 3, graphOptimizationLevel: "all" };
if (kind === "web") {
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = "error";
}
const options =
  kind === "web"
    ? { ...common, executionProviders: ["wasm"] }
    : { ...common, intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: "sequential" };

const operandsOf = (name) => workloadNamed(name).operands;
const held = (operand) => ({ shape: operand.shape, values: floats(operand) });
const allHeld = (operands) =>
  Object.fromEntries(Object.entries(operands).map(([name, o]) => [name, held(o)]));
const integers = (...values) => ({
  shape: [values.length],
  values: BigInt64Array.from(values, BigInt),
});
const scalar = (value) => ({ shape: [], values: Float32Array.of(value) });

const op = (name, inputs, output, attributes = {}) => ({
  op: name,
  inputs: inputs.split(" "),
  outputs: output.split(" "),
  attributes,
});

/** Work of a graph whose result is y; `fed` are the operands that are no weights. */
async function work({ nodes, fed, weights = {}, shape, int64 = false }) {
  const inputs = Object.fromEntries(Object.entries(fed).map(([name, o]) => [name, o.shape]));
  const output = { name: "y", shape, int64 };
  const model = encodeOnnx({ nodes, weights, inputs, output });
  const session = await ort.InferenceSession.create(model, options);
  const feeds = Object.fromEntries(
    Object.entries(fed).map(([name, o]) => [name, new ort.Tensor("float32", floats(o), o.shape)]),
  );
  let last;
  return {
    run: async () => {
      last = await session.run(feeds);
    },
    check: () => checkOf(last.y.data),
    drop: () => session.release(),
  };
}

const chain = (name) => () => {
  const fed = operandsOf(name);
  const nodes = [
    op("Mul", "a b", "product"),
    op("Add", "product c", "shifted"),
    op("Tanh", "shifted", "tanh"),
    op("Sigmoid", "a", "gate"),
    op("Mul", "tanh gate", "gated"),
    op("Mul", "b b", "square"),
    op("Neg", "square", "negative"),
    op("Exp", "negative", "bell"),
    op("Add", "gated bell", "y"),
  ];
  return work({ nodes, fed, shape: fed.a.shape });
};

const matmul = (name) => () => {
  const fed = operandsOf(name);
  return work({ nodes: [op("MatMul", "a b", "y")], fed, shape: fed.a.shape });
};

const linear = (x, w, b, y) => [
  op("MatMul", `${x} ${w}`, `${y}_product`),
  op("Add", `${y}_product ${b}`, y),
];
const gelu = (x, y) => op("Gelu", x, y, { approximate: "tanh" });
const layerNorm = (x, gain, bias, y) =>
  op("LayerNormalization", `${x} ${gain} ${bias}`, y, { axis: -1, epsilon: { float: 1e-5 } });

function perceptron() {
  const { x, ...weights } = operandsOf("mlp_fwd");
  const nodes = [
    ...linear("x", "w1", "b1", "first"),
    gelu("first", "hidden1"),
    ...linear("hidden1", "w2", "b2", "second"),
    gelu("second", "hidden2"),
    ...linear("hidden2", "w3", "b3", "y"),
  ];
  return work({ nodes, fed: { x }, weights: allHeld(weights), shape: [256, 10] });
}

const attention = [
  ...linear("normed", "wqkv", "bqkv", "qkv"),
  op("Reshape", "qkv apart", "parts"),
  op("Transpose", "parts", "ordered", { perm: [2, 0, 3, 1, 4] }),
  op("Split", "ordered", "q1 k1 v1", { axis: 0, num_outputs: 3 }),
  op("Reshape", "q1 heads", "q"),
  op("Reshape", "k1 heads", "k"),
  op("Reshape", "v1 heads", "v"),
  op("Transpose", "k", "kt", { perm: [0, 2, 1] }),
  op("MatMul", "q kt", "scores"),
  op("Mul", "scores scale", "scaled"),
  op("Softmax", "scaled", "weights", { axis: -1 }),
  op("MatMul", "weights v", "mixed"),
  op("Reshape", "mixed byHead", "split"),
  op("Transpose", "split", "together", { perm: [0, 2, 1, 3] }),
  op("Reshape", "together whole", "joined"),
  ...linear("joined", "wo", "bo", "projected"),
];

function transformer() {
  const { x, ...weights } = operandsOf("tf_fwd");
  const nodes = [
    layerNorm("x", "g1", "n1", "normed"),
    ...attention,
    op("Add", "x projected", "middle"),
    layerNorm("middle", "g2", "n2", "normed2"),
    ...linear("normed2", "wf", "bf", "wide"),
    gelu("wide", "active"),
    ...linear("active", "wp", "bp", "narrow"),
    op("Add", "middle narrow", "y"),
  ];
  const shapes = {
    apart: integers(8, 128, 3, 8, 32),
    heads: integers(64, 128, 32),
    byHead: integers(8, 8, 128, 32),
    whole: integers(8, 128, 256),
    scale: scalar(1 / Math.sqrt(32)),
  };
  return work({ nodes, fed: { x }, weights: { ...allHeld(weights), ...shapes }, shape: x.shape });
}

const convolution = (name, groups) => () => {
  const { x, w } = operandsOf(name);
  const attributes = { pads: [1, 1, 1, 1], kernel_shape: [3, 3], group: groups };
  const nodes = [op("Conv", "x w", "y", attributes)];
  return work({ nodes, fed: { x }, weights: { w: held(w) }, shape: x.shape });
};

/** ONNX has the gates in the order input, output, forget, cell and its weights by output. */
const gateOrder = [0, 3, 1, 2];

function gatesFirst({ shape: [inputs, columns], ...operand }) {
  const values = floats({ shape: [inputs, columns], ...operand });
  const width = columns / 4;
  const out = new Float32Array(values.length);
  for (let row = 0; row < columns; row++) {
    const from = gateOrder[Math.floor(row / width)] * width + (row % width);
    for (let i = 0; i < inputs; i++) out[row * inputs + i] = values[i * columns + from];
  }
  return { shape: [1, columns, inputs], values: out };
}

function lstm() {
  const { x, wx, wh, b } = operandsOf("lstm");
  const [steps, batch] = x.shape;
  const own = floats(b);
  const width = own.length / 4;
  const biases = new Float32Array(2 * own.length);
  for (const [i, gate] of gateOrder.entries())
    biases.set(own.subarray(gate * width, (gate + 1) * width), i * width);
  const weights = {
    w: gatesFirst(wx),
    r: gatesFirst(wh),
    b: { shape: [1, biases.length], values: biases },
    direction: integers(1),
  };
  const nodes = [
    op("LSTM", "x w r b", "states", { hidden_size: width }),
    op("Squeeze", "states direction", "y"),
  ];
  return work({ nodes, fed: { x }, weights, shape: [steps, batch, width] });
}

const reduced = (name, axis) => () => {
  const nodes = [op("ReduceSum", "x axis", "y", { keepdims: 0 })];
  return work({ nodes, fed: operandsOf(name), weights: { axis: integers(axis) }, shape: [4096] });
};

const works = {
  chain4m: chain("chain4m"),
  chain16k: chain("chain16k"),
  chain64: chain("chain64"),
  softmax: () => {
    const fed = operandsOf("softmax");
    return work({ nodes: [op("Softmax", "x", "y", { axis: 1 })], fed, shape: fed.x.shape });
  },
  layernorm: () => {
    const { x, ...weights } = operandsOf("layernorm");
    const nodes = [layerNorm("x", "g", "b", "y")];
    return work({ nodes, fed: { x }, weights: allHeld(weights), shape: x.shape });
  },
  mlp_fwd: perceptron,
  matmul512: matmul("matmul512"),
  matmul1024: matmul("matmul1024"),
  matmul2048: matmul("matmul2048"),
  tf_fwd: transformer,
  conv2d: convolution("conv2d", 1),
  dwconv: convolution("dwconv", 64),
  lstm,
  sum0: reduced("sum0", 0),
  sum1: reduced("sum1", 1),
  cumsum: () => {
    const axis = { shape: [], values: BigInt64Array.of(1n) };
    const nodes = [op("CumSum", "x axis", "y")];
    return work({ nodes, fed: operandsOf("cumsum"), weights: { axis }, shape: [4096, 4096] });
  },
  argmax: () => {
    const nodes = [op("ArgMax", "x", "y", { axis: 1, keepdims: 0 })];
    return work({ nodes, fed: operandsOf("argmax"), shape: [4096], int64: true });
  },
  transpose: () => {
    const nodes = [op("Transpose", "x", "y", { perm: [1, 0] })];
    return work({ nodes, fed: operandsOf("transpose"), shape: [4096, 4096] });
  },
};

await serve(`onnxruntime-${kind}, threads ${threads}`, works);
