/**
 * One number a channel: the mean or the largest of all positions.
 */
import {
  checkOptions,
  checkTensor,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";

export interface GlobalPoolOptions {
  /** Leaves the pooled axes with extent 1; false by default. */
  readonly keepDims?: boolean;
}

const globalPoolOptions: OptionNames<GlobalPoolOptions> = { keepDims: 1 };

abstract class GlobalPool extends Module {
  readonly keepDims: boolean;
  private readonly op: string;

  constructor(op: string, options: GlobalPoolOptions) {
    super([options]);
    this.op = op;
    this.keepDims = checkOptions(op, options, globalPoolOptions).keepDims ?? false;
  }

  /** The axes of positions. */
  protected axesOf(x: Tensor): number[] {
    checkTensor(this.op, x);
    if (x.rank < 3)
      throw new ShapeError(
        `${this.op}: input needs rank 3 or more, got ${printShape(x.shape)}\n  put the batch in front and the channels second: [N,C,...]`,
      );
    return x.shape.map((_, i) => i).slice(2);
  }
}

/**
 * y[n, c] = mean of x[n, c, …]. x: f32[N, C, D…] → f32[N, C], or f32[N, C, 1…] with `keepDims`.
 * Lin, Chen & Yan 2014. `keras.layers.GlobalAveragePooling2D`.
 * @example
 *   new nn.GlobalAvgPool().forward(tensor([[[[1, 3], [5, 7]]]])) // [[4]]
 */
export class GlobalAvgPool extends GlobalPool {
  constructor(options: GlobalPoolOptions = {}) {
    super("globalAvgPool", options);
  }
  override forward(x: Tensor): Tensor {
    const axes = this.axesOf(x);
    return x.mean(axes, { keepDims: this.keepDims });
  }
}

/**
 * y[n, c] = max of x[n, c, …]. x: f32[N, C, D…] → f32[N, C], or f32[N, C, 1…] with `keepDims`; the
 * first of equals gets the gradient. `keras.layers.GlobalMaxPooling2D`.
 * @example
 *   new nn.GlobalMaxPool().forward(tensor([[[[1, 3], [5, 7]]]])) // [[7]]
 */
export class GlobalMaxPool extends GlobalPool {
  constructor(options: GlobalPoolOptions = {}) {
    super("globalMaxPool", options);
  }
  override forward(x: Tensor): Tensor {
    const axes = this.axesOf(x);
    return x.max(axes, { keepDims: this.keepDims });
  }
}
