/** Dense layers, activations, shapes, embeddings, normalisation, and layers that merge. */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import { asFloat, asIndex, axisOf, range } from "../rows/operand.ts";
import { activationOf } from "./activation.ts";
import {
  channelsFirst,
  flag,
  type Layer,
  type LayerRow,
  layerRow,
  maybeWeight,
  number,
  only,
  weight,
  x,
} from "./layer.ts";

function dense(layer: Layer): Tensor {
  const t = asFloat(x(layer));
  const w = weight(layer, "kernel");
  const y = t.rank === 1 ? ir.matmul(ir.expandDims(t, 0), w) : ir.matmul(t, w);
  return activationOf(
    layer,
    "activation",
  )(flag(layer, "use_bias", true) ? ir.add(y, weight(layer, "bias")) : y);
}

/** Linear above the threshold up to a greatest value, of another slope below. */
function rectified(layer: Layer): Tensor {
  const t = x(layer);
  const most = layer.config.maybe("max_value")?.number();
  const slope = number(layer, "negative_slope", 0);
  const threshold = number(layer, "threshold", 0);
  const above = threshold === 0 ? ir.relu(t) : ir.where(ir.greaterEqual(t, threshold), t, 0);
  const below = slope === 0 ? 0 : ir.mul(ir.sub(t, threshold), slope);
  const y = slope === 0 ? above : ir.where(ir.less(t, threshold), below, above);
  return most === undefined ? y : ir.minimum(y, most);
}

function leaky(layer: Layer): Tensor {
  return ir.leakyRelu(x(layer), number(layer, "alpha", number(layer, "negative_slope", 0.3)));
}

function parametric(layer: Layer): Tensor {
  const t = x(layer);
  return ir.where(ir.less(t, 0), ir.mul(weight(layer, "alpha"), t), t);
}

const softmaxed = (layer: Layer): Tensor => {
  const axis = layer.config.maybe("axis");
  const one = axis?.isList ? axis.list()[0] : axis;
  if (axis?.isList && axis.list().length > 1) layer.n.fail("axis is a list of several");
  return ir.softmax(x(layer), axisOf(layer.n, one?.whole() ?? -1, x(layer).rank));
};

/** All axes behind the batch as one; channels go last before. */
function flattened(layer: Layer): Tensor {
  const given = x(layer);
  const first = channelsFirst(layer) && given.rank > 2;
  const t = first ? ir.transpose(given, [0, ...range(given.rank - 2).map((i) => i + 2), 1]) : given;
  return ir.reshape(t, [t.shape[0]!, ir.sizeOf(t.shape.slice(1))]);
}

/** One extent may be −1: what the others leave. */
function reshaped(layer: Layer): Tensor {
  const t = x(layer);
  const wanted = layer.config
    .get("target_shape")
    .list()
    .map((f) => (f.value === null ? -1 : f.whole()));
  const all = ir.sizeOf(t.shape.slice(1));
  const taken = wanted.filter((d) => d >= 0).reduce((a, b) => a * b, 1);
  const rest = () =>
    ir.exactQuotient(all, taken) ??
    layer.n.fail(`[${wanted}] does not divide ${ir.printShape(t.shape)}`);
  if (wanted.filter((d) => d < 0).length > 1)
    layer.n.fail(`[${wanted}] leaves several extents open`);
  return ir.reshape(t, [t.shape[0]!, ...wanted.map((d): Dim => (d < 0 ? rest() : d))]);
}

const permuted = (layer: Layer): Tensor =>
  ir.transpose(x(layer), [
    0,
    ...layer.config
      .get("dims")
      .list()
      .map((f) => f.count()),
  ]);

/** [N, F] → [N, n, F]. */
const repeated = (layer: Layer): Tensor => {
  const t = x(layer);
  return ir.broadcastTo(ir.expandDims(t, 1), [
    t.shape[0]!,
    layer.config.get("n").count(),
    ...t.shape.slice(1),
  ]);
};

function embedded(layer: Layer): Tensor {
  only(layer, "mask_zero", false);
  return ir.take(weight(layer, "embeddings"), asIndex(x(layer)), 0, { negative: "outside" });
}

/** Weights of one axis as they lie beside x. */
function alongAxes(t: Tensor, shape: readonly Dim[], axes: readonly number[]): Tensor {
  return ir.reshape(
    t,
    shape.map((d, i) => (axes.includes(i) ? d : 1)),
  );
}

function batchNormalised(layer: Layer): Tensor {
  const t = x(layer);
  const field = layer.config.maybe("axis");
  const axes = field?.isList ? field.list().map((f) => f.whole()) : [field?.whole() ?? -1];
  if (axes.length !== 1) layer.n.fail(`axis is [${axes}], not one axis`);
  const axis = axisOf(layer.n, axes[0]!, t.rank);
  const w = (name: string) => alongAxes(weight(layer, name), t.shape, [axis]);
  const factor = ir.rsqrt(ir.add(w("moving_variance"), number(layer, "epsilon", 1e-3)));
  const scale = flag(layer, "scale", true) ? ir.mul(factor, w("gamma")) : factor;
  const y = ir.mul(ir.sub(t, w("moving_mean")), scale);
  return flag(layer, "center", true) ? ir.add(y, w("beta")) : y;
}

