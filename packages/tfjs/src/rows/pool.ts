/** Rows of pooling and normalisation, with their gradients, which the IR derives. */
import {
  type AvgPool3DAttrs,
  type AvgPoolAttrs,
  backend_util,
  type FusedBatchNormAttrs,
  type LRNAttrs,
} from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import {
  channelsFirst,
  channelsLast,
  type Placement,
  placement2d,
  placement3d,
  type Shape2,
  type Shape3,
} from "./convolution.ts";

interface Frame extends Placement {
  readonly size: number[];
  /** Whether the result has the shape of the operand. */
  readonly isWhole: boolean;
}

/** Attributes of two or three spatial axes. */
type PoolAttrs = AvgPoolAttrs | AvgPool3DAttrs;

function frameOf(x: Tensor, attrs: PoolAttrs): Frame {
  if (x.rank === 4) {
    const { filterSize, strides, pad, dimRoundingMode } = attrs as AvgPoolAttrs;
    const shape = x.shape as Shape2;
    const info = backend_util.computePool2DInfo(
      shape,
      filterSize,
      strides,
      1,
      pad,
      dimRoundingMode,
    );
    const size = [info.filterHeight, info.filterWidth];
    return { ...placement2d(info), size, isWhole: `${info.inShape}` === `${info.outShape}` };
  }
  const { filterSize, strides, pad, dimRoundingMode, dataFormat } = attrs as AvgPool3DAttrs;
  const info = backend_util.computePool3DInfo(
    x.shape as Shape3,
    filterSize,
    strides,
    1,
    pad,
    dimRoundingMode,
    dataFormat,
  );
  const size = [info.filterDepth, info.filterHeight, info.filterWidth];
  return { ...placement3d(info), size, isWhole: `${info.inShape}` === `${info.outShape}` };
}

type Pool = (x: Tensor, frame: Frame) => Tensor;

/** Extents that no window reaches are left out, where padding would be less than none. */
function optionsOf(frame: Frame) {
  const padding = frame.padding.map(([low, high]): [number, number] => [low, Math.max(high, 0)]);
  return { size: frame.size, stride: frame.stride, padding };
}

/** No NaN is the largest of a window. */
const maxPool: Pool = (x, frame) => {
  const known = x.dtype === "f32" ? ir.select(ir.isNan(x), -Infinity, x) : x;
  return channelsLast(ir.maxPool(channelsFirst(known), optionsOf(frame)));
};

const total: Pool = (x, frame) =>
  channelsLast(ir.avgPool(channelsFirst(x), { ...optionsOf(frame), divisorOverride: 1 }));

/** The mean of the elements that there are; of none it is 0. */
const avgPool: Pool = (x, frame) => {
  const count = total(ir.ones([1, ...x.shape.slice(1, -1), 1]), frame);
  return ir.div(total(x, frame), ir.maximum(count, 1));
};

/** What tfjs takes the gradient of: the mean of a window as if all of it were there. */
const wholeMean: Pool = (x, frame) =>
  ir.div(
    total(x, frame),
    frame.size.reduce((a, b) => a * b, 1),
  );

const forward =
  (pool: Pool) =>
  ({ x }: Operands, attrs: PoolAttrs): Tensor => {
    const frame = frameOf(x!, attrs);
    // Of windows of one element tfjs gives the elements, whatever the stride and padding.
    return frame.size.every((n) => n === 1) && frame.isWhole ? x! : pool(x!, frame);
  };

const backward =
  (pool: Pool) =>
  ({ dy, input }: Operands, attrs: PoolAttrs): Tensor =>
    ir.grad(pool(input!, frameOf(input!, attrs)), [input!], { cotangent: dy! })[0]!;

function batchNorm(operands: Operands, { varianceEpsilon }: FusedBatchNormAttrs): Tensor {
  const { x, scale, offset, mean, variance } = operands;
  const factor = ir.rsqrt(ir.add(variance!, varianceEpsilon ?? 0.001));
  const y = ir.mul(ir.sub(x!, mean!), scale ? ir.mul(factor, scale) : factor);
  return offset ? ir.add(y, offset) : y;
}

/** x · (bias + alpha · Σ x²)^−beta, the sum over depthRadius channels to both sides. */
function lrn(x: Tensor, { depthRadius, bias, alpha, beta }: LRNAttrs): Tensor {
  const sides = [0, 0, 0, depthRadius];
  const wide = ir.pad(ir.square(x), 0, sides, sides);
  const near = ir.sum(ir.windows(wide, { size: 2 * depthRadius + 1 }), -1);
  return ir.mul(x, ir.pow(ir.add(ir.mul(near, alpha), bias), -beta));
}

export const pool: Rows = {
  MaxPool: forward(maxPool),
  MaxPool3D: forward(maxPool),
  AvgPool: forward(avgPool),
  AvgPool3D: forward(avgPool),
  MaxPoolGrad: backward(maxPool),
  MaxPool3DGrad: backward(maxPool),
  AvgPoolGrad: backward(wholeMean),
  AvgPool3DGrad: backward(wholeMean),
  FusedBatchNorm: batchNorm,
  LRN: ({ x }: Operands, attrs: LRNAttrs) => lrn(x!, attrs),
  LRNGrad: ({ x, dy }: Operands, attrs: LRNAttrs) =>
    ir.grad(lrn(x!, attrs), [x!], { cotangent: dy! })[0]!,
};
