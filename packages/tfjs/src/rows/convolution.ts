/**
 * Rows of convolutions. tfjs has channels last and filters [K…, C, O]; the IR has channels first
 * and [O, C, K…]: what lies between are views. A gradient is that of the row itself, by the IR.
 */
import {
  backend_util,
  type Conv2DAttrs,
  type Conv2DBackpropFilterAttrs,
  type Conv2DBackpropInputAttrs,
  type Conv3DAttrs,
  type Conv3DBackpropFilterV2Attrs,
  type Conv3DBackpropInputV2Attrs,
  type FusedConv2DAttrs,
} from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { range, shapeOf } from "./operand.ts";
import { withEpilogue } from "./product.ts";

/** Of each spatial axis: stride, dilation, and what is put before and after. */
export interface Placement {
  readonly stride: number[];
  readonly dilation: number[];
  readonly padding: [number, number][];
}

export type Shape2 = [number, number, number, number];
export type Shape3 = [number, number, number, number, number];

export const channelsFirst = (x: Tensor): Tensor =>
  ir.transpose(x, [0, x.rank - 1, ...range(x.rank - 2).map((i) => i + 1)]);

export const channelsLast = (x: Tensor): Tensor =>
  ir.transpose(x, [0, ...range(x.rank - 2).map((i) => i + 2), 1]);

/** Extents of an axis as tfjs has worked them out. */
interface AxisInfo {
  readonly extent: number;
  readonly out: number;
  readonly filter: number;
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
}

/** What follows an axis is what makes its extent come out, whichever way that was rounded. */
function placementOf(axes: readonly AxisInfo[]): Placement {
  return {
    stride: axes.map((a) => a.stride),
    dilation: axes.map((a) => a.dilation),
    padding: axes.map(({ extent, out, filter, stride, dilation, before }) => {
      const reach = (filter - 1) * dilation + 1;
      return [before, (out - 1) * stride + reach - extent - before];
    }),
  };
}

export const placement2d = (info: backend_util.Conv2DInfo): Placement =>
  placementOf([
    {
      extent: info.inHeight,
      out: info.outHeight,
      filter: info.filterHeight,
      stride: info.strideHeight,
      dilation: info.dilationHeight,
      before: info.padInfo.top,
    },
    {
      extent: info.inWidth,
      out: info.outWidth,
      filter: info.filterWidth,
      stride: info.strideWidth,
      dilation: info.dilationWidth,
      before: info.padInfo.left,
    },
  ]);

export const placement3d = (info: backend_util.Conv3DInfo): Placement =>
  placementOf([
    {
      extent: info.inDepth,
      out: info.outDepth,
      filter: info.filterDepth,
      stride: info.strideDepth,
      dilation: info.dilationDepth,
      before: info.padInfo.front,
    },
    {
      extent: info.inHeight,
      out: info.outHeight,
      filter: info.filterHeight,
      stride: info.strideHeight,
      dilation: info.dilationHeight,
      before: info.padInfo.top,
    },
    {
      extent: info.inWidth,
      out: info.outWidth,
      filter: info.filterWidth,
      stride: info.strideWidth,
      dilation: info.dilationWidth,
      before: info.padInfo.left,
    },
  ]);

/** [K…, C, O] → [O, C, K…]; of depthwise filters [K…, C, M] → [C·M, 1, K…]. */
function filterOf(w: Tensor, depthwise: boolean): Tensor {
  const n = w.rank - 2;
  const spatial = range(n);
  if (!depthwise) return ir.transpose(w, [n + 1, n, ...spatial]);
  const [c, m] = w.shape.slice(n) as number[];
  const first = ir.transpose(w, [n, n + 1, ...spatial]);
  return ir.reshape(first, [c! * m!, 1, ...w.shape.slice(0, n)]);
}

interface Plan extends Placement {
  readonly isFirst: boolean;
  readonly depthwise: boolean;
}

function convolve(x: Tensor, w: Tensor, plan: Plan): Tensor {
  const { stride, dilation, padding, isFirst, depthwise } = plan;
  const from = isFirst ? x : channelsFirst(x);
  const groups = depthwise ? (from.shape[1] as number) : 1;
  const filter = filterOf(w, depthwise);
  const y = ir.convolution(from, filter, { stride, dilation, padding, groups });
  return isFirst ? y : channelsLast(y);
}

type Attrs2d = Pick<Conv2DAttrs, "strides" | "pad" | "dimRoundingMode"> &
  Partial<Pick<Conv2DAttrs, "dataFormat" | "dilations">>;

