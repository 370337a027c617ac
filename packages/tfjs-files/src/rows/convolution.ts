/**
 * Convolutions. TensorFlow has channels last and filters [K…, C, O]; the IR has channels first and
 * [O, C, K…]: what lies between are views. SAME puts the odd element of its padding at the end.
 */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row } from "@kiln-ml/onnx";
import { along, prelu } from "./elementwise.ts";
import { asFloat, fixed, isFirst, range } from "./operand.ts";
import { alike, tf } from "./row.ts";

/** Of each spatial axis: stride, dilation, and what is put before and after. */
export interface Placement {
  readonly stride: number[];
  readonly dilation: number[];
  readonly padding: [Dim, Dim][];
}

export const channelsFirst = (x: Tensor): Tensor =>
  ir.transpose(x, [0, x.rank - 1, ...range(x.rank - 2).map((i) => i + 1)]);

export const channelsLast = (x: Tensor): Tensor =>
  ir.transpose(x, [0, ...range(x.rank - 2).map((i) => i + 2), 1]);

/** The entries of an attribute that belong to spatial axes; all are 1 where it is missing. */
export function spatial(n: NodeContext, name: string, axes: number): number[] {
  return alongImage(n, name, n.ints(name, []), axes);
}

export function alongImage(
  n: NodeContext,
  name: string,
  list: readonly number[],
  axes: number,
): number[] {
  if (!list.length) return range(axes).map(() => 1);
  if (list.length === axes) return [...list];
  if (list.length !== axes + 2) n.fail(`${name} has ${list.length} entries, not ${axes + 2}`);
  const at = isFirst(n) ? 2 : 1;
  const rest = list.filter((_, i) => i < at || i >= at + axes);
  if (rest.some((v) => v !== 1)) n.fail(`${name} is [${list}], and only 1 along others`);
  return list.slice(at, at + axes);
}

/** out = ⌈in / stride⌉; what is missing for that is put around, its odd element behind. */
export function samePadding(extent: Dim, size: Dim, stride: number, dilation: number): [Dim, Dim] {
  const reach = ir.addDim(ir.mulDim(ir.subDim(size, 1), dilation), 1);
  const out = ir.ceilDiv(extent, stride);
  const needed = ir.addDim(ir.mulDim(ir.subDim(out, 1), stride), reach);
  const all = stride === 1 ? ir.subDim(reach, 1) : ir.maxDim(ir.subDim(needed, extent), 0);
  const low = ir.floorDiv(all, 2);
  return [low, ir.subDim(all, low)];
}

/** The padding of each spatial axis by the attributes. */
export function paddingOf(
  n: NodeContext,
  extents: readonly Dim[],
  size: readonly Dim[],
  stride: readonly number[],
  dilation: readonly number[],
): [Dim, Dim][] {
  const kind = n.string("padding");
  if (kind === "VALID") return extents.map(() => [0, 0]);
  if (kind === "SAME")
    return extents.map((d, i) => samePadding(d, size[i]!, stride[i]!, dilation[i]!));
  if (kind !== "EXPLICIT") return n.fail(`padding is ${kind}, not SAME, VALID or EXPLICIT`);
  const list = n.ints("explicit_paddings", []);
  if (list.length !== 2 * extents.length + 4)
    n.fail(`explicit_paddings has ${list.length} entries, not ${2 * extents.length + 4}`);
  const at = isFirst(n) ? 4 : 2;
  if (list.some((p, i) => p !== 0 && (i < at || i >= at + 2 * extents.length)))
    n.fail(`explicit_paddings is [${list}], and only 0 along batch and channels`);
  return extents.map((_, i) => [list[at + 2 * i]!, list[at + 2 * i + 1]!]);
}

function placementOf(n: NodeContext, extents: readonly Dim[], size: readonly Dim[]): Placement {
  const stride = spatial(n, "strides", extents.length);
  const dilation = spatial(n, "dilations", extents.length);
  return { stride, dilation, padding: paddingOf(n, extents, size, stride, dilation) };
}

/** [K…, C, O] → [O, C, K…]; of depthwise filters [K…, C, M] → [C·M, 1, K…]. */
function filterOf(w: Tensor, depthwise: boolean): Tensor {
  const n = w.rank - 2;
  if (!depthwise) return ir.transpose(w, [n + 1, n, ...range(n)]);
  const first = ir.transpose(w, [n, n + 1, ...range(n)]);
  return ir.reshape(first, [ir.mulDim(w.shape[n]!, w.shape[n + 1]!), 1, ...w.shape.slice(0, n)]);
}

export interface Plan extends Placement {
  readonly first: boolean;
  readonly depthwise: boolean;
}

/** The channels of x tell the groups: filters see as many of them as they have. */
export function convolve(x: Tensor, w: Tensor, plan: Plan): Tensor {
  const { stride, dilation, padding, first, depthwise } = plan;
  const from = first ? x : channelsFirst(x);
  const filter = filterOf(w, depthwise);
  if (depthwise && !ir.sameDim(from.shape[1]!, w.shape[w.rank - 2]!))
    throw new ir.ShapeError(
      `depthwise convolution: x has ${ir.printDim(from.shape[1]!)} channels, the filter ${ir.printDim(w.shape[w.rank - 2]!)}`,
    );
  const ratio = ir.exactQuotient(from.shape[1]!, filter.shape[1]!);
  const groups = ratio !== undefined && ir.isStatic(ratio) ? ratio : 1;
  const y = ir.convolution(from, filter, { stride, dilation, padding, groups });
  return first ? y : channelsLast(y);
}

