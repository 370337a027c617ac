/**
 * Pooling by a power mean without its divisor: the p-norm of each window.
 */
import {
  avgPool,
  checkOptions,
  GraphError,
  inFloat32,
  type OptionNames,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkRank, each } from "./parameter.ts";

export interface LPPoolOptions {
  /** Step of the window; the window's size by default. */
  readonly stride?: number | readonly number[];
  /** Also takes a last window that sticks out at the end. */
  readonly ceilMode?: boolean;
}

const lpPoolOptions: OptionNames<LPPoolOptions> = { stride: 1, ceilMode: 1 };

class LPPool extends Module {
  readonly norm: number;
  readonly window: readonly number[];
  readonly stride: readonly number[];
  readonly ceilMode: boolean;
  private readonly op: string;

  constructor(
    axes: number,
    norm: number,
    window: number | readonly number[],
    options: LPPoolOptions,
  ) {
    super([norm, window, options]);
    const op = `lpPool${axes}d`;
    this.op = op;
    checkOptions(op, options, lpPoolOptions);
    if (!(norm > 0 && norm < Number.POSITIVE_INFINITY))
      throw new GraphError(
        `${op}: norm must be positive and finite, got ${norm}\n  take MaxPool${axes}d for the limit of large norms`,
      );
    this.norm = norm;
    this.window = each(op, "window", window, axes);
    this.stride = each(op, "stride", options.stride ?? this.window, axes);
    this.ceilMode = options.ceilMode ?? false;
  }

  override forward(x: Tensor): Tensor {
    checkRank(this.op, x, this.window.length + 2);
    const { window, stride, ceilMode, norm } = this;
    return inFloat32([x], (v) => {
      const powers = norm === 2 ? v.square() : norm === 1 ? v : v.pow(norm);
      const means = avgPool(powers, { size: window, stride, ceilMode });
      const total = means.mul(window.reduce((a, b) => a * b, 1));
      if (norm === 1) return total;
      // No gradient where the sum is 0, rather than 0·∞.
      const isZero = total.equal(0);
      return select(isZero, 0, select(isZero, 1, total).pow(1 / norm));
    });
  }

  override describe(): string {
    return `${this.norm}, ${this.window.join("×")} stride ${this.stride.join("×")}`;
  }
}

/**
 * y[n, c, p] = (Σ over k of x[n, c, p·stride + k]^norm)^(1/norm): the sum for norm 1.
 *
 * x: f32[N, C, L] → f32[N, C, L′]. By default stride is the window, ceilMode false. The gradient is
 * 0 where the sum is. Throws GraphError unless `norm` is positive, ShapeError on another rank.
 * `torch.nn.LPPool1d`.
 *
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.LPPool1d(2, 2).forward(tensor([[[3, 4, 0, 2]]])) // [[[5, 2]]]
 */
export class LPPool1d extends LPPool {
  constructor(norm: number, window: number | readonly number[], options: LPPoolOptions = {}) {
    super(1, norm, window, options);
  }
}

/**
 * As `LPPool1d` over two axes. x: f32[N, C, H, W] → f32[N, C, H′, W′]. `torch.nn.LPPool2d`.
 *
 * @param norm p, positive.
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.LPPool2d(2, 2).forward(tensor([[[[1, 1], [1, 1]]]])) // [[[[2]]]]
 */
export class LPPool2d extends LPPool {
  constructor(norm: number, window: number | readonly number[], options: LPPoolOptions = {}) {
    super(2, norm, window, options);
  }
}

/**
 * As `LPPool1d` over three axes. x: f32[N, C, D, H, W] → f32[N, C, D′, H′, W′].
 * `torch.nn.LPPool3d`.
 *
 * @param norm p, positive.
 * @param window Places of a window along each axis; a number is for all.
 * @example
 *   new nn.LPPool3d(1, 2).forward(ones([1, 1, 2, 2, 2])) // [[[[[8]]]]]
 */
export class LPPool3d extends LPPool {
  constructor(norm: number, window: number | readonly number[], options: LPPoolOptions = {}) {
    super(3, norm, window, options);
  }
}
