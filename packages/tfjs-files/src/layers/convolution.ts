/** Convolutions of layers models, their transposes, pools, padding, cropping and enlarging. */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import {
  convolve,
  type Plan,
  samePadding,
  channelsFirst as toFirst,
  channelsLast as toLast,
} from "../rows/convolution.ts";
import { range } from "../rows/operand.ts";
import { asValue, ints, standard, text } from "../rows/row.ts";
import { activationOf } from "./activation.ts";
import {
  channelsFirst,
  flag,
  type Layer,
  type LayerRow,
  layerRow,
  maybeWeight,
  only,
  perAxis,
  weight,
  word,
  x,
} from "./layer.ts";

/** The extents of the image of a tensor. */
const imageOf = (t: Tensor, first: boolean): readonly Dim[] =>
  first ? t.shape.slice(2) : t.shape.slice(1, -1);

function paddings(
  layer: Layer,
  extents: readonly Dim[],
  size: readonly Dim[],
  stride: number[],
  dilation: number[],
): [Dim, Dim][] {
  const kind = word(layer, "padding", "valid");
  if (kind === "valid") return extents.map(() => [0, 0]);
  if (kind === "same")
    return extents.map((d, i) => samePadding(d, size[i]!, stride[i]!, dilation[i]!));
  if (kind !== "causal") return layer.n.fail(`padding is ${kind}, not same, valid or causal`);
  return extents.map((_, i) => [ir.mulDim(ir.subDim(size[i]!, 1), dilation[i]!), 0]);
}

function planOf(layer: Layer, t: Tensor, w: Tensor, depthwise: boolean): Plan {
  const first = channelsFirst(layer);
  const axes = w.rank - 2;
  if (t.rank !== w.rank)
    layer.n.fail(`x is ${ir.printShape(t.shape)} and the kernel ${ir.printShape(w.shape)}`);
  const [stride, dilation] = [
    perAxis(layer, "strides", axes, 1),
    perAxis(layer, "dilation_rate", axes, 1),
  ];
  const padding = paddings(layer, imageOf(t, first), w.shape.slice(0, axes), stride, dilation);
  return { stride, dilation, padding, first, depthwise };
}

/** The bias along channels, and the activation. */
function finished(layer: Layer, y: Tensor): Tensor {
  const bias = flag(layer, "use_bias", true) ? weight(layer, "bias") : undefined;
  const aligned =
    bias && channelsFirst(layer)
      ? ir.reshape(bias, [...bias.shape, ...range(y.rank - 2).map(() => 1)])
      : bias;
  return activationOf(layer, "activation")(aligned ? ir.add(y, aligned) : y);
}

function convolved(layer: Layer): Tensor {
  const w = weight(layer, "kernel");
  return finished(layer, convolve(x(layer), w, planOf(layer, x(layer), w, false)));
}

function depthwise(layer: Layer): Tensor {
  const w = maybeWeight(layer, "depthwise_kernel") ?? weight(layer, "kernel");
  return finished(layer, convolve(x(layer), w, planOf(layer, x(layer), w, true)));
}

/** Each channel by itself, then all of them at each place. */
function separable(layer: Layer): Tensor {
  const [deep, point] = [weight(layer, "depthwise_kernel"), weight(layer, "pointwise_kernel")];
  const plan = planOf(layer, x(layer), deep, true);
  const each = convolve(x(layer), deep, plan);
  const one = plan.stride.map(() => 1);
  const none = plan.stride.map((): [Dim, Dim] => [0, 0]);
  const y = convolve(each, point, {
    ...plan,
    stride: one,
    dilation: one,
    padding: none,
    depthwise: false,
  });
  return finished(layer, y);
}

/**
 * The gradient of a convolution along its input, which is linear: its own value does not matter.
 */
function transposed(layer: Layer): Tensor {
  const [t, w] = [x(layer), weight(layer, "kernel")];
  const axes = w.rank - 2;
  only(layer, "output_padding", null);
  if (perAxis(layer, "dilation_rate", axes, 1).some((d) => d !== 1))
    layer.n.fail("dilation_rate is not 1");
  const stride = perAxis(layer, "strides", axes, 1);
  const first = channelsFirst(layer);
  const same = word(layer, "padding", "valid") === "same";
  const image = imageOf(t, first).map((d, i) => {
    const beyond = same ? 0 : ir.maxDim(ir.subDim(w.shape[i]!, stride[i]!), 0);
    return ir.addDim(ir.mulDim(d, stride[i]!), beyond);
  });
  const channels = w.shape[axes]!;
  const shape = first ? [t.shape[0]!, channels, ...image] : [t.shape[0]!, ...image, channels];
  const from = ir.declareData("f32", shape);
  const y = convolve(from, w, planOf(layer, from, w, false));
  return finished(layer, ir.grad(y, [from], { cotangent: t })[0]!);
}

type Pool = (
  t: Tensor,
  frame: { size: number[]; stride: number[]; padding: [Dim, Dim][] },
) => Tensor;

const average: Pool = (t, frame) => ir.avgPool(t, { ...frame, countIncludePad: false });

const pooled =
  (pool: Pool, axes: number) =>
  (layer: Layer): Tensor => {
    const first = channelsFirst(layer);
    const t = first ? x(layer) : toFirst(x(layer));
    if (t.rank !== axes + 2)
      layer.n.fail(`x is ${ir.printShape(t.shape)}, not of rank ${axes + 2}`);
    const size = perAxis(layer, "pool_size", axes, 2);
    const given = layer.config.maybe("strides");
    const stride = given ? perAxis(layer, "strides", axes, 2) : size;
    const padding = paddings(
      layer,
      t.shape.slice(2),
      size,
      stride,
      size.map(() => 1),
    );
    const y = pool(t, { size, stride, padding });
    return first ? y : toLast(y);
  };

