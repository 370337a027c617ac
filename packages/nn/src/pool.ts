/**
 * Pooling over the one to three trailing axes of [N, C, …]: the windows and their reduction are the
 * IR's.
 */
import {
  avgPool,
  checkOptions,
  maxPool,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkCount, checkRank, each } from "./parameter.ts";

export interface PoolOptions {
  /** Step of the window; the window's size by default. */
  readonly stride?: number | readonly number[];
  /** Added at both ends of an axis: −∞ for the maximum, counted zeros for the average. */
  readonly padding?: number | readonly number[];
  /** Also takes a last window that sticks out at the end. */
  readonly ceilMode?: boolean;
}

export interface MaxPoolOptions extends PoolOptions {
  /** Step between the elements of a window, default 1. */
  readonly dilation?: number | readonly number[];
}

export interface AvgPoolOptions extends PoolOptions {
  /** Counts padding in the divisor; true by default. */
  readonly countIncludePad?: boolean;
  /** Divides by this number, whatever a window holds. */
  readonly divisorOverride?: number;
}

const poolOptions: OptionNames<PoolOptions> = { stride: 1, padding: 1, ceilMode: 1 };
const maxPoolOptions: OptionNames<MaxPoolOptions> = { ...poolOptions, dilation: 1 };
const avgPoolOptions: OptionNames<AvgPoolOptions> = {
  ...poolOptions,
  countIncludePad: 1,
  divisorOverride: 1,
};

abstract class Pool extends Module {
  readonly window: readonly number[];
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly ceilMode: boolean;

  constructor(op: string, axes: number, window: number | readonly number[], options: PoolOptions) {
    super([window, options]);
    this.window = each(op, "window", window, axes);
    this.stride = each(op, "stride", options.stride ?? this.window, axes);
    this.padding = each(op, "padding", options.padding ?? 0, axes, 0);
    this.ceilMode = options.ceilMode ?? false;
    if (this.padding.some((p, i) => p > this.window[i]! / 2))
      throw new ShapeError(
        `${op}: padding is over half the window: ${printShape(this.padding)} for ${printShape(this.window)}\n  pad at most half of the window, or pad before: x.pad(…)`,
      );
  }

  override forward(x: Tensor): Tensor {
    checkRank("pool", x, this.window.length + 2);
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

class MaxPool extends Pool {
  readonly dilation: readonly number[];

  constructor(axes: number, window: number | readonly number[], options: MaxPoolOptions) {
    const op = `maxPool${axes}d`;
    super(op, axes, window, checkOptions(op, options, maxPoolOptions));
    this.dilation = each(op, "dilation", options.dilation ?? 1, axes);
  }

  protected override reduce(x: Tensor): Tensor {
    return maxPool(x, { ...this.frame, dilation: this.dilation });
  }
}

class AvgPool extends Pool {
  readonly countIncludePad: boolean;
  readonly divisorOverride: number | undefined;

  constructor(axes: number, window: number | readonly number[], options: AvgPoolOptions) {
    const op = `avgPool${axes}d`;
    super(op, axes, window, checkOptions(op, options, avgPoolOptions));
    this.countIncludePad = options.countIncludePad ?? true;
    this.divisorOverride = options.divisorOverride;
    if (this.divisorOverride !== undefined) checkCount(op, "divisorOverride", this.divisorOverride);
  }

  protected override reduce(x: Tensor): Tensor {
    const { countIncludePad, divisorOverride } = this;
    const divisor = divisorOverride === undefined ? {} : { divisorOverride };
    return avgPool(x, { ...this.frame, countIncludePad, ...divisor });
  }
}

/**
 * y[n, c, p] = max over k of x[n, c, p·stride + k·dilation − padding]; padding never wins.
 *
 * x: f32[N, C, L] → f32[N, C, L′]. By default stride is the window, padding 0, dilation 1, ceilMode
 * false. The first of equal elements gets the gradient. Throws ShapeError on another rank, or where
 * the padding is over half the window. `torch.nn.MaxPool1d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.MaxPool1d(2).forward(tensor([[[1, 3, 7, 5]]])) // [[[3, 7]]]
 */
export class MaxPool1d extends MaxPool {
  constructor(window: number | readonly number[], options: MaxPoolOptions = {}) {
    super(1, window, options);
  }
}

/**
 * Largest element of each window. x: f32[N, C, H, W] → f32[N, C, H′, W′]; the first of equals gets
 * the gradient. `torch.nn.MaxPool2d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.MaxPool2d(2).forward(tensor([[[[1, 3], [5, 7]]]])) // [[[[7]]]]
 *   const pool = new nn.MaxPool2d(3, { stride: 2, padding: 1 });
 *   pool.forward(ones([1, 8, 6, 6])).shape // [1, 8, 3, 3]
 */
export class MaxPool2d extends MaxPool {
  constructor(window: number | readonly number[], options: MaxPoolOptions = {}) {
    super(2, window, options);
  }
}

/**
 * As `MaxPool1d` over three axes. x: f32[N, C, D, H, W] → f32[N, C, D′, H′, W′].
 * `torch.nn.MaxPool3d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.MaxPool3d(2).forward(ones([1, 3, 4, 4, 4])).shape // [1, 3, 2, 2, 2]
 */
export class MaxPool3d extends MaxPool {
  constructor(window: number | readonly number[], options: MaxPoolOptions = {}) {
    super(3, window, options);
  }
}

/**
 * Mean of each window, padding counted as zeros unless `countIncludePad` is false.
 *
 * x: f32[N, C, L] → f32[N, C, L′]. By default stride is the window, padding 0, ceilMode false.
 * Throws ShapeError on another rank, or where the padding is over half the window.
 * `torch.nn.AvgPool1d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.AvgPool1d(2).forward(tensor([[[1, 3, 5, 7]]])) // [[[2, 6]]]
 */
export class AvgPool1d extends AvgPool {
  constructor(window: number | readonly number[], options: AvgPoolOptions = {}) {
    super(1, window, options);
  }
}

/**
 * Mean of each window, padding counted as zeros. x: f32[N, C, H, W] → f32[N, C, H′, W′]. Otherwise
 * as `AvgPool1d`. `torch.nn.AvgPool2d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.AvgPool2d(2).forward(tensor([[[[1, 3], [5, 7]]]])) // [[[[4]]]]
 *   const pool = new nn.AvgPool2d(3, { stride: 2, padding: 1 });
 *   pool.forward(ones([1, 8, 6, 6])).shape // [1, 8, 3, 3]
 */
export class AvgPool2d extends AvgPool {
  constructor(window: number | readonly number[], options: AvgPoolOptions = {}) {
    super(2, window, options);
  }
}

/**
 * As `AvgPool1d` over three axes. x: f32[N, C, D, H, W] → f32[N, C, D′, H′, W′].
 * `torch.nn.AvgPool3d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.AvgPool3d(2).forward(ones([1, 3, 4, 4, 4])).shape // [1, 3, 2, 2, 2]
 */
export class AvgPool3d extends AvgPool {
  constructor(window: number | readonly number[], options: AvgPoolOptions = {}) {
    super(3, window, options);
  }
}
