/** Images: resizing, cropping, boxes that overlap, colours. */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Result, Row } from "@kiln-ml/onnx";
import { asFloat, asIndex, fixed } from "./operand.ts";
import { alike, asValue, ints, standard, text, tf } from "./row.ts";

const resized = (n: NodeContext, x: Tensor, mode: string, rounding: string): Tensor => {
  const [corners, half] = [n.flag("align_corners"), n.flag("half_pixel_centers")];
  const place = corners ? "align_corners" : half ? "half_pixel" : "asymmetric";
  return standard(n, "Resize", [asValue(x), undefined, undefined, n.value(1)], {
    axes: ints([1, 2]),
    mode: text(mode),
    coordinate_transformation_mode: text(place),
    nearest_mode: text(rounding),
  })[0]!;
};

/** ⌊(i + ½) · scale⌋ with half pixels, which is (i + ½) · scale − ½ rounded up at halves. */
function nearest(n: NodeContext): Tensor {
  const exact = !n.flag("align_corners") && !n.flag("half_pixel_centers");
  return resized(n, n.tensor(0), "nearest", exact ? "floor" : "round_prefer_ceil");
}

const bilinear = (n: NodeContext): Tensor => resized(n, asFloat(n.tensor(0)), "linear", "floor");

/** Where crop place i of `count` reads along an axis: between the edges of its box. */
function along(low: Tensor, high: Tensor, count: number, extent: Tensor): Tensor {
  const last = extent.sub(1);
  const [from, to] = [ir.expandDims(low, 1), ir.expandDims(high, 1)];
  if (count === 1) return from.add(to).mul(last).mul(0.5);
  const step = to
    .sub(from)
    .mul(last)
    .div(count - 1);
  return from.mul(last).add(step.mul(ir.iota([1, count], 1, "f32")));
}

/** Boxes [k, 4] of y1, x1, y2, x2 between 0 and 1, each of one image, at one size. */
function cropped(n: NodeContext): Tensor {
  const [image, boxes, of] = [asFloat(n.tensor(0)), n.tensor(1), asIndex(n.tensor(2))];
  const [height, width] = n.dims(3).map((d) => fixed(n, d, "the size of the crop")) as [
    number,
    number,
  ];
  const edge = (i: number) => ir.take(boxes, i, 1);
  const extent = (axis: number) => ir.dimValue(image.shape[axis]!, "f32");
  const y = along(edge(0), edge(2), height, extent(1));
  const x = along(edge(1), edge(3), width, extent(2));
  const shape = [boxes.shape[0]!, height, width];
  const [rows, cols] = [ir.broadcastInDim(y, shape, [0, 1]), ir.broadcastInDim(x, shape, [0, 2])];
  const inside = within(rows, extent(1)).and(within(cols, extent(2)));
  const batch = ir.broadcastInDim(of, shape, [0]);
  const read = (r: Tensor, c: Tensor) =>
    ir.gather(image, [batch, r.convert("i32"), c.convert("i32")], [0, 1, 2], {
      negative: "outside",
    });
  const value =
    n.string("method", "bilinear") === "nearest"
      ? read(rounded(rows), rounded(cols))
      : between(read, rows, cols);
  const fill = n.float("extrapolation_value", 0);
  return ir.select(ir.broadcastInDim(inside, value.shape, [0, 1, 2]), value, fill);
}

/** Halves up. */
const rounded = (t: Tensor): Tensor => ir.floor(t.add(0.5));

const within = (at: Tensor, extent: Tensor): Tensor =>
  at.greaterEqual(0).and(at.lessEqual(extent.sub(1)));

