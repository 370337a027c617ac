/**
 * DeformConv, a convolution as a product with columns that are read at computed places, and Col2Im, which sums columns into an image.
 */
import {
  addDim,
  type Dim,
  dotGeneral,
  exactQuotient,
  floorDiv,
  foldWindows,
  iota,
  mulDim,
  reshape,
  sampling,
  subDim,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { withBias } from "./convolution.ts";
import { frameOf, kernelOf, perAxis } from "./frame.ts";

const { corners, linearTaps, weighted } = sampling;

/** The offset of place k of the kernel in each axis. */
function kernelPlaces(shape: readonly Dim[], axis: number, size: readonly number[], i: number) {
  const k = iota(shape, axis);
  const inner = size.slice(i + 1).reduce((a, b) => a * b, 1);
  return k.div(inner).rem(size[i]!);
}

/** Images read at places moved by `offset`, weighted by `mask`, as columns: [N, G, K, O…, C/G]. */
function deformedColumns(n: NodeContext, x: Tensor, w: Tensor): { columns: Tensor; out: Dim[] } {
  const [offset, mask] = [n.tensor(2), n.maybe(4)];
  const size = kernelOf(n, x.rank - 2, w);
  const frame = frameOf(n, x.shape.slice(2), size);
  const groups = n.int("offset_group", 1);
  const rank = size.length;
  const places = size.reduce((a, b) => a * b, 1);
  const out = offset.shape.slice(2);
  const [batch, channels, ...image] = x.shape as [Dim, Dim, ...Dim[]];
  const each = exactQuotient(channels, groups) ?? n.fail(`${groups} groups of offsets do not fit`);
  const shape = [batch, groups, places, ...out];
  const moved = reshape(offset, [batch, groups, places, rank, ...out]);
  const taps = image.map((_, i) => {
    const start = iota(shape, i + 3).mul(frame.stride[i]!);
    const within = kernelPlaces(shape, 2, size, i).mul(frame.dilation[i]!);
    const base = start.add(within).sub(frame.padding[i]![0] as number);
    const by = reshape(moved.sliceAxis(3, i, i + 1), shape).convert("f32");
    return [i + 3, linearTaps(base.convert("f32").add(by))] as const;
  });
  const grouped = reshape(x, [batch, groups, each, ...image]);
  const own = [
    [0, iota(shape, 0)],
    [1, iota(shape, 1)],
  ] as const;
  const read = weighted(corners(grouped, own, taps, true));
  if (!mask) return { columns: read, out };
  return { columns: read.mul(reshape(mask, [...shape, 1])), out };
}

function deformConv(n: NodeContext): Tensor {
  const [x, w] = [n.tensor(0), n.tensor(1)];
  const { columns, out } = deformedColumns(n, x, w);
  const [batch, , places] = columns.shape as [Dim, Dim, Dim];
  const groups = n.int("group", 1);
  const [o, c] = w.shape as [Dim, Dim];
  const each = exactQuotient(o, groups) ?? n.fail(`${groups} groups do not divide the channels`);
  // [N, G, K, O…, C/G] → [N, C, K, O…], and the channels into the groups of the weight.
  const last = columns.rank - 1;
  const order = [0, 1, last, 2, ...out.map((_, i) => i + 3)];
  const size = out.reduce<Dim>(mulDim, 1);
  const lhs = reshape(transpose(columns, order), [batch, groups, mulDim(c, places), size]);
  const rhs = reshape(w, [groups, each, mulDim(c, places)]);
  const y = dotGeneral(rhs, lhs, {
    lhsBatch: [0],
    rhsBatch: [1],
    lhsContract: [2],
    rhsContract: [2],
  });
  // [G, O/G, N, size]
  const image = reshape(transpose(y, [2, 0, 1, 3]), [batch, o, ...out]);
  return withBias(image, n.maybe(3));
}

/** Columns [N, C·K, L] summed back into an image, window by window. */
function col2Im(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const image = n.dims(1);
  const size = n.numbers(2);
  const rank = size.length;
  const stride = perAxis(n, "strides", rank);
  const dilation = perAxis(n, "dilations", rank);
  const pads = n.hasAttribute("pads") ? n.ints("pads") : new Array<number>(2 * rank).fill(0);
  const places = size.reduce((a, b) => a * b, 1);
  const channels =
    exactQuotient(x.shape[1]!, places) ?? n.fail("the block does not fit the columns");
  const padded = image.map((d, i) => addDim(d, pads[i]! + pads[i + rank]!));
  const counts = padded.map((d, i) => {
    const reach = (size[i]! - 1) * dilation[i]! + 1;
    return subDim(floorDiv(subDim(d, reach), stride[i]!), -1);
  });
  const windows = reshape(x, [x.shape[0]!, channels, ...size, ...counts]);
  const order = [0, 1, ...counts.map((_, i) => 2 + rank + i), ...size.map((_, i) => 2 + i)];
  const y = foldWindows(transpose(windows, order), { size, stride, dilation, extent: padded });
  const low = pads.slice(0, rank);
  return y.slice(
    [0, 0, ...low],
    [...y.shape.slice(0, 2), ...image.map((d, i) => addDim(d, low[i]!))],
  );
}

export const columnRows: readonly Row[] = [row("DeformConv", deformConv), row("Col2Im", col2Im)];