function plan2d(x: readonly number[], w: readonly number[], attrs: Attrs2d, depthwise = false) {
  const { strides, pad, dimRoundingMode, dilations, dataFormat } = attrs;
  const isFirst = dataFormat === "NCHW";
  const info = backend_util.computeConv2DInfo(
    x as Shape2,
    w as Shape2,
    strides,
    dilations ?? 1,
    pad,
    dimRoundingMode,
    depthwise,
    isFirst ? "channelsFirst" : "channelsLast",
  );
  return { ...placement2d(info), isFirst, depthwise };
}

type Attrs3d = Pick<Conv3DAttrs, "strides" | "pad"> & Partial<Conv3DAttrs>;

function plan3d(x: readonly number[], w: readonly number[], attrs: Attrs3d): Plan {
  const { strides, pad, dilations } = attrs;
  const info = backend_util.computeConv3DInfo(
    x as Shape3,
    w as Shape3,
    strides,
    dilations ?? 1,
    pad,
  );
  return { ...placement3d(info), isFirst: false, depthwise: false };
}

/** The gradient along the input: linear, so that its own value does not matter. */
function inputGradient(dy: Tensor, w: Tensor, shape: number[], plan: Plan): Tensor {
  const x = ir.declareData(w.dtype, shape);
  return ir.grad(convolve(x, w, plan), [x], { cotangent: dy })[0]!;
}

function filterGradient(x: Tensor, dy: Tensor, shape: number[], plan: Plan): Tensor {
  const w = ir.declareData(x.dtype, shape);
  return ir.grad(convolve(x, w, plan), [w], { cotangent: dy })[0]!;
}

const conv2d =
  (depthwise: boolean) =>
  ({ x, filter }: Operands, attrs: Conv2DAttrs): Tensor =>
    convolve(x!, filter!, plan2d(shapeOf(x!), shapeOf(filter!), attrs, depthwise));

/** A bias, or weights of prelu, of one number a channel lie along the axis of channels. */
function alongChannels(operands: Operands, isFirst: boolean): Operands {
  if (!isFirst) return operands;
  const along = (t: Tensor | undefined) =>
    t && t.rank === 1 && (t.shape[0] as number) > 1 ? ir.reshape(t, [t.shape[0]!, 1, 1]) : t;
  const { bias, preluActivationWeights: weights, ...rest } = operands;
  const [b, p] = [along(bias), along(weights)];
  return { ...rest, ...(b ? { bias: b } : {}), ...(p ? { preluActivationWeights: p } : {}) };
}

const fused =
  (depthwise: boolean) =>
  (operands: Operands, attrs: FusedConv2DAttrs): Tensor | undefined => {
    const y = conv2d(depthwise)(operands, attrs);
    return withEpilogue(y, alongChannels(operands, attrs.dataFormat === "NCHW"), attrs);
  };

const backpropInput =
  (depthwise: boolean) =>
  ({ dy, filter }: Operands, attrs: Conv2DBackpropInputAttrs): Tensor => {
    const shape = attrs.inputShape;
    return inputGradient(dy!, filter!, shape, plan2d(shape, shapeOf(filter!), attrs, depthwise));
  };

const backpropFilter =
  (depthwise: boolean) =>
  ({ x, dy }: Operands, attrs: Conv2DBackpropFilterAttrs): Tensor => {
    const shape = attrs.filterShape;
    return filterGradient(x!, dy!, shape, plan2d(shapeOf(x!), shape, attrs, depthwise));
  };

export const convolution: Rows = {
  Conv2D: conv2d(false),
  DepthwiseConv2dNative: conv2d(true),
  FusedConv2D: fused(false),
  FusedDepthwiseConv2D: fused(true),
  Conv2DBackpropInput: backpropInput(false),
  Conv2DBackpropFilter: backpropFilter(false),
  DepthwiseConv2dNativeBackpropInput: backpropInput(true),
  DepthwiseConv2dNativeBackpropFilter: backpropFilter(true),

  Conv3D: ({ x, filter }: Operands, attrs: Conv3DAttrs) =>
    convolve(x!, filter!, plan3d(shapeOf(x!), shapeOf(filter!), attrs)),

  Conv3DBackpropInputV2: ({ dy, filter }: Operands, attrs: Conv3DBackpropInputV2Attrs) => {
    const shape = attrs.inputShape;
    return inputGradient(dy!, filter!, shape, plan3d(shape, shapeOf(filter!), attrs));
  },

  Conv3DBackpropFilterV2: ({ x, dy }: Operands, attrs: Conv3DBackpropFilterV2Attrs) => {
    const shape = attrs.filterShape;
    return filterGradient(x!, dy!, shape, plan3d(shapeOf(x!), shape, attrs));
  },
};