/** The four elements around a place, weighted by how near they are. */
function between(read: (r: Tensor, c: Tensor) => Tensor, rows: Tensor, cols: Tensor): Tensor {
  const [top, left] = [ir.floor(rows), ir.floor(cols)];
  const [bottom, right] = [ir.ceil(rows), ir.ceil(cols)];
  const [dy, dx] = [ir.expandDims(rows.sub(top), -1), ir.expandDims(cols.sub(left), -1)];
  const line = (r: Tensor) => {
    const [a, b] = [read(r, left), read(r, right)];
    return a.add(b.sub(a).mul(dx));
  };
  const [a, b] = [line(top), line(bottom)];
  return a.add(b.sub(a).mul(dy));
}

/** The places of the boxes that are kept, the best first. */
function kept(n: NodeContext): Tensor {
  const [boxes, scores] = [ir.expandDims(n.tensor(0), 0), n.tensor(1)];
  const inputs = [asValue(boxes), asValue(ir.reshape(scores, [1, 1, scores.shape[0]!]))];
  const rest = [2, 3, 4].map((i) => (n.has(i) ? n.value(i) : undefined));
  // The first version has it as an attribute.
  rest[1] ??= asValue(ir.constant(n.float("iou_threshold", 0.5)));
  return ir.take(standard(n, "NonMaxSuppression", [...inputs, ...rest])[0]!, 2, 1);
}

/** With `pad_to_max_output_size`, places that there are not are 0. */
function keptAndCount(n: NodeContext): Result {
  const places = kept(n);
  const count = ir.dimValue(places.shape[0]!);
  if (!n.flag("pad_to_max_output_size")) return [asValue(places), asValue(count)];
  const missing = ir.subDim(n.dims(2)[0]!, places.shape[0]!);
  return [asValue(ir.pad(places, 0, [0], [missing])), asValue(count)];
}

function keptAndScores(n: NodeContext): Result {
  if (n.flag("pad_to_max_output_size"))
    n.fail("pad_to_max_output_size is true, which is not supported");
  if (n.has(5) && n.number(5) !== 0)
    n.fail("soft_nms_sigma is not 0, and scores that fade are not supported");
  const places = kept(n);
  const scores = ir.take(n.tensor(1), places, 0);
  return [places, scores, ir.dimValue(places.shape[0]!)].map(asValue);
}

/** h between 0 and 1, as saturation and value are. */
function toHsv(n: NodeContext): Tensor {
  const x = asFloat(n.tensor(0));
  const [r, g, b] = [0, 1, 2].map((i) => ir.take(x, i, -1)) as [Tensor, Tensor, Tensor];
  const most = ir.maximum(ir.maximum(r, g), b);
  const span = most.sub(ir.minimum(ir.minimum(r, g), b));
  const s = ir.select(most.greater(0), span.div(most), 0);
  const unit = ir.select(span.greater(0), span.mul(6).reciprocal(), 0);
  const hueOf = (a: Tensor, c: Tensor, from: number) => a.sub(c).mul(unit).add(from);
  const green = ir.select(g.equal(most), hueOf(b, r, 2 / 6), hueOf(r, g, 4 / 6));
  const hue = ir.select(r.equal(most), hueOf(g, b, 0), green);
  const h = ir.select(span.greater(0), ir.select(hue.less(0), hue.add(1), hue), 0);
  return ir.stack([h, s, most], -1);
}

function adjustedContrast(n: NodeContext): Tensor {
  const x = asFloat(n.tensor(0));
  const mean = ir.mean(x, [-3, -2], { keepDims: true });
  return x
    .sub(mean)
    .mul(ir.reshape(n.tensor(1), []))
    .add(mean);
}

const own = "align_corners half_pixel_centers";

export const imageRows: readonly Row[] = [
  tf("ResizeBilinear", own, bilinear),
  tf("ResizeNearestNeighbor", own, nearest),
  tf("CropAndResize", "method extrapolation_value", cropped),
  ...alike("NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3", "iou_threshold", kept),
  tf("NonMaxSuppressionV4", "pad_to_max_output_size", keptAndCount),
  tf("NonMaxSuppressionV5", "pad_to_max_output_size", keptAndScores),
  tf("RGBToHSV", "", toHsv),
  tf("AdjustContrastv2", "", adjustedContrast),
];
