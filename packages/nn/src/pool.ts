/**
 * Pooling over the two trailing axes of [N, C, H, W]: the windows and their reduction are the IR's.
 */
import {
  avgPool,
  checkOptions,
  concat,
  isStatic,
  maxPool,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkCount, checkRank, pair } from "./parameter.ts";

export interface PoolOptions {
  /** Step of the window; the window's size by default. */
  readonly stride?: number | readonly number[];
  /** Added at both ends of an axis: −∞ for the maximum, counted zeros for the average. */
  readonly padding?: number | readonly number[];
  /** Also takes a last window that sticks out at the end. */
  readonly ceilMode?: boolean;
}

const poolOptions: OptionNames<PoolOptions> = { stride: 1, padding: 1, ceilMode: 1 };

abstract class Pool extends Module {
  readonly window: [number, number];
  readonly stride: [number, number];
  readonly padding: [number, number];
  readonly ceilMode: boolean;

  constructor(op: string, window: number | readonly number[], options: PoolOptions) {
    super();
    checkOptions(op, options, poolOptions);
    this.window = pair(op, "window", window);
    this.stride = pair(op, "stride", options.stride ?? this.window);
    this.padding = pair(op, "padding", options.padding ?? 0);
    this.ceilMode = options.ceilMode ?? false;
    for (const v of this.window) checkCount(op, "window", v);
    for (const v of this.stride) checkCount(op, "stride", v);
    for (const v of this.padding) checkCount(op, "padding", v, 0);
    if (this.padding.some((p, i) => p > this.window[i]! / 2))
      throw new ShapeError(
        `${op}: padding is over half the window: ${printShape(this.padding)} for ${printShape(this.window)}`,
      );
  }

  override forward(x: Tensor): Tensor {
    checkRank("pool", x, 4);
    return this.reduce(x);
  }

  protected abstract reduce(x: Tensor): Tensor;

  protected get frame() {
    const { window, stride, padding, ceilMode } = this;
    return { size: window, stride, padding, ceilMode };
  }

  override describe(): string {
    return `${this.window.join("×")} stride ${this.stride.join("×")}`;
  }
}

/** Largest element of each window. x: f32[N, C, H, W] → f32[N, C, H′, W′]; the first of equals gets the gradient. */
export class MaxPool2d extends Pool {
  constructor(window: number | readonly number[], options: PoolOptions = {}) {
    super("maxPool2d", window, options);
  }
  protected override reduce(x: Tensor): Tensor {
    return maxPool(x, this.frame);
  }
}

/** Mean of each window, padding counted as zeros. x: f32[N, C, H, W] → f32[N, C, H′, W′]. */
export class AvgPool2d extends Pool {
  constructor(window: number | readonly number[], options: PoolOptions = {}) {
    super("avgPool2d", window, options);
  }
  protected override reduce(x: Tensor): Tensor {
    return avgPool(x, this.frame);
  }
}

/**
 * Means over a grid of `size`: row i covers ⌊i·H/h⌋ up to ⌈(i+1)·H/h⌉, columns alike, as PyTorch has it.
 *
 * x: f32[N, C, H, W] → f32[N, C, h, w]. Throws ShapeError if H or W is symbolic and `size` is not 1.
 */
export class AdaptiveAvgPool2d extends Module {
  readonly grid: [number, number];

  constructor(size: number | readonly number[]) {
    super();
    this.grid = pair("adaptiveAvgPool2d", "size", size);
    for (const v of this.grid) checkCount("adaptiveAvgPool2d", "size", v);
  }

  override forward(x: Tensor): Tensor {
    checkRank("adaptiveAvgPool2d", x, 4);
    return this.#alongAxis(this.#alongAxis(x, x.rank - 2, this.grid[0]), x.rank - 1, this.grid[1]);
  }

  /** The mean over a cell is that of rows of the means of columns, so the axes separate. */
  #alongAxis(x: Tensor, axis: number, count: number): Tensor {
    const extent = x.shape[axis]!;
    if (count === 1) return x.mean([axis], { keepDims: true });
    if (!isStatic(extent))
      throw new ShapeError(
        `adaptiveAvgPool2d: size ${count} needs a known extent, axis ${axis} of ${printShape(x.shape)} is symbolic`,
      );
    if (extent % count === 0) {
      const cells = [...x.shape.slice(0, axis), count, extent / count, ...x.shape.slice(axis + 1)];
      return x.reshape(cells).mean([axis + 1]);
    }
    const bands = Array.from({ length: count }, (_, i) => {
      const [start, limit] = [
        Math.floor((i * extent) / count),
        Math.ceil(((i + 1) * extent) / count),
      ];
      return x.sliceAxis(axis, start, limit).mean([axis], { keepDims: true });
    });
    return concat(bands, axis);
  }

  override describe(): string {
    return this.grid.join("×");
  }
}
