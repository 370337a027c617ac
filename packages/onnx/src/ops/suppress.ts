/**
 * NonMaxSuppression: a loop that takes the best box of each class of each image and drops those that overlap it, as many times as boxes
 * may be selected. The number of all selected boxes is demanded.
 */
import {
  constant,
  type Dim,
  expandDims,
  fullLike,
  gather,
  iota,
  isStatic,
  minDim,
  placesOfTrue,
  reshape,
  scan,
  select,
  sizeOf,
  stack,
  type Tensor,
  take,
  transpose,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { countOf } from "./pick.ts";
import { scalar } from "./shape.ts";

/** Corners y1, x1, y2, x2 of boxes[…, 4], in order, as four tensors. */
function edges(n: NodeContext, boxes: Tensor): Tensor[] {
  const lead = boxes.shape.slice(0, -1);
  const part = (i: number) => reshape(boxes.sliceAxis(-1, i, i + 1), lead);
  const [a, b, c, d] = [part(0), part(1), part(2), part(3)] as const;
  if (n.flag("center_point_box")) {
    const [w, h] = [c.div(2), d.div(2)];
    return [b.sub(h), a.sub(w), b.add(h), a.add(w)];
  }
  return [a.minimum(c), b.minimum(d), a.maximum(c), b.maximum(d)];
}

/** The share of the union that two boxes have in common, broadcast. */
function overlap(a: readonly Tensor[], b: readonly Tensor[]): Tensor {
  const side = (k: number) => {
    const low = a[k]!.maximum(b[k]!);
    return a[k + 2]!.minimum(b[k + 2]!)
      .sub(low)
      .maximum(0);
  };
  const area = (e: readonly Tensor[]) => e[2]!.sub(e[0]!).mul(e[3]!.sub(e[1]!));
  const common = side(0).mul(side(1));
  const union = area(a).add(area(b)).sub(common);
  return select(union.greater(0), common.div(union), 0);
}

/** The places of the selected boxes, [steps, B, C]; −1 where nothing was left. */
function selections(n: NodeContext, boxes: Tensor, scores: Tensor, steps: Dim): Tensor {
  const corners = edges(n, boxes);
  const threshold = n.has(3) ? scalar(n, 3) : constant(0);
  const least = n.has(4) ? scores.greater(scalar(n, 4)) : undefined;
  const live = least ? select(least, scores, -Infinity) : scores;
  const { ys } = scan(
    [live],
    [],
    ([left]) => {
      const best = left!.argMax(-1, { empty: "identity" });
      const some = left!.max(-1, { empty: "identity" }).greater(-Infinity);
      const image = iota(best.shape, 0);
      const own = corners.map((e) => expandDims(gather(e, [image, best], [0, 1]), 2));
      const all = corners.map((e) => expandDims(e, 1));
      const near = overlap(own, all).greater(threshold);
      const itself = iota(left!.shape, 2).equal(expandDims(best, 2));
      const gone = near.or(itself);
      const chosen = select(some, best, fullLike(best, -1));
      return { carry: [select(gone, -Infinity, left!)], ys: [chosen] };
    },
    { length: steps },
  );
  return ys[0]!;
}

function suppressed(n: NodeContext): Tensor {
  const [boxes, scores] = [n.tensor(0).convert("f32"), n.tensor(1).convert("f32")];
  const [images, classes, count] = scores.shape as [Dim, Dim, Dim];
  const most = n.has(2) ? n.dims(2)[0]! : 0;
  if (most === 0) return zeros([0, 3], "i32");
  const endless = isStatic(most) && most >= 2 ** 31 - 1;
  const steps = endless ? count : minDim(most, count);
  const picked = transpose(selections(n, boxes, scores, steps), [1, 2, 0]);
  const list = reshape(picked, [sizeOf(picked.shape)]);
  const mask = list.greaterEqual(0);
  const place = placesOfTrue(mask, countOf(n, mask, "the number of selected boxes"));
  const at = (axis: number) =>
    take(reshape(iota([images, classes, steps], axis), [sizeOf(picked.shape)]), place);
  return stack([at(0), at(1), take(list, place)], 1);
}

export const suppressRows: readonly Row[] = [
  row("NonMaxSuppression", suppressed, { type: "int64" }),
];
