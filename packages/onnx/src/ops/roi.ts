/**
 * Pools over regions of images: MaxRoiPool over whole elements, RoiAlign over samples between them.
 */
import {
  add,
  broadcastInDim,
  type Dim,
  inFloat32,
  iota,
  isStatic,
  type Operand,
  reshape,
  sampling,
  select,
  subDim,
  Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { perAxis } from "./frame.ts";

const { beside, corners, extentOf, linearTaps, weighted } = sampling;

/** The greatest number of samples in a bin over all regions; where the file leaves it open, the run must tell. */
function samplesOf(n: NodeContext, length: Tensor, bins: number): { most: number; each: Operand } {
  const fixed = n.int("sampling_ratio", 0);
  if (fixed > 0) return { most: fixed, each: fixed };
  const each = length.div(bins).ceil();
  const most = n.knownOf(
    typed(each.max(undefined, { empty: "identity" }).convert("i32"), "int64"),
    "the samples of a bin",
  )[0]!;
  return isStatic(most)
    ? { most: Math.max(1, most), each }
    : n.fail("a bin's samples are symbolic");
}

/** Places of the samples along one axis, [R, bins, samples], and which of them count. */
function samplesAlong(n: NodeContext, from: Tensor, to: Tensor, bins: number, extent: Dim) {
  const aligned = n.string("coordinate_transformation_mode", n.opset < 16 ? "" : "half_pixel");
  const shift = aligned === "half_pixel" ? 0.5 : 0;
  const scale = n.float("spatial_scale", 1);
  const start = from.mul(scale).sub(shift);
  const span = to.mul(scale).sub(shift).sub(start);
  const length = shift ? span : span.maximum(1);
  const { most, each } = samplesOf(n, length, bins);
  const shape = [from.shape[0]!, bins, most];
  const wide = (t: Operand) => (t instanceof Tensor ? broadcastInDim(t, shape, [0]) : t);
  const size = length.div(bins);
  const sample = iota(shape, 2, "f32");
  const step = sample.add(0.5).mul(wide(size)).div(wide(each));
  const at = iota(shape, 1, "f32").mul(wide(size)).add(wide(start)).add(step);
  const end = extentOf(extent);
  const exists = sample.less(wide(each));
  const inside = at.greaterEqual(-1).and(at.lessEqual(end));
  const last = extentOf(subDim(extent, 1));
  return { at: at.maximum(0).minimum(last), exists, inside, most, each };
}

/** The mean or the maximum of samples in each bin of regions [x1, y1, x2, y2]: [R, C, bins, bins]. */
const roiAlign = (n: NodeContext): Tensor =>
  inFloat32([n.tensor(0), n.tensor(1)], (x, rois) => alignedBins(n, x, rois, n.tensor(2)));

function alignedBins(n: NodeContext, x: Tensor, rois: Tensor, images: Tensor): Tensor {
  const [h, w] = [n.int("output_height", 1), n.int("output_width", 1)];
  const count = rois.shape[0]!;
  const column = (i: number) => reshape(rois.sliceAxis(1, i, i + 1), [count]);
  const rows = samplesAlong(n, column(1), column(3), h, x.shape[2]!);
  const columns = samplesAlong(n, column(0), column(2), w, x.shape[3]!);
  const shape = [count, h, rows.most, w, columns.most];
  const place = (t: Tensor, dims: number[]) => broadcastInDim(t, shape, dims);
  const both = (a: Tensor, b: Tensor) => place(a, [0, 1, 2]).and(place(b, [0, 3, 4]));
  const exists = both(rows.exists, columns.exists);
  const inside = both(rows.inside, columns.inside);
  const all = corners(
    x,
    [[0, place(images.convert("i32"), [0])]],
    [
      [2, linearTaps(place(rows.at, [0, 1, 2]))],
      [3, linearTaps(place(columns.at, [0, 3, 4]))],
    ],
    false,
  );
  if (n.string("mode", "avg") === "max") {
    const parts = all.map(({ value, weight }) => value.mul(beside(weight, value)));
    const best = parts.reduce((a, b) => a.maximum(b));
    // Outside the image is 0; a sample that is only there for other regions is nothing.
    const wide = (t: Tensor) => reshape(t, [...shape, 1]);
    const y = select(wide(exists), select(wide(inside), best, 0), -Infinity).max([2, 4]);
    return transpose(y, [0, 3, 1, 2]);
  }
  const kept = all.map(({ value, weight }) => ({
    value,
    weight: select(exists.and(inside), weight, 0),
  }));
  const total = transpose(weighted(kept).sum([2, 4]), [0, 3, 1, 2]);
  const samples = add(rows.each, 0).mul(columns.each).maximum(1);
  return total.div(samples.rank ? reshape(samples, [count, 1, 1, 1]) : samples);
}

/** For each region [image, x1, y1, x2, y2] the maxima of a grid of bins, whose bounds are computed. */
const maxRoiPooled = (n: NodeContext): Tensor =>
  inFloat32([n.tensor(0), n.tensor(1)], (x, rois) => maxOfBins(n, x, rois));

function maxOfBins(n: NodeContext, x: Tensor, rois: Tensor): Tensor {
  const pooled = perAxis(n, "pooled_shape", 2);
  const scale = n.float("spatial_scale", 1);
  const count = rois.shape[0]!;
  const column = (i: number) => reshape(rois.sliceAxis(1, i, i + 1), [count]);
  const images = x.take(column(0).convert("i32"), 0);
  /** Whether place `at` of an axis lies in bin b: [count, bins, extent]. */
  const inBin = (from: Tensor, to: Tensor, bins: number, extent: Dim) => {
    const rounded = (t: Tensor) => t.mul(scale).add(0.5).floor();
    const start = rounded(from);
    const length = rounded(to).sub(start).add(1).maximum(1).div(bins);
    const shape = [count, bins, extent];
    const [b, at] = [iota(shape, 1, "f32"), iota(shape, 2, "f32")];
    const wide = (t: Tensor) => broadcastInDim(t, shape, [0]);
    const low = b.mul(wide(length)).floor().add(wide(start));
    const high = b.add(1).mul(wide(length)).ceil().add(wide(start));
    return at.greaterEqual(low).and(at.less(high));
  };
  const [, c, h, w] = x.shape as [Dim, Dim, Dim, Dim];
  const [ph, pw] = pooled as [number, number];
  const low = -Infinity;
  const columns = reshape(inBin(column(1), column(3), pw, w), [count, 1, 1, pw, w]);
  const overW = columns.where(reshape(images, [count, c, h, 1, w]), low).max(-1);
  const lines = reshape(inBin(column(2), column(4), ph, h), [count, 1, ph, h, 1]);
  const y = lines.where(reshape(overW, [count, c, 1, h, pw]), low).max(3);
  return y.equal(low).where(0, y);
}

export const roiRows: readonly Row[] = [row("MaxRoiPool", maxRoiPooled), row("RoiAlign", roiAlign)];
