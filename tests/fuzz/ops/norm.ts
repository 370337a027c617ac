/**
 * Samples of normalisations.
 */
import type { Draw, Values } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { float, type Sample } from "./sample.ts";

const real = (d: Draw) => d.pick(["float32", "float32", "float64", "float16"] as const);
const two = (d: Draw) => d.pick(["float32", "float64"] as const);

const image = (d: Draw, low = 0): number[] => [
  d.int(1, 3),
  d.int(1, 4),
  ...d.shape({ rank: [low, 3], empty: 0 }),
];

function batchNorm(d: Draw): Sample {
  const opset = d.opset(9);
  const type = two(d);
  const dims = image(d);
  const training = opset >= 14 ? d.maybe(d.int(0, 1)) : undefined;
  const v = (values: Values) => d.tensor(type, [dims[1]!], values);
  return {
    opset,
    attributes: {
      epsilon: d.maybe(float(1e-3)),
      momentum: d.maybe(float(0.7)),
      training_mode: training,
    },
    inputs: [d.tensor(type, dims), v("finite"), v("finite"), v("finite"), v("positive")],
    outputs: training ? 3 : 1,
    sums: true,
  };
}

function instanceNorm(d: Draw): Sample {
  const dims = image(d, 1);
  const v = d.tensor("float32", [dims[1]!]);
  return {
    opset: d.opset(7),
    attributes: { epsilon: d.maybe(float(0.01)) },
    inputs: [d.tensor("float32", dims), v, d.tensor("float32", [dims[1]!])],
    sums: true,
    atol: 1e-4,
  };
}

function layerNorm(d: Draw): Sample {
  const type = real(d);
  const x = d.tensor(type, d.shape({ rank: [1, 4], empty: 0 }));
  const axis = d.axis(x.dims.length);
  const own = x.dims.slice(axis < 0 ? axis + x.dims.length : axis);
  const outputs = d.int(1, 3);
  return {
    opset: d.opset(17),
    attributes: { axis: d.maybe(axis, 1), epsilon: d.maybe(float(0.01)), stash_type: d.maybe(1) },
    inputs: [x, d.tensor(type, own), d.maybe(d.tensor(type, own))],
    outputs,
    sums: true,
    atol: 1e-4,
  };
}

function rmsNorm(d: Draw): Sample {
  const s = layerNorm(d);
  return { ...s, opset: d.opset(23), inputs: s.inputs.slice(0, 2), outputs: 1 };
}

function groupNorm(d: Draw): Sample {
  const groups = d.int(1, 3);
  const c = groups * d.int(1, 2);
  const opset = d.opset(18);
  const v = () => d.tensor("float32", [opset < 21 ? groups : c]);
  const dims = [d.int(1, 2), c, ...d.shape({ rank: [1, 3], empty: 0 })];
  return {
    opset,
    attributes: { num_groups: groups, epsilon: d.maybe(float(0.01)) },
    inputs: [d.tensor("float32", dims), v(), v()],
    sums: true,
    atol: 1e-4,
  };
}

function lrn(d: Draw): Sample {
  return {
    opset: d.opset(7),
    attributes: {
      size: d.pick([1, 3, 5]),
      alpha: d.maybe(float(0.1)),
      beta: d.maybe(float(0.6)),
      bias: d.maybe(float(2)),
    },
    inputs: [d.tensor("float32", [d.int(1, 2), d.int(1, 6), d.int(1, 3), d.int(1, 3)])],
    sums: true,
  };
}

function lpNorm(d: Draw): Sample {
  const x = d.tensor(two(d), d.shape({ rank: [1, 4], empty: 0 }));
  return {
    opset: d.opset(7),
    attributes: { axis: d.maybe(d.axis(x.dims.length)), p: d.maybe(d.int(1, 2)) },
    inputs: [x],
    sums: true,
  };
}

function meanVariance(d: Draw): Sample {
  const x = d.tensor("float32", [2, d.int(2, 3), d.int(2, 3), d.int(2, 3)]);
  const axes = d.axes(4, 1);
  return {
    opset: d.opset(9),
    attributes: { axes: d.maybe(axes) },
    inputs: [x],
    sums: true,
    atol: 1e-3,
  };
}

export const norms: Readonly<Record<string, Sampler>> = {
  BatchNormalization: batchNorm,
  InstanceNormalization: instanceNorm,
  LayerNormalization: layerNorm,
  RMSNormalization: rmsNorm,
  GroupNormalization: groupNorm,
  LRN: lrn,
  LpNormalization: lpNorm,
  MeanVarianceNormalization: meanVariance,
};
