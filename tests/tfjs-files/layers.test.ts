/** Layers models give what TensorFlow.js gives, which makes and saves them here. */
import "@tensorflow/tfjs-backend-cpu";
import * as tf from "@tensorflow/tfjs-core";
import * as tfl from "@tensorflow/tfjs-layers";
import { loadTfjs, type TfjsArtifacts, type TfjsTensor } from "kiln-ml/tfjs";
import { test } from "uvu";
import * as assert from "uvu/assert";

// It advertises its Node bindings once.
tf.env().set("IS_NODE", false);

const { layers } = tfl;
type Symbolic = tfl.SymbolicTensor;
type Layer = { apply(x: Symbolic | Symbolic[]): unknown };

/** Numbers between −1 and 1 that look like chance. */
function noise(shape: readonly number[], seed: number): tf.Tensor {
  let state = seed * 7919;
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
  return tf.tensor(values, [...shape]);
}

/** One model whose branches are these layers, each on an input of its own shape. */
function modelOf(calls: readonly (readonly [shape: (number | null)[], ...layers: Layer[]])[]) {
  const inputs = calls.map(([shape], i) => tfl.input({ shape, name: `x${i}` }));
  const outputs = calls.map(([, ...list], i) =>
    list.reduce((x, layer) => layer.apply(x) as Symbolic, inputs[i]!),
  );
  return tfl.model({ inputs, outputs });
}

async function check(model: tfl.LayersModel, feeds: readonly tf.Tensor[]): Promise<void> {
  // Weights that are not what every layer begins with: variances stay above 0.
  const weights = model.getWeights().map((w, i) => tf.add(tf.mul(noise(w.shape, i + 3), 0.3), 0.4));
  model.setWeights(weights);
  const made = model.predict([...feeds]) as tf.Tensor | tf.Tensor[];
  const wanted = Array.isArray(made) ? made : [made];
  let saved: TfjsArtifacts | undefined;
  await model.save({
    save: async (artifacts) => {
      saved = artifacts as TfjsArtifacts;
      return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: "JSON" } };
    },
  });
  const ours = await loadTfjs(saved!, { target: "js" });
  const inputs = feeds.map((t, i) => {
    const tensor = { type: "float32" as const, dims: t.shape, data: t.dataSync() as Float32Array };
    return [ours.inputs[i]!.name, tensor] as const;
  });
  const got = await ours.run(Object.fromEntries(inputs));
  for (const [i, { name }] of ours.outputs.entries()) {
    const { dims, data } = got[name] as TfjsTensor;
    assert.is(`[${dims}]`, `[${wanted[i]!.shape}]`, name);
    for (const [k, v] of wanted[i]!.dataSync().entries()) {
      const other = Number(data[k]);
      assert.ok(
        Math.abs(other - v) <= 5e-5 * Math.max(1, Math.abs(v)),
        `${name} [${k}]: ${other}, not ${v}`,
      );
    }
  }
  await ours.dispose();
}

/** The orthogonal one needs methods that the core does not register by itself. */
const plain = { recurrentInitializer: "glorotUniform" } as const;

const image = [7, 6, 3];

test("layers of images", async () => {
  await tf.setBackend("cpu");
  const model = modelOf([
    [
      image,
      layers.conv2d({
        filters: 4,
        kernelSize: [3, 2],
        strides: 2,
        padding: "same",
        activation: "relu",
      }),
    ],
    [image, layers.conv2d({ filters: 2, kernelSize: 3, dilationRate: [1, 2], useBias: false })],
    [
      image,
      layers.depthwiseConv2d({ kernelSize: 3, strides: 2, depthMultiplier: 2, padding: "same" }),
    ],
    [image, layers.separableConv2d({ filters: 5, kernelSize: 3, depthMultiplier: 2 })],
    [
      image,
      layers.conv2dTranspose({ filters: 2, kernelSize: [3, 2], strides: 2, padding: "same" }),
    ],
    [image, layers.conv2dTranspose({ filters: 2, kernelSize: 3, strides: 2 })],
    [[9, 3], layers.conv1d({ filters: 4, kernelSize: 3, padding: "same", strides: 2 })],
    [[4, 5, 3, 2], layers.conv3d({ filters: 3, kernelSize: 2, padding: "same" })],
    [image, layers.maxPooling2d({ poolSize: 3, strides: 2, padding: "same" })],
    [image, layers.averagePooling2d({ poolSize: [2, 3], padding: "same" })],
    [[9, 3], layers.maxPooling1d({ poolSize: 3, strides: 2 })],
    [image, layers.globalAveragePooling2d({})],
    [[9, 3], layers.globalMaxPooling1d({})],
    [
      image,
      layers.zeroPadding2d({
        padding: [
          [1, 2],
          [0, 3],
        ],
      }),
    ],
    [
      image,
      layers.cropping2D({
        cropping: [
          [1, 2],
          [0, 3],
        ],
      }),
    ],
    [image, layers.upSampling2d({ size: [2, 3] })],
    [image, layers.upSampling2d({ size: [2, 2], interpolation: "bilinear" })],
    [image, layers.batchNormalization({})],
  ]);
  await check(
    model,
    model.inputs.map((x, i) => noise([2, ...(x.shape.slice(1) as number[])], i + 1)),
  );
});

