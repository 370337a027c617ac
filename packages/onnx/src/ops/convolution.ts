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
  negDim,
  pad,
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

/**
 * The transpose without a convolution over the zeros between elements: result u = s·q + r of the full one collects the weights
 * r, r + s, …, so that one convolution of stride 1 gives all remainders r as channels, and they are put side by side.
 */
function byRemainder(n: NodeContext, x: Tensor, w: Tensor, padding: readonly Cut[]): Tensor {
  const groups = n.int("group", 1);
  const stride = perAxis(n, "strides", x.rank - 2);
  const [channels, o, ...size] = w.shape as [Dim, Dim, ...number[]];
  const c =
    exactQuotient(channels, groups) ?? n.fail(`${groups} groups do not divide the channels`);
  const steps = size.map((k, i) => Math.ceil(k / stride[i]!));
  const missing = size.map((k, i) => steps[i]! * stride[i]! - k);
  const whole = pad(w, 0, 0, [0, 0, ...missing]);
  const cut = reshape(whole, [groups, c, o, ...steps.flatMap((j, i) => [j, stride[i]!])]);
  const [js, rs] = [steps.map((_, i) => 3 + 2 * i), steps.map((_, i) => 4 + 2 * i)];
  const count = stride.reduce((a, b) => a * b, 1);
  const rows = mulDim(mulDim(o, groups), count);
  const moved = reshape(transpose(cut, [0, 2, ...rs, 1, ...js]), [rows, c, ...steps]);
  const kernel = reverse(
    moved,
    steps.map((_, i) => i + 2),
  );
  const y = convolution(x, kernel, { padding: steps.map((j) => j - 1), groups });
  const places = y.shape.slice(2);
  const parts = reshape(y, [y.shape[0]!, mulDim(o, groups), ...stride, ...places]);
  const order = places.flatMap((_, i) => [2 + stride.length + i, 2 + i]);
  const full = reshape(transpose(parts, [0, 1, ...order]), [
    y.shape[0]!,
    mulDim(o, groups),
    ...places.map((d, i) => mulDim(d, stride[i]!)),
  ]);
  // The full result is longer where the kernel is no multiple of the stride.
  return pad(
    full,
    0,
    [0, 0, ...padding.map(({ low }) => negDim(low))],
    [0, 0, ...padding.map(({ high }, i) => negDim(addDim(high, missing[i]!)))],
  );
}

function convTranspose(n: NodeContext): Tensor {
  const [x, w] = [n.tensor(0), n.tensor(1)];
  const rank = x.rank - 2;
  const groups = n.int("group", 1);
  const size = kernelOf(n, rank, w);
  const dilation = perAxis(n, "dilations", rank);
  const stride = perAxis(n, "strides", rank);
  const all = cuts(n, x.shape.slice(2), size);
  if (size.every(Number.isInteger) && stride.some((s) => s > 1) && dilation.every((d) => d === 1))
    return withBias(byRemainder(n, x, w, all), n.maybe(2));
  const padding = all.map(({ low, high }, i): [Dim, Dim] => {
    const reach = (size[i]! - 1) * dilation[i]!;
    return [subDim(reach, low), subDim(reach, high)];
  });
  const options = { lhsDilation: stride, dilation, padding, groups };
  return withBias(convolution(x, turned(n, w, groups), options), n.maybe(2));
}

export const convolutionRows: readonly Row[] = [
  row("Conv", conv),
  row("ConvTranspose", convTranspose),
];