const overImage =
  (f: (t: Tensor, axes: number[], o: { keepDims: boolean }) => Tensor) =>
  (layer: Layer): Tensor => {
    const t = x(layer);
    const from = channelsFirst(layer) ? 2 : 1;
    return f(
      t,
      range(t.rank - 2).map((i) => from + i),
      { keepDims: flag(layer, "keepdims", false) },
    );
  };

/**
 * What is put around, or cut off, each axis of the image: a number, one for each axis, or pairs.
 */
function sides(layer: Layer, name: string, axes: number): [number, number][] {
  const field = layer.config.get(name);
  if (!field.isList) return range(axes).map(() => [field.count(), field.count()]);
  const list = field.list();
  if (axes === 1 && list.length === 2) return [[list[0]!.count(), list[1]!.count()]];
  if (list.length !== axes) layer.n.fail(`${name} has ${list.length} entries, not ${axes}`);
  return list.map((f): [number, number] => {
    if (!f.isList) return [f.count(), f.count()];
    const [low, high] = f.list();
    return [low?.count() ?? 0, high?.count() ?? 0];
  });
}

/** One entry for each axis of x. */
function around(layer: Layer, name: string, axes: number): [low: number[], high: number[]] {
  const image = sides(layer, name, axes);
  const at = channelsFirst(layer) ? 2 : 1;
  const of = (k: 0 | 1) => x(layer).shape.map((_, i) => image[i - at]?.[k] ?? 0);
  return [of(0), of(1)];
}

const surrounded =
  (axes: number) =>
  (layer: Layer): Tensor => {
    const [low, high] = around(layer, "padding", axes);
    return ir.pad(x(layer), 0, low, high);
  };

const cropped =
  (axes: number) =>
  (layer: Layer): Tensor => {
    const [low, high] = around(layer, "cropping", axes);
    return ir.slice(
      x(layer),
      low,
      x(layer).shape.map((d, i) => ir.subDim(d, high[i]!)),
    );
  };

const enlarged =
  (axes: number) =>
  (layer: Layer): Tensor => {
    const size = perAxis(layer, "size", axes, 2);
    const first = channelsFirst(layer);
    const at = first ? 2 : 1;
    const mode = word(layer, "interpolation", "nearest");
    if (mode !== "nearest" && mode !== "bilinear")
      layer.n.fail(`interpolation is ${mode}, not nearest or bilinear`);
    if (mode === "nearest")
      return size.reduce((t, s, i) => ir.repeatInterleave(t, s, at + i), x(layer));
    const wanted = size.map((s, i) => ir.mulDim(x(layer).shape[at + i]!, s));
    return resizedTo(layer, wanted, at, "linear", "asymmetric");
  };

function resizedTo(
  layer: Layer,
  wanted: readonly Dim[],
  at: number,
  mode: string,
  place: string,
): Tensor {
  const sizes = asValue(ir.stack(wanted.map((d) => ir.dimValue(d))));
  return standard(layer.n, "Resize", [asValue(x(layer)), undefined, undefined, sizes], {
    axes: ints([at, at + 1]),
    mode: text(mode),
    coordinate_transformation_mode: text(place),
    nearest_mode: text("round_prefer_ceil"),
  })[0]!;
}

function resized(layer: Layer): Tensor {
  only(layer, "crop_to_aspect_ratio", false);
  only(layer, "pad_to_aspect_ratio", false);
  const mode = word(layer, "interpolation", "bilinear");
  if (mode !== "nearest" && mode !== "bilinear")
    layer.n.fail(`interpolation is ${mode}, not nearest or bilinear`);
  const wanted = ["height", "width"].map((name) => layer.config.get(name).count());
  return resizedTo(
    layer,
    wanted,
    channelsFirst(layer) ? 2 : 1,
    mode === "nearest" ? "nearest" : "linear",
    // As TensorFlow.js has it; Keras has the centres of pixels.
    "align_corners",
  );
}

const byAxes = (
  name: (axes: number) => string,
  build: (axes: number) => (layer: Layer) => Tensor,
): LayerRow[] => [1, 2, 3].map((axes) => layerRow(name(axes), build(axes)));

export const convolutionLayers: readonly LayerRow[] = [
  ...["Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D"].map((name) =>
    layerRow(name, convolved),
  ),
  ...["DepthwiseConv1D", "DepthwiseConv2D"].map((name) => layerRow(name, depthwise)),
  ...["SeparableConv1D", "SeparableConv2D"].map((name) => layerRow(name, separable)),
  ...["Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"].map((name) =>
    layerRow(name, transposed),
  ),
  ...byAxes(
    (d) => `MaxPooling${d}D`,
    (d) => pooled(ir.maxPool, d),
  ),
  ...byAxes(
    (d) => `AveragePooling${d}D`,
    (d) => pooled(average, d),
  ),
  ...byAxes(
    (d) => `GlobalAveragePooling${d}D`,
    () => overImage(ir.mean),
  ),
  ...byAxes(
    (d) => `GlobalMaxPooling${d}D`,
    () => overImage(ir.max),
  ),
  ...byAxes((d) => `ZeroPadding${d}D`, surrounded),
  ...byAxes((d) => `Cropping${d}D`, cropped),
  ...byAxes((d) => `UpSampling${d}D`, enlarged),
  layerRow("Resizing", resized),
];
