/**
 * Pooling over the spatial axes of x[N, C, D…]: pad, windows, a reduction. Composites; no op of
 * their own.
 */

import { addDim, ceilDiv, type Dim, floorDiv, maxDim, minDim, mulDim, subDim } from "../dim.ts";
import { isFloat, minOf } from "../dtype.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { printShape, sizeOf } from "../shape.ts";
import { apply, checkTensor, filled, perAxis, range } from "./apply.ts";
import { inFloat32 } from "./composite/in-float32.ts";
import { type Padding, resolvePadding } from "./convolution.ts";
import { broadcastInDim, pad, windows } from "./movement.ts";
import { max, sum } from "./reduce.ts";

export interface PoolOptions {
  /** Places of a window along each axis; a number is for all. */
  readonly size: number | readonly number[];
  /** Defaults to `size`. */
  readonly stride?: number | readonly number[];
  /**
   * Places added at the edges, default 0: for all sides, for each axis, for each side of each
   * axis, "same" or "valid".
   */
  readonly padding?: Padding;
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[];
  /**
   * Counts a last window that sticks out at the end, as long as it starts before the padding there.
   */
  readonly ceilMode?: boolean;
}

export interface Frame {
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly low: readonly Dim[];
  readonly high: readonly Dim[];
  /** What ceilMode adds after `high`. */
  readonly extra: readonly Dim[];
}

export const poolOptions: OptionNames<PoolOptions> = {
  size: 1,
  stride: 1,
  padding: 1,
  dilation: 1,
  ceilMode: 1,
};

export function frameOf(op: string, x: Tensor, options: PoolOptions): Frame {
  const n = x.rank - 2;
  if (n < 1)
    throw new ShapeError(
      `${op}: x is ${printShape(x.shape)}, not [N,C,...]\n  put axes of extent 1 in front: x.expandDims(0)`,
    );
  const size = perAxis(op, "size", options.size, n, 1);
  const stride = perAxis(op, "stride", options.stride ?? size, n, 1);
  const dilation = perAxis(op, "dilation", options.dilation, n, 1);
  const extents = x.shape.slice(2);
  const sides = resolvePadding(op, options.padding ?? 0, extents, size, stride, dilation);
  const extra = extents.map((d, i) => {
    if (!options.ceilMode) return 0;
    const [low, high] = sides[i]!;
    const reach = (size[i]! - 1) * dilation[i]! + 1;
    const padded = addDim(addDim(d, low), high);
    const started = addDim(floorDiv(subDim(addDim(d, low), 1), stride[i]!), 1);
    const count = minDim(addDim(ceilDiv(subDim(padded, reach), stride[i]!), 1), started);
    const needed = addDim(mulDim(subDim(count, 1), stride[i]!), reach);
    return maxDim(subDim(needed, padded), 0);
  });
  const [low, high] = [sides.map((p) => p[0]), sides.map((p) => p[1])];
  return { size, stride, dilation, low, high, extra };
}

const isZero = (list: readonly Dim[]): boolean => list.every((d) => d === 0);

/** Pads the trailing axes of t, unless there is nothing to do. */
export function surround(
  t: Tensor,
  value: number,
  low: readonly Dim[],
  high: readonly Dim[],
): Tensor {
  if (isZero(low) && isZero(high)) return t;
  const lead = new Array<Dim>(t.rank - low.length).fill(0);
  return pad(t, value, [...lead, ...low], [...lead, ...high]);
}

export const placed = (x: Tensor, { size, stride, dilation }: Frame): Tensor =>
  windows(x, { size, stride, dilation });

export const windowAxes = (f: Frame): number[] => f.size.map((_, i) => i - f.size.length);

/**
 * The largest element of each window; padding never wins.
 *
 * x[N, C, D…] → [N, C, D′…]. The gradient goes to the first of equal elements in a window.
 * `F.max_pool2d`.
 *
 * @param x [N, C, D…].
 * @example
 *   maxPool(tensor([[[1, 3, 7, 5]]]), { size: 2 }) // [[[3, 7]]]
 *   maxPool(tensor([[[1, 3, 7, 5]]]), { size: 2, stride: 1 }) // [[[3, 7, 7]]]
 */
export function maxPool(x: Tensor, options: PoolOptions): Tensor {
  checkTensor("maxPool", x);
  checkOptions("maxPool", options, poolOptions);
  const f = frameOf("maxPool", x, options);
  const lowest = isFloat(x.dtype) ? -Infinity : minOf(x.dtype);
  const padded = surround(
    x,
    lowest,
    f.low,
    f.high.map((d, i) => addDim(d, f.extra[i]!)),
  );
  return max(placed(padded, f), windowAxes(f));
}

export interface AveragePoolOptions extends PoolOptions {
  /** Counts padding (but not what ceilMode adds) in the divisor; default true. */
  readonly countIncludePad?: boolean;
  /** Divides by this number, whatever a window holds. */
  readonly divisorOverride?: number;
}

const averagePoolOptions: OptionNames<AveragePoolOptions> = {
  ...poolOptions,
  countIncludePad: 1,
  divisorOverride: 1,
};

/**
 * The mean of each window, with 0 for padding. x: a float [N, C, D…] → [N, C, D′…]. `F.avg_pool2d`.
 * @example
 *   avgPool(tensor([[[1, 3, 5, 7]]]), { size: 2 }) // [[[2, 6]]]
 */
export function avgPool(x: Tensor, options: AveragePoolOptions): Tensor {
  checkTensor("avgPool", x);
  checkOptions("avgPool", options, averagePoolOptions);
  const f = frameOf("avgPool", x, options);
  if (!isFloat(x.dtype))
    throw new DtypeError(
      `avgPool: x is ${x.dtype}, not a float\n  convert it first: x.convert("f32")`,
    );
  return inFloat32([x], (from) => averaged(from, f, options));
}

function averaged(x: Tensor, f: Frame, options: AveragePoolOptions): Tensor {
  const high = f.high.map((d, i) => addDim(d, f.extra[i]!));
  const total = sum(placed(surround(x, 0, f.low, high), f), windowAxes(f));
  const { countIncludePad: counted = true, divisorOverride } = options;
  if (divisorOverride !== undefined)
    return apply("div", [total, filled(divisorOverride, x.dtype, total.shape)]);
  const whole = isZero(f.extra) && (counted || (isZero(f.low) && isZero(f.high)));
  const divisor = whole
    ? filled(sizeOf(f.size) as number, x.dtype, total.shape)
    : windowCounts(x, f, total, counted ? 1 : 0);
  return apply("div", [total, divisor]);
}

/** How many elements of each window count, over the shape of the result. */
function windowCounts(x: Tensor, f: Frame, total: Tensor, pads: 0 | 1): Tensor {
  const inner = surround(filled(1, x.dtype, x.shape.slice(2)), pads, f.low, f.high);
  const none = f.low.map(() => 0);
  const counts = sum(placed(surround(inner, 0, none, f.extra), f), windowAxes(f));
  return broadcastInDim(counts, total.shape, range(total.rank).slice(2));
}
