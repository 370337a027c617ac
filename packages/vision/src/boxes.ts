/** Boxes around what is found in images, by their corners [x1, y1, x2, y2]. Graph compositions. */
import {
  argMax,
  checkOptions,
  checkTensor,
  concat,
  expandDims,
  full,
  fullLike,
  iota,
  type OptionNames,
  printShape,
  promote,
  ShapeError,
  scan,
  select,
  type Tensor,
  take,
  zeros,
} from "@kiln-ml/ir";

export interface NmsOptions {
  /** How many boxes are given at most: a program has fixed extents. */
  readonly size: number;
  /** Boxes whose overlap with a better one is above it are dropped; 0.5 by default. */
  readonly threshold?: number;
  /** Boxes of a lower score, or the same, are none; all are by default. */
  readonly minScore?: number;
}

const nmsOptions: OptionNames<NmsOptions> = { size: 1, threshold: 1, minScore: 1 };

function checkBoxes(op: string, boxes: Tensor): void {
  checkTensor(op, boxes);
  if (boxes.rank !== 2 || boxes.shape[1] !== 4)
    throw new ShapeError(
      `${op}: boxes are [N,4], corners x1, y1, x2, y2, got ${printShape(boxes.shape)}`,
    );
}

/** As floats of 32 bits or more: of integers a share is 0, and areas of halves overflow. */
const widened = (t: Tensor): Tensor => t.convert(promote(t.dtype, "f32"));

/** Areas; a box whose corners are turned around has none. */
function areas(width: Tensor, height: Tensor): Tensor {
  return width.maximum(0).mul(height.maximum(0));
}

/**
 * The overlap of each box of one list with each of another: intersection over union, 0 where both
 * have no area.
 *
 * a: f32[N, 4], b: f32[M, 4] → f32[N, M]; integers and halves are taken as f32. Throws ShapeError on
 * other shapes. Differentiable.
 * `torchvision.ops.box_iou`.
 */
export function boxIou(a: Tensor, b: Tensor): Tensor {
  checkBoxes("boxIou", a);
  checkBoxes("boxIou", b);
  const [left, right] = [expandDims(widened(a), 1), expandDims(widened(b), 0)];
  const side = (t: Tensor, k: number): Tensor => t.sliceAxis(-1, k, k + 1).squeeze([2]);
  const length = (k: number): Tensor =>
    side(left, k + 2)
      .minimum(side(right, k + 2))
      .sub(side(left, k).maximum(side(right, k)));
  const areaOf = (t: Tensor): Tensor =>
    areas(side(t, 2).sub(side(t, 0)), side(t, 3).sub(side(t, 1)));
  const common = areas(length(0), length(1));
  const union = areaOf(left).add(areaOf(right)).sub(common);
  return select(union.greater(0), common.div(select(union.greater(0), union, 1)), 0);
}

/**
 * Non-maximum suppression: the best box, then the best of those that do not overlap it, and so on;
 * their places from the best on, and −1 where there are fewer than `size`.
 *
 * boxes: f32[N, 4], scores: f32[N], or integers → i32[size]. Of equal scores the first is better;
 * a box whose score is NaN is none. No gradient flows. Throws ShapeError on other shapes or without a size. `torchvision.ops.nms`.
 */
export function nms(boxes: Tensor, scores: Tensor, options: NmsOptions): Tensor {
  checkBoxes("nms", boxes);
  checkTensor("nms", scores);
  const { size, threshold = 0.5, minScore = -Infinity } = checkOptions("nms", options, nmsOptions);
  if (!Number.isInteger(size) || size < 1)
    throw new ShapeError(
      "nms: the size is missing\n  how many there are depends on values: give { size }, the rest is −1",
    );
  if (scores.rank !== 1 || String(scores.shape[0]) !== String(boxes.shape[0]))
    throw new ShapeError(
      `nms: there must be one score a box: ${printShape(scores.shape)} for ${printShape(boxes.shape)}`,
    );
  // One more that nothing takes, so that there is a best of none too.
  const corners = concat([boxes, zeros([1, 4], boxes.dtype)], 0);
  const known = widened(scores);
  const all = concat([known, full([1], -Infinity, known.dtype)], 0);
  const near = boxIou(corners, corners).greater(threshold);
  const { ys } = scan(
    [select(all.greater(minScore), all, -Infinity)],
    [],
    ([left]) => {
      const best = argMax(left!, 0);
      const some = left!.max(0).greater(-Infinity);
      const itself = iota(left!.shape, 0).equal(best);
      const gone = take(near, best, 0).or(itself);
      return {
        carry: [select(gone, -Infinity, left!)],
        ys: [select(some, best, fullLike(best, -1))],
      };
    },
    { length: size },
  );
  return ys[0]!;
}
