/**
 * Ops that read images between their elements: GridSample, RoiAlign, DeformConv. Each place is a weighted sum of the elements around it.
 */
import {
  add,
  addDim,
  broadcastInDim,
  type Dim,
  dimValue,
  dotGeneral,
  exactQuotient,
  floorDiv,
  foldWindows,
  gather,
  iota,
  isStatic,
  mulDim,
  type Operand,
  reshape,
  select,
  subDim,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { withBias } from "./convolution.ts";
import { frameOf, kernelOf, perAxis } from "./frame.ts";
import { cubicWeights } from "./taps.ts";

export const extentOf = (d: Dim, dtype: "f32" | "i32" = "f32"): Operand =>
  isStatic(d) ? d : dimValue(d, dtype);

/** One place of an axis and its weight, for each element of the result. */
interface Tap {
  /** A whole number in a float. */
  readonly at: Tensor;
  readonly weight?: Tensor;
}

/** The two places around x. */
function linearTaps(x: Tensor): Tap[] {
  const base = x.floor();
  const r = x.sub(base);
  return [
    { at: base, weight: r.neg().add(1) },
    { at: base.add(1), weight: r },
  ];
}

function cubicTaps(x: Tensor): Tap[] {
  const base = x.floor();
  return cubicWeights(x.sub(base), -0.75).map((weight, k) => ({ at: base.add(k - 1), weight }));
}

interface Sampled {
  /** S ++ the axes of x that are not read by place. */
  readonly value: Tensor;
  /** S. */
  readonly weight: Tensor;
}

/**
 * All combinations of taps: the elements of x at the places `own` of its leading axes and at the taps of the others. With `drop` the
 * weight of places outside is 0; else they are clamped.
 */
export function corners(
  x: Tensor,
  own: readonly (readonly [axis: number, index: Tensor])[],
  taps: readonly (readonly [axis: number, taps: readonly Tap[]])[],
  drop: boolean,
): Sampled[] {
  let all: { at: Tensor[]; weight: Tensor | undefined }[] = [{ at: [], weight: undefined }];
  for (const [axis, list] of taps) {
    const end = extentOf(subDim(x.shape[axis]!, 1));
    all = all.flatMap((before) =>
      list.map(({ at, weight }) => {
        const inside = at.greaterEqual(0).and(at.lessEqual(end));
        const own = weight ?? at.mul(0).add(1);
        const kept = drop ? select(inside, own, 0) : own;
        return {
          at: [...before.at, at.maximum(0).minimum(end).convert("i32")],
          weight: before.weight ? before.weight.mul(kept) : kept,
        };
      }),
    );
  }
  const axes = [...own.map(([axis]) => axis), ...taps.map(([axis]) => axis)];
  return all.map(({ at, weight }) => ({
    value: gather(x, [...own.map(([, index]) => index), ...at], axes),
    weight: weight!,
  }));
}

/** A weight of shape S beside a value of shape S ++ rest. */
const beside = (weight: Tensor, value: Tensor): Tensor =>
  reshape(weight, [...weight.shape, ...value.shape.slice(weight.rank).map(() => 1)]).convert(
    value.dtype,
  );

export const weighted = (all: readonly Sampled[]): Tensor =>
  all.map(({ value, weight }) => value.mul(beside(weight, value))).reduce((a, b) => add(a, b));

/** x mirrored at low and high until it is between them. */
function mirrored(x: Tensor, low: Operand, span: Operand): Tensor {
  const d = x.sub(low).abs();
  const turns = d.div(span).floor();
  const rest = d.sub(turns.mul(span));
  const odd = turns.sub(turns.div(2).floor().mul(2)).greater(0.5);
  const back = rest.neg().add(span);
  return select(odd, back, rest).add(low);
}

interface GridOptions {
  readonly aligned: boolean;
  readonly padding: string;
}

/** A place of the image for a position −1 … 1. */
function unnormalised(position: Tensor, extent: Dim, aligned: boolean): Tensor {
  const size = extentOf(extent);
  const half = position.add(1).div(2);
  return aligned ? half.mul(extentOf(subDim(extent, 1))) : half.mul(size).sub(0.5);
}

/** Places beyond the border brought to it, or mirrored. */
function bordered(x: Tensor, extent: Dim, { aligned, padding }: GridOptions): Tensor {
  if (padding === "zeros") return x;
  const last = extentOf(subDim(extent, 1));
  const [low, end] = aligned ? [0, last] : [-0.5, extentOf(extent)];
  const high = aligned ? last : typeof end === "number" ? end - 0.5 : (end as Tensor).sub(0.5);
  const outside = x.less(low).or(x.greater(high));
  if (padding === "border") return select(outside, x.maximum(0).minimum(last), x);
  // One element has no distance between its mirrors.
  const span = aligned && extent === 1 ? 1 : aligned ? last : extentOf(extent);
  return select(outside, mirrored(x, low, span), x);
}

/** Taps of a reflected image are mirrored one by one; those of a border are clamped when read. */
function tapsOf(x: Tensor, extent: Dim, mode: string, options: GridOptions): Tap[] {
  const list =
    mode === "nearest" ? [{ at: x.round() }] : mode === "cubic" ? cubicTaps(x) : linearTaps(x);
  if (options.padding !== "reflection") return list;
  return list.map((tap) => ({ ...tap, at: bordered(tap.at, extent, options).round() }));
}

const modes: Record<string, string> = { bilinear: "linear", bicubic: "cubic" };

/** x[N, C, D…] at grid[N, E…, r], positions from the last axis of the image to the first: [N, C, E…]. */
function gridSample(n: NodeContext): Tensor {
  const [x, grid] = [n.tensor(0), n.tensor(1)];
  const given = n.string("mode", "linear");
  const mode = modes[given] ?? given;
  const options = { aligned: n.flag("align_corners"), padding: n.string("padding_mode", "zeros") };
  const rank = x.rank - 2;
  const places = grid.shape.slice(0, -1);
  const taps = Array.from({ length: rank }, (_, i) => {
    const column = rank - 1 - i;
    const position = reshape(grid.sliceAxis(-1, column, column + 1), places).convert("f32");
    const extent = x.shape[i + 2]!;
    const at = unnormalised(position, extent, options.aligned);
    const whole = mode === "nearest" ? at.round() : at;
    return [i + 2, tapsOf(bordered(whole, extent, options), extent, mode, options)] as const;
  });
  const y = weighted(corners(x, [[0, iota(places, 0)]], taps, options.padding === "zeros"));
  return transpose(y, [0, y.rank - 1, ...places.slice(1).map((_, i) => i + 1)]);
}

/** The greatest number of samples in a bin over all regions; where the file leaves it open, the run must tell. */
function samplesOf(n: NodeContext, length: Tensor, bins: number): { most: number; each: Operand } {
  const fixed = n.int("sampling_ratio", 0);
  if (fixed > 0) return { most: fixed, each: fixed };
  const each = length.div(bins).ceil();
  const most = n.knownOf(typed(each.max().convert("i32"), "int64"), "the samples of a bin")[0]!;
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
  const wide = (t: Operand) =>
    typeof t === "object" ? broadcastInDim(t, shape, [0]) : (t as number);
  const size = length.div(bins);
  const sample = iota(shape, 2, "f32");
  const step = sample.add(0.5).mul(wide(size)).div(wide(each));
  const at = iota(shape, 1, "f32").mul(wide(size)).add(wide(start)).add(step);
  const end = extentOf(extent);
  const counts = at
    .greaterEqual(-1)
    .and(at.lessEqual(end))
    .and(sample.less(wide(each)));
  const last = extentOf(subDim(extent, 1));
  return { at: at.maximum(0).minimum(last), counts, most, each };
}

/** The mean or the maximum of samples in each bin of regions [x1, y1, x2, y2]: [R, C, bins, bins]. */
function roiAlign(n: NodeContext): Tensor {
  const [x, rois, images] = [n.tensor(0), n.tensor(1), n.tensor(2)];
  const [h, w] = [n.int("output_height", 1), n.int("output_width", 1)];
  const count = rois.shape[0]!;
  const column = (i: number) => reshape(rois.sliceAxis(1, i, i + 1), [count]);
  const rows = samplesAlong(n, column(1), column(3), h, x.shape[2]!);
  const columns = samplesAlong(n, column(0), column(2), w, x.shape[3]!);
  const shape = [count, h, rows.most, w, columns.most];
  const place = (t: Tensor, dims: number[]) => broadcastInDim(t, shape, dims);
  const counts = place(rows.counts, [0, 1, 2]).and(place(columns.counts, [0, 3, 4]));
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
    const y = select(reshape(counts, [...shape, 1]), best, -Infinity).max([2, 4]);
    return transpose(y, [0, 3, 1, 2]);
  }
  const kept = all.map(({ value, weight }) => ({ value, weight: select(counts, weight, 0) }));
  const total = transpose(weighted(kept).sum([2, 4]), [0, 3, 1, 2]);
  const samples = add(rows.each, 0).mul(columns.each).maximum(1);
  return total.div(samples.rank ? reshape(samples, [count, 1, 1, 1]) : samples);
}

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

export const sampleRows: readonly Row[] = [
  row("GridSample", gridSample),
  row("RoiAlign", roiAlign),
  row("DeformConv", deformConv),
  row("Col2Im", col2Im),
];
