/**
 * Images through a window that moves over them: linear filters, blurs, the median, and morphology.
 * Extents stay as they are; channels do not mix. Graph compositions, differentiable where they are
 * smooth.
 */
import {
  checkOptions,
  checkTensor,
  convolution,
  full,
  GraphError,
  isFloat,
  isInteger,
  kindOf,
  maxPool,
  median,
  type OptionNames,
  ShapeError,
  type Tensor,
  windows,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";

export interface FilterOptions {
  /**
   * What stands beyond the edges: the image mirrored without its edge, its edge, or 0; "reflect" by
   * default.
   */
  readonly border?: "reflect" | "replicate" | "zeros";
}

const filterOptions: OptionNames<FilterOptions> = { border: 1 };

function checkImages(op: string, x: Tensor): void {
  checkTensor(op, x);
  if (x.rank !== 4)
    throw new ShapeError(
      `${op}: images are [N,C,H,W], got rank ${x.rank}\n  put a batch axis in front with expandDims(0)`,
    );
}

/** How far a window of an odd size reaches. */
function reachOf(op: string, size: number): number {
  if (!Number.isInteger(size) || size < 1 || size % 2 === 0)
    throw new ShapeError(`${op}: the size must be an odd whole number, got ${kindOf(size)}`);
  return (size - 1) / 2;
}

function padded(
  op: string,
  x: Tensor,
  [h, w]: readonly [number, number],
  options: FilterOptions,
): Tensor {
  const { border = "reflect" } = checkOptions(op, options, filterOptions);
  const sides = [w, w, h, h];
  if (border === "reflect") return new nn.ReflectionPad2d(sides).forward(x);
  if (border === "replicate") return new nn.ReplicationPad2d(sides).forward(x);
  if (border === "zeros") return new nn.ZeroPad2d(sides).forward(x);
  throw new GraphError(`${op}: border must be reflect, replicate or zeros, got ${kindOf(border)}`);
}

/**
 * y[n, c, i, j] = Σ_{a,b} x[n, c, i + a − (h − 1)/2, j + b − (w − 1)/2]·kernel[a, b], a
 * correlation.
 *
 * x: f32[N, C, H, W], kernel: f32[h, w] of odd extents → the same as x. Throws ShapeError on other
 * ranks, for even extents, or where a mirror is shorter than the reach. `kornia.filters.filter2d`,
 * `cv2.filter2D`.
 */
export function filter2d(x: Tensor, kernel: Tensor, options: FilterOptions = {}): Tensor {
  checkImages("filter2d", x);
  checkTensor("filter2d", kernel);
  if (kernel.rank !== 2)
    throw new ShapeError(`filter2d: the kernel is [h,w], got rank ${kernel.rank}`);
  const [h, w] = kernel.shape as [number, number];
  const reach = [reachOf("filter2d", h), reachOf("filter2d", w)] as const;
  const wide = padded("filter2d", x, reach, options);
  const [n, c, ...extents] = wide.shape;
  const planes = wide.reshape([-1, 1, ...extents]);
  const y = convolution(planes, kernel.reshape([1, 1, h, w]));
  return y.reshape([n!, c!, ...x.shape.slice(2)]);
}

/**
 * The mean over a square of `size`, which is odd. x: f32[N, C, H, W] → the same.
 * `kornia.filters.box_blur`, `cv2.blur`.
 */
export function boxBlur(x: Tensor, size: number, options: FilterOptions = {}): Tensor {
  checkImages("boxBlur", x);
  const share = 1 / (2 * reachOf("boxBlur", size) + 1) ** 2;
  return filter2d(x, full([size, size], share, isFloat(x.dtype) ? x.dtype : "f32"), options);
}

/**
 * The median over a square of `size`, which is odd. x: f32[N, C, H, W] → the same.
 * `kornia.filters.median_blur`, `cv2.medianBlur`.
 */
export function medianBlur(x: Tensor, size: number, options: FilterOptions = {}): Tensor {
  checkImages("medianBlur", x);
  const reach = reachOf("medianBlur", size);
  const around = windows(padded("medianBlur", x, [reach, reach], options), { size: [size, size] });
  return median(around.reshape([...x.shape, size * size]), -1);
}

/**
 * The largest value over a square of `size`, which is odd; beyond the edges there is nothing. x:
 * numbers or bool [N, C, H, W] → the same. `kornia.morphology.dilation`, `cv2.dilate`.
 */
export function dilate(x: Tensor, size: number): Tensor {
  checkImages("dilate", x);
  const padding = reachOf("dilate", size);
  if (x.dtype === "bool") return dilate(x.convert("i32"), size).notEqual(0);
  return maxPool(x, { size: [size, size], stride: 1, padding });
}

/** The least value, otherwise as `dilate`. `kornia.morphology.erosion`, `cv2.erode`. */
export function erode(x: Tensor, size: number): Tensor {
  checkImages("erode", x);
  reachOf("erode", size);
  if (x.dtype === "bool") return dilate(x.not(), size).not();
  // −x has no place for the least of some integers, nor for any without a sign; −1 − x has.
  const turn = (t: Tensor): Tensor => (isInteger(t.dtype) ? t.neg().sub(1) : t.neg());
  return turn(dilate(turn(x), size));
}
