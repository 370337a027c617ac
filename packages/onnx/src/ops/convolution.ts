/**
 * Convolutions: Conv, and ConvTranspose as a convolution of the input spread by its stride with the kernel turned around.
 */
import {
  addDim,
  convolution,
  type Dim,
  exactQuotient,
  floorDiv,
  maxDim,
  mulDim,
  reshape,
  reverse,
  subDim,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { explicitPads, frameOf, kernelOf, perAxis } from "./frame.ts";

/** y plus one number a channel, where there is a bias. */
export function withBias(y: Tensor, bias: Tensor | undefined): Tensor {
  if (!bias) return y;
  return y.add(reshape(bias, [bias.shape[0]!, ...y.shape.slice(2).map(() => 1)]));
}

function conv(n: NodeContext): Tensor {
  const [x, w] = [n.tensor(0), n.tensor(1)];
  const frame = frameOf(n, x.shape.slice(2), kernelOf(n, x.rank - 2, w));
  const { stride, dilation, padding } = frame;
  const y = convolution(x, w, { stride, dilation, padding, groups: n.int("group", 1) });
  return withBias(y, n.maybe(2));
}

/** [G·C, O, K…] → [G·O, C, K…] with the kernel turned around: the weight of the convolution that is the transpose. */
function turned(n: NodeContext, w: Tensor, groups: number): Tensor {
  const [channels, o, ...kernel] = w.shape as [Dim, Dim, ...Dim[]];
  const c =
    exactQuotient(channels, groups) ?? n.fail(`${groups} groups do not divide the channels`);
  const axes = kernel.map((_, i) => i + 3);
  const swapped = transpose(reshape(w, [groups, c, o, ...kernel]), [0, 2, 1, ...axes]);
  const flat = reshape(swapped, [mulDim(o, groups), c, ...kernel]);
  return reverse(
    flat,
    kernel.map((_, i) => i + 2),
  );
}

interface Cut {
  readonly low: Dim;
  readonly high: Dim;
}

/** What is cut off each side of the full result; a negative amount adds. */
function cuts(n: NodeContext, extents: readonly Dim[], size: readonly number[]): readonly Cut[] {
  const rank = extents.length;
  const stride = perAxis(n, "strides", rank);
  const dilation = perAxis(n, "dilations", rank);
  const added = perAxis(n, "output_padding", rank, 0);
  const rule = n.string("auto_pad", "NOTSET");
  const given = n.hasAttribute("output_shape") ? n.ints("output_shape").slice(-rank) : undefined;
  const explicit = rule === "NOTSET" || rule === "VALID" ? explicitPads(n, rank) : undefined;
  if (explicit && !given)
    return explicit.map(([low, high], i) => ({ low, high: high - added[i]! }));
  return extents.map((d, i) => {
    const wanted = given?.[i] ?? mulDim(d, stride[i]!);
    const reach = (size[i]! - 1) * dilation[i]! + 1 + added[i]!;
    const full = addDim(mulDim(subDim(d, 1), stride[i]!), reach);
    // SAME never adds beyond the full result.
    const total = given ? subDim(full, wanted) : maxDim(subDim(full, wanted), 0);
    const half = floorDiv(total, 2);
    const rest = subDim(total, half);
    const upper = rule === "SAME_UPPER";
    return { low: upper ? half : rest, high: subDim(upper ? rest : half, added[i]!) };
  });
}

function convTranspose(n: NodeContext): Tensor {
  const [x, w] = [n.tensor(0), n.tensor(1)];
  const rank = x.rank - 2;
  const groups = n.int("group", 1);
  const size = kernelOf(n, rank, w);
  const dilation = perAxis(n, "dilations", rank);
  const padding = cuts(n, x.shape.slice(2), size).map(({ low, high }, i): [Dim, Dim] => {
    const reach = (size[i]! - 1) * dilation[i]!;
    return [subDim(reach, low), subDim(reach, high)];
  });
  const y = convolution(x, turned(n, w, groups), {
    lhsDilation: perAxis(n, "strides", rank),
    dilation,
    padding,
    groups,
  });
  return withBias(y, n.maybe(2));
}

export const convolutionRows: readonly Row[] = [
  row("Conv", conv),
  row("ConvTranspose", convTranspose),
];