const extentsOf = (shape: readonly Dim[], first: boolean): readonly Dim[] =>
  first ? shape.slice(2) : shape.slice(1, -1);

function planOf(n: NodeContext, shape: readonly Dim[], w: Tensor, depthwise: boolean): Plan {
  const first = isFirst(n);
  const extents = extentsOf(shape, first);
  if (w.rank !== shape.length) n.fail(`x has rank ${shape.length} and the filter ${w.rank}`);
  const placement = placementOf(n, extents, w.shape.slice(0, -2));
  return { ...placement, first, depthwise };
}

const convolved =
  (depthwise: boolean) =>
  (n: NodeContext): Tensor => {
    const [x, w] = [asFloat(n.tensor(0)), asFloat(n.tensor(1))];
    return convolve(x, w, planOf(n, x.shape, w, depthwise));
  };

type Activation = (y: Tensor, n: NodeContext, alpha: () => Tensor) => Tensor;

const activations: Readonly<Record<string, Activation>> = {
  Relu: (y) => ir.relu(y),
  Relu6: (y) => ir.relu6(y),
  Elu: (y) => ir.elu(y),
  Sigmoid: (y) => ir.sigmoid(y),
  Tanh: (y) => ir.tanh(y),
  GeluApproximate: (y) => ir.geluTanh(y),
  GeluExact: (y) => ir.gelu(y),
  LeakyRelu: (y, n) => ir.leakyRelu(y, n.float("leakyrelu_alpha", 0.2)),
  Prelu: (y, _, alpha) => prelu(y, alpha()),
};

/** What is fused behind a product: BiasAdd or FusedBatchNorm, and an activation. */
export function epilogue(n: NodeContext, x: Tensor, first: boolean): Tensor {
  let y = x;
  let input = 2;
  const channel = (t: Tensor) => (first && t.rank === 1 ? along(t, x.rank) : t);
  for (const op of n.strings("fused_ops", [])) {
    if (op === "BiasAdd") y = ir.add(y, channel(n.tensor(input++)));
    else if (op === "FusedBatchNorm") {
      const [scale, offset, mean, variance] = range(4).map((i) => channel(n.tensor(input + i)));
      const factor = ir.rsqrt(ir.add(variance!, n.float("epsilon", 1e-4)));
      y = ir.add(ir.mul(ir.sub(y, mean!), ir.mul(factor, scale!)), offset!);
      input += 4;
    } else {
      const f = Object.hasOwn(activations, op) ? activations[op]! : undefined;
      if (!f) return n.fail(`${op} among fused_ops is unknown`);
      y = f(y, n, () => channel(n.tensor(input++)));
    }
  }
  return y;
}

const fused =
  (depthwise: boolean) =>
  (n: NodeContext): Tensor =>
    epilogue(n, convolved(depthwise)(n), isFirst(n));

/** The gradient along the input, which is linear: its own value does not matter. */
const backward =
  (depthwise: boolean) =>
  (n: NodeContext): Tensor => {
    const [w, dy] = [asFloat(n.tensor(1)), asFloat(n.tensor(2))];
    const shape = n.dims(0);
    const spread =
      shape.length === dy.rank ? shape : n.fail(`${shape.length} extents for rank ${dy.rank}`);
    const x = ir.declareData("f32", [dy.shape[0]!, ...spread.slice(1)]);
    return ir.grad(convolve(x, w, planOf(n, x.shape, w, depthwise)), [x], { cotangent: dy })[0]!;
  };

/** max over k of x[o·stride + k·rate] + w[k]. */
function dilated(n: NodeContext): Tensor {
  const [x, w] = [asFloat(n.tensor(0)), asFloat(n.tensor(1))];
  const [stride, rates] = [spatial(n, "strides", 2), spatial(n, "rates", 2)];
  const size = w.shape.slice(0, 2).map((d) => fixed(n, d, "the extent of the filter"));
  const padding = paddingOf(n, x.shape.slice(1, 3), size, stride, rates);
  const low = [0, 0, ...padding.map((p) => p[0])];
  const high = [0, 0, ...padding.map((p) => p[1])];
  const wide = ir.pad(channelsFirst(x), -Infinity, low, high);
  const all = ir.windows(wide, { size, stride, dilation: rates });
  const filter = ir.reshape(ir.transpose(w, [2, 0, 1]), [w.shape[2]!, 1, 1, ...size]);
  return channelsLast(ir.max(ir.add(all, filter), [-2, -1]));
}

const own = "strides padding data_format explicit_paddings dilations";
const more = "fused_ops epsilon leakyrelu_alpha";

export const convolutionRows: readonly Row[] = [
  tf("Conv2D", own, convolved(false)),
  ...alike("DepthwiseConv2d DepthwiseConv2dNative", own, convolved(true)),
  tf("Conv3D", own, convolved(false)),
  tf("_FusedConv2D", `${own} ${more}`, fused(false)),
  tf("_FusedDepthwiseConv2dNative", `${own} ${more}`, fused(true)),
  tf("FusedDepthwiseConv2dNative", `${own} ${more}`, fused(true)),
  tf("Conv2DBackpropInput", own, backward(false)),
  tf("DepthwiseConv2dNativeBackpropInput", own, backward(true)),
  tf("Conv3DBackpropInputV2", own, backward(false)),
  tf("Dilation2D", "strides rates padding", dilated),
];