function layerNormalised(layer: Layer): Tensor {
  const t = x(layer);
  const field = layer.config.maybe("axis");
  const list = field?.isList ? field.list().map((f) => f.whole()) : [field?.whole() ?? -1];
  const axes = list.map((a) => axisOf(layer.n, a, t.rank));
  const centred = ir.sub(t, ir.mean(t, axes, { keepDims: true }));
  const spread = ir.mean(ir.square(centred), axes, { keepDims: true });
  const w = (name: string) => alongAxes(weight(layer, name), t.shape, axes);
  let y = ir.mul(centred, ir.rsqrt(ir.add(spread, number(layer, "epsilon", 1e-3))));
  if (flag(layer, "scale", true)) y = ir.mul(y, w("gamma"));
  return flag(layer, "center", true) ? ir.add(y, w("beta")) : y;
}

/** Tensors of lower rank have axes of extent 1 put behind the batch. */
function levelled({ inputs }: Layer): Tensor[] {
  const rank = Math.max(...inputs.map((t) => t.rank));
  return inputs.map((t) => range(rank - t.rank).reduce((y) => ir.expandDims(y, 1), t));
}

const merged =
  (f: (a: Tensor, b: Tensor) => Tensor) =>
  (layer: Layer): Tensor => {
    if (layer.inputs.length < 2)
      layer.n.fail(`is called with ${layer.inputs.length} tensors, not two or more`);
    return levelled(layer).reduce(f);
  };

const averaged = (layer: Layer): Tensor => ir.div(merged(ir.add)(layer), layer.inputs.length);

function concatenated(layer: Layer): Tensor {
  const axis = number(layer, "axis", -1);
  const { inputs } = layer;
  return inputs.length === 1
    ? inputs[0]!
    : ir.concat(inputs, axisOf(layer.n, axis, inputs[0]!.rank));
}

/** Products over one axis of each, batch by batch. */
function dotted(layer: Layer): Tensor {
  const [a, b] = layer.inputs as [Tensor, Tensor];
  if (layer.inputs.length !== 2)
    layer.n.fail(`is called with ${layer.inputs.length} tensors, not two`);
  const field = layer.config.get("axes");
  const given = field.isList ? field.list().map((f) => f.whole()) : [field.whole(), field.whole()];
  const [i, j] = [axisOf(layer.n, given[0]!, a.rank), axisOf(layer.n, given[1]!, b.rank)];
  const unit = (t: Tensor, axis: number) =>
    flag(layer, "normalize", false)
      ? ir.mul(t, ir.rsqrt(ir.maximum(ir.sum(ir.square(t), axis, { keepDims: true }), 1e-12)))
      : t;
  const y = ir.dotGeneral(unit(a, i), unit(b, j), {
    lhsBatch: [0],
    rhsBatch: [0],
    lhsContract: [i],
    rhsContract: [j],
  });
  return y.rank === 1 ? ir.expandDims(y, 1) : y;
}

/** x · scale + offset, numbers or one a channel. */
function rescaled(layer: Layer): Tensor {
  const of = (name: string, fallback: number): number | Tensor => {
    const field = layer.config.maybe(name);
    if (!field?.isList) return field?.number() ?? fallback;
    return ir.tensor(Float32Array.from(field.list(), (f) => f.number()));
  };
  return ir.add(ir.mul(asFloat(x(layer)), of("scale", 1)), of("offset", 0));
}

/** (x − mean) / √variance, each along the axes that are kept; null keeps none of them. */
function normalised(layer: Layer): Tensor {
  const t = asFloat(x(layer));
  const { config, n } = layer;
  only(layer, "invert", false);
  for (const name of ["mean", "variance"]) only(layer, name, null);
  const all = ["mean", "variance"].map((name) => maybeWeight(layer, name));
  const field = config.maybe("axis");
  const given = field?.isList ? field.list().map((f) => f.whole()) : [field?.whole() ?? -1];
  const axes = config.isNull("axis") ? [] : given.map((a) => axisOf(n, a, t.rank));
  const [mean, variance] = all.map((w) => w && alongAxes(w, t.shape, axes));
  if (!mean || !variance) return n.fail("has no weights mean and variance");
  return ir.div(ir.sub(t, mean), ir.maximum(ir.sqrt(variance), 1e-7));
}

/** Layers that do something in training only. */
const idle =
  "Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise GaussianDropout AlphaDropout ActivityRegularization";

export const coreLayers: readonly LayerRow[] = [
  layerRow("Dense", dense),
  layerRow("Activation", (l) => activationOf(l, "activation")(x(l))),
  layerRow("ReLU", rectified),
  layerRow("LeakyReLU", leaky),
  layerRow("PReLU", parametric),
  layerRow("ELU", (l) => ir.elu(x(l), number(l, "alpha", 1))),
  layerRow("ThresholdedReLU", (l) => ir.where(ir.greater(x(l), number(l, "theta", 1)), x(l), 0)),
  layerRow("Softmax", softmaxed),
  ...idle.split(" ").map((name) => layerRow(name, x, "Inference.")),
  layerRow("Flatten", flattened),
  layerRow("Reshape", reshaped),
  layerRow("Permute", permuted),
  layerRow("RepeatVector", repeated),
  layerRow("Embedding", embedded, "mask_zero is refused."),
  layerRow("BatchNormalization", batchNormalised),
  layerRow("LayerNormalization", layerNormalised),
  layerRow("Add", merged(ir.add)),
  layerRow("Subtract", merged(ir.sub)),
  layerRow("Multiply", merged(ir.mul)),
  layerRow("Maximum", merged(ir.maximum)),
  layerRow("Minimum", merged(ir.minimum)),
  layerRow("Average", averaged),
  layerRow("Concatenate", concatenated),
  layerRow("Dot", dotted),
  layerRow("Rescaling", rescaled),
  layerRow("Normalization", normalised),
];
