/** Settings of layers: each is used, is of no account, or is refused by name. */
import { loadTfjs, type TfjsTensor } from "kiln-ml/tfjs";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Config = Readonly<Record<string, unknown>>;
type Weights = Readonly<Record<string, readonly [shape: number[], values: number[]]>>;

/** The results of a model of one layer, by its class, settings and weights. */
async function run(
  className: string,
  config: Config,
  weights: Weights,
  x: readonly [dims: number[], values: number[]],
  call: unknown = [["x", 0, 0, {}]],
  outputs = 1,
): Promise<TfjsTensor[]> {
  const [dims, values] = x;
  const layers = [
    { class_name: "InputLayer", name: "x", config: { batch_shape: dims }, inbound_nodes: [] },
    { class_name: className, name: "l", config: { name: "l", ...config }, inbound_nodes: [call] },
  ];
  const ends = Array.from({ length: outputs }, (_, i) => ["l", 0, i]);
  const model = {
    modelTopology: {
      class_name: "Functional",
      config: { name: "m", layers, input_layers: [["x", 0, 0]], output_layers: ends },
    },
    weightsManifest: [
      {
        paths: ["w"],
        weights: Object.entries(weights).map(([name, [shape]]) => ({
          name: `l/${name}`,
          shape,
          dtype: "float32",
        })),
      },
    ],
  };
  const all = Float32Array.from(Object.values(weights).flatMap(([, list]) => list));
  const ours = await loadTfjs({ model, weights: [all.buffer] }, { target: "js" });
  try {
    const found = await ours.run({
      x: { type: "float32", dims, data: Float32Array.from(values) },
    });
    return ours.outputs.map(({ name }) => found[name] as TfjsTensor);
  } finally {
    await ours.dispose();
  }
}

async function refuses(part: string, ...what: Parameters<typeof run>): Promise<void> {
  try {
    await run(...what);
  } catch (error) {
    assert.instance(error, Error);
    assert.match((error as Error).message, part);
    return;
  }
  assert.unreachable(part);
}

const row: [number[], number[]] = [
  [1, 2],
  [1, -2],
];
const steps: [number[], number[]] = [
  [1, 2, 1],
  [1, 2],
];
const identity: Weights = {
  kernel: [
    [2, 2],
    [1, 0, 0, 1],
  ],
};

test("a setting that no row reads is refused, unless it is off", async () => {
  const dense = { units: 2, use_bias: false };
  await refuses(
    "scale_by is 3, and only false is supported",
    "Dense",
    { ...dense, scale_by: 3 },
    identity,
    row,
  );
  const off = {
    ...dense,
    scale_by: null,
    lora: false,
    kernel_initializer: { class_name: "Zeros" },
  };
  const [y] = await run("Dense", off, identity, row);
  assert.equal([...(y!.data as Float32Array)], [1, -2]);
  const norm = { axis: -1, scale: false, center: false, rms_scaling: true };
  await refuses("rms_scaling is true", "LayerNormalization", norm, {}, row);
  const rnn = { units: 1, use_bias: false, time_major: true };
  const weights: Weights = { kernel: [[1, 1], [1]], recurrent_kernel: [[1, 1], [1]] };
  await refuses("time_major is true", "SimpleRNN", rnn, weights, steps);
  await refuses(
    "time_major is true",
    "TimeDistributed",
    { layer: { class_name: "Dense", config: { ...dense, time_major: true } } },
    { kernel: [[1, 1], [1]] },
    steps,
  );
});

test("an activation that is a layer with settings is refused", async () => {
  const config = (activation: unknown) => ({ units: 2, use_bias: false, activation });
  const six = { class_name: "ReLU", config: { name: "r", max_value: 6 } };
  await refuses("the activation ReLU has settings of its own", "Dense", config(six), identity, row);
  for (const plain of [
    { class_name: "relu", config: {} },
    { class_name: "function", config: "relu" },
    "relu",
  ]) {
    const [y] = await run("Dense", config(plain), identity, row);
    assert.equal([...(y!.data as Float32Array)], [1, 0]);
  }
});

test("arguments of a call in both forms", async () => {
  const dense = { units: 2, use_bias: false };
  const x = { class_name: "__keras_tensor__", config: { keras_history: ["x", 0, 0] } };
  const calls: readonly unknown[] = [
    [["x", 0, 0, { training: true }]],
    [["x", 0, 0, { mask: ["x", 0, 0] }]],
    { args: [x], kwargs: { mask: x } },
    { args: [x, 2], kwargs: {} },
  ];
  for (const call of calls)
    await refuses("is an argument of a call", "Dense", dense, identity, row, call);
  for (const call of [
    [["x", 0, 0, { training: false, mask: null }]],
    { args: [x, null], kwargs: { training: false, mask: null } },
  ])
    assert.is((await run("Dense", dense, identity, row, call)).length, 1);
});

test("normalisation over one axis, and over that of the mean", async () => {
  const batch = { axis: [1, 2], scale: false, center: false };
  await refuses("axis is [1,2], not one axis", "BatchNormalization", batch, {}, row);
  const weights: Weights = { mean: [[2], [1, 2]], variance: [[2], [4, 1]] };
  const x: [number[], number[]] = [
    [1, 2, 2],
    [1, 3, 2, 5],
  ];
  const first = await run("Normalization", { axis: [1] }, weights, x);
  assert.equal([...(first[0]!.data as Float32Array)], [0, 1, 0, 3]);
  const last = await run("Normalization", { axis: [-1] }, weights, x);
  assert.equal([...(last[0]!.data as Float32Array)], [0, 1, 0.5, 3]);
  await refuses("invert is true", "Normalization", { axis: [1], invert: true }, weights, x);
  const scalars: Weights = { mean: [[], [1]], variance: [[], [4]] };
  const [y] = await run("Normalization", { axis: null }, scalars, x);
  assert.equal([...(y!.data as Float32Array)], [0, 1, 0.5, 2]);
});

test("a backward layer of its own, and results that are not merged", async () => {
  const rnn = (name: string, more: Config = {}) => ({
    class_name: "SimpleRNN",
    config: { name, units: 1, use_bias: false, activation: "linear", ...more },
  });
  const cell = (name: string, w: number): Weights => ({
    [`${name}/kernel`]: [[1, 1], [w]],
    [`${name}/recurrent_kernel`]: [[1, 1], [10]],
  });
  const config = {
    merge_mode: null,
    layer: rnn("f"),
    backward_layer: rnn("b", { go_backwards: true, activation: "relu" }),
  };
  const weights = { ...cell("forward_f", 1), ...cell("backward_b", -1) };
  const call = [["x", 0, 0, {}]];
  const two = await run("Bidirectional", config, weights, steps, call, 2);
  assert.equal(
    two.map((t) => t.data[0]),
    [12, 0],
  );
});

/** As TensorFlow.js resizes, whose own layer takes no part in a model: corners onto corners. */
test("resizing maps corners onto corners", async () => {
  const x: [number[], number[]] = [
    [1, 1, 4, 1],
    [0, 1, 2, 3],
  ];
  const [linear] = await run("Resizing", { height: 1, width: 7 }, {}, x);
  assert.equal([...(linear!.data as Float32Array)], [0, 0.5, 1, 1.5, 2, 2.5, 3]);
  const config = { height: 1, width: 3, interpolation: "nearest" };
  const [nearest] = await run("Resizing", config, {}, x);
  assert.equal([...(nearest!.data as Float32Array)], [0, 2, 3]);
});

test.run();
