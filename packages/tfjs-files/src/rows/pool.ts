/** Pooling and normalisation. */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import { type NodeContext, type Result, type Row, typed } from "@kiln-ml/onnx";
import { alongImage, channelsFirst, channelsLast, paddingOf, spatial } from "./convolution.ts";
import { along } from "./elementwise.ts";
import { asFloat, isFirst, range } from "./operand.ts";
import { alike, tf } from "./row.ts";

interface Frame {
  readonly size: number[];
  readonly stride: number[];
  readonly padding: [Dim, Dim][];
}

/** `MaxPoolV2` has the sizes as inputs. */
function frameOf(n: NodeContext, x: Tensor): Frame {
  const axes = x.rank - 2;
  const one = range(axes).map(() => 1);
  const size = n.has(1) ? alongImage(n, "ksize", n.numbers(1), axes) : spatial(n, "ksize", axes);
  const stride = n.has(2)
    ? alongImage(n, "strides", n.numbers(2), axes)
    : spatial(n, "strides", axes);
  return { size, stride, padding: paddingOf(n, x.shape.slice(2), size, stride, one) };
}

type Pool = (x: Tensor, frame: Frame) => Tensor;

/** No NaN is the largest of a window. */
const largest: Pool = (x, frame) =>
  ir.maxPool(x.dtype === "f32" ? ir.select(ir.isNan(x), -Infinity, x) : x, frame);

/** The mean of the elements that there are. */
const average: Pool = (x, frame) => ir.avgPool(asFloat(x), { ...frame, countIncludePad: false });

const pooled =
  (pool: Pool) =>
  (n: NodeContext): Tensor => {
    const given = n.tensor(0);
    const x = isFirst(n) ? given : channelsFirst(given);
    const y = pool(x, frameOf(n, x));
    return isFirst(n) ? y : channelsLast(y);
  };

/** Places count through height, width and channels, and the batch where that is asked for. */
function withPlaces(n: NodeContext): Result {
  if (isFirst(n)) n.fail("places are counted with channels last only");
  const x = channelsFirst(n.tensor(0));
  const { values, indices } = ir.maxPoolWithIndices(x, frameOf(n, x));
  const [, c, h, w] = x.shape as [Dim, Dim, Dim, Dim];
  const channel = ir.iota(indices.shape, 1);
  let place = indices.mul(ir.dimValue(c)).add(channel);
  if (n.flag("include_batch_in_index")) {
    const image = ir.dimValue(ir.sizeOf([h, w, c]));
    place = place.add(ir.iota(indices.shape, 0).mul(image));
  }
  return [channelsLast(values), channelsLast(place)];
}

/** (x − mean) / √(variance + ε) · scale + offset, over channels. */
function batchNorm(n: NodeContext): Result {
  if (n.flag("is_training", false)) n.fail("is_training is true: freeze the model for inference");
  const x = asFloat(n.tensor(0));
  const channel = (i: number) => (isFirst(n) ? along(n.tensor(i), x.rank) : n.tensor(i));
  const [scale, offset, mean, variance] = [1, 2, 3, 4].map(channel) as [
    Tensor,
    Tensor,
    Tensor,
    Tensor,
  ];
  const factor = ir.rsqrt(ir.add(variance, n.float("epsilon", 0.001)));
  const y = ir.add(ir.mul(ir.sub(x, mean), ir.mul(factor, scale)), offset);
  return [y, n.tensor(3), n.tensor(4)].map((t) => typed(t, "float32"));
}

/** x · (bias + alpha · Σ x²)^−beta, the sum over depth_radius channels to both sides. */
function localResponse(n: NodeContext): Tensor {
  const x = asFloat(n.tensor(0));
  const radius = n.int("depth_radius", 5);
  const sides = [0, 0, 0, radius];
  const wide = ir.pad(ir.square(x), 0, sides, sides);
  const near = ir.sum(ir.windows(wide, { size: 2 * radius + 1 }), -1);
  const base = ir.add(ir.mul(near, n.float("alpha", 1)), n.float("bias", 1));
  return ir.mul(x, ir.pow(base, -n.float("beta", 0.5)));
}

const own = "ksize strides padding data_format explicit_paddings";

export const poolRows: readonly Row[] = [
  ...alike("MaxPool MaxPoolV2 MaxPool3D", own, pooled(largest)),
  ...alike("AvgPool AvgPool3D", own, pooled(average)),
  tf("MaxPoolWithArgmax", `${own} include_batch_in_index`, withPlaces),
  ...alike(
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
    "epsilon data_format is_training exponential_avg_factor",
    batchNorm,
    "Inference.",
  ),
  tf("LRN", "depth_radius bias alpha beta", localResponse),
];
