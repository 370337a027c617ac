/**
 * DeformConv, whose kernel reads at computed places, and Col2Im, which sums columns into an image.
 */
import {
  addDim,
  deformConv,
  exactQuotient,
  floorDiv,
  foldWindows,
  reshape,
  sameDim,
  subDim,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { withBias } from "./convolution.ts";
import { frameOf, kernelOf, perAxis } from "./frame.ts";

function deformConvolution(n: NodeContext): Tensor {
  const [x, w] = [n.tensor(0), n.tensor(1)];
  const size = kernelOf(n, x.rank - 2, w);
  const { stride, dilation, padding } = frameOf(n, x.shape.slice(2), size);
  const mask = n.maybe(4);
  const offset = n.tensor(2);
  const regions = n.int("offset_group", 1);
  const places = size.reduce((a, b) => a * b, size.length * regions);
  if (!sameDim(offset.shape[1]!, places)) n.fail(`${regions} groups of offsets do not fit`);
  const groups = n.int("group", 1);
  const y = deformConv(x, offset, w, { stride, dilation, padding, groups, ...(mask && { mask }) });
  return withBias(y, n.maybe(3));
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

export const columnRows: readonly Row[] = [
  row("DeformConv", deformConvolution),
  row("Col2Im", col2Im),
];
