/**
 * Regions of a mask. A loop whose trips are as many as the longest way through a region has pixels.
 */
import {
  checkOptions,
  checkTensor,
  convert,
  cumsum,
  GraphError,
  iota,
  kindOf,
  maxPool,
  type OptionNames,
  printShape,
  ShapeError,
  select,
  sizeOf,
  type Tensor,
  take,
  whileLoop,
  zeros,
} from "@kiln-ml/ir";
import { dilate } from "./filters.ts";

export interface ComponentOptions {
  /** Neighbours of a pixel: 4, or 8 with the diagonal ones, which is the default. */
  readonly connectivity?: 4 | 8;
}

const componentOptions: OptionNames<ComponentOptions> = { connectivity: 1 };

/** The largest of a pixel and those beside and above it. */
const acrossOnly = (x: Tensor): Tensor =>
  maxPool(x, { size: [3, 1], stride: 1, padding: [1, 0] }).maximum(
    maxPool(x, { size: [1, 3], stride: 1, padding: [0, 1] }),
  );

/**
 * Numbers of regions of a mask, from 1 in the order in which a reader meets them; 0 elsewhere.
 *
 * mask: bool or numbers [H, W], which are in it unless 0 → i32[H, W]. Throws ShapeError on another
 * rank. `scipy.ndimage.label`, `cv2.connectedComponents`.
 */
export function connectedComponents(mask: Tensor, options: ComponentOptions = {}): Tensor {
  checkTensor("connectedComponents", mask);
  const { connectivity = 8 } = checkOptions("connectedComponents", options, componentOptions);
  if (connectivity !== 4 && connectivity !== 8)
    throw new GraphError(
      `connectedComponents: connectivity must be 4 or 8, got ${kindOf(connectivity)}`,
    );
  if (mask.rank !== 2)
    throw new ShapeError(`connectedComponents: a mask is [H,W], got ${printShape(mask.shape)}`);
  const size = sizeOf(mask.shape);
  if (size === 0) return zeros(mask.shape, "i32");
  const inside = (mask.dtype === "bool" ? mask : mask.notEqual(0)).reshape([1, 1, ...mask.shape]);
  // Each pixel has a number, less the later it comes: the largest of a region is its first pixel's.
  const own = iota([size], 0).neg().reshape(inside.shape).sub(1);
  const spread = connectivity === 8 ? (t: Tensor) => dilate(t, 3) : acrossOnly;
  const none = -(2 ** 30);
  const step = (t: Tensor): Tensor => select(inside, spread(t), none);
  const first = select(inside, own, none);
  const [roots] = whileLoop(
    [first, step(first)],
    (before, after) => before.notEqual(after).any(),
    (_, after) => [after!, step(after!)],
  );
  const isRoot = roots!.equal(own).and(inside).reshape([size]);
  const number = cumsum(convert(isRoot, "i32"), 0);
  const at = roots!.neg().sub(1).reshape([size]);
  const found = take(number, select(inside.reshape([size]), at, 0), 0);
  return select(inside.reshape([size]), found, 0).reshape(mask.shape);
}