test("layers of features, and merging", async () => {
  await tf.setBackend("cpu");
  const x = () => [4, 6];
  const model = modelOf([
    [x(), layers.dense({ units: 5, activation: "softmax" })],
    [x(), layers.layerNormalization({})],
    [
      x(),
      layers.flatten({}),
      layers.dense({ units: 3, activation: "selu" }),
      layers.repeatVector({ n: 2 }),
    ],
    [x(), layers.reshape({ targetShape: [3, -1] }), layers.permute({ dims: [2, 1] })],
    [x(), layers.prelu({}), layers.leakyReLU({ alpha: 0.2 }), layers.elu({})],
    [
      x(),
      layers.reLU({ maxValue: 0.5 }),
      layers.thresholdedReLU({ theta: 0.2 }),
      layers.dropout({ rate: 0.5 }),
    ],
    [x(), layers.activation({ activation: "hardSigmoid" }), layers.softmax({ axis: -1 })],
  ]);
  const [a, b] = [tfl.input({ shape: [4, 6], name: "a" }), tfl.input({ shape: [4, 6], name: "b" })];
  const merges = [
    layers.add(),
    layers.multiply(),
    layers.average(),
    layers.maximum(),
    layers.minimum(),
  ];
  const outputs = [...merges, layers.concatenate({ axis: 1 }), layers.dot({ axes: 2 })].map(
    (layer) => layer.apply([a, b]) as Symbolic,
  );
  const shared = layers.dense({ units: 2 });
  const twice = [shared.apply(a) as Symbolic, shared.apply(b) as Symbolic];
  const inner = tfl.sequential({ layers: [layers.dense({ units: 3, inputShape: [4, 6] })] });
  const within = inner.apply(a) as Symbolic;
  const all = tfl.model({
    inputs: [...model.inputs, a, b],
    outputs: [...model.outputs, ...outputs, ...twice, within],
  });
  await check(
    all,
    all.inputs.map((_, i) => noise([2, 4, 6], i + 1)),
  );
});

test("recurrent layers and wrappers", async () => {
  await tf.setBackend("cpu");
  const x = () => [5, 3];
  const model = modelOf([
    [x(), layers.lstm({ ...plain, units: 4 })],
    [
      x(),
      layers.lstm({
        ...plain,
        units: 4,
        returnSequences: true,
        goBackwards: true,
        recurrentActivation: "sigmoid",
      }),
    ],
    [x(), layers.gru({ ...plain, units: 4, returnSequences: true })],
    [x(), layers.simpleRNN({ ...plain, units: 4, useBias: false })],
    [
      x(),
      layers.bidirectional({
        layer: layers.lstm({ ...plain, units: 2, returnSequences: true }) as tfl.RNN,
        mergeMode: "concat",
      }),
    ],
    [
      x(),
      layers.bidirectional({
        layer: layers.gru({ ...plain, units: 2 }) as tfl.RNN,
        mergeMode: "sum",
      }),
    ],
    [x(), layers.timeDistributed({ layer: layers.dense({ units: 2 }) })],
    [
      x(),
      layers.bidirectional({
        layer: layers.gru({
          ...plain,
          units: 2,
          goBackwards: true,
          returnSequences: true,
        }) as tfl.RNN,
        mergeMode: "ave",
      }),
    ],
  ]);
  await check(
    model,
    model.inputs.map((_, i) => noise([2, 5, 3], i + 1)),
  );
});

test("an embedding takes whole numbers", async () => {
  await tf.setBackend("cpu");
  const model = tfl.sequential({
    layers: [
      layers.embedding({ inputDim: 5, outputDim: 3, inputLength: 4 }),
      layers.lstm({ ...plain, units: 2 }),
    ],
  });
  await check(model, [
    tf.tensor([
      [0, 4, 2, 1],
      [3, 3, 0, 1],
    ]),
  ]);
});

test.run();
