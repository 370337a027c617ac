/**
 * Local response normalisation: each element by those of the channels around it.
 */
import {
  avgPool,
  checkOptions,
  checkTensor,
  type Dim,
  inFloat32,
  mulDim,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

export interface ResponseNormOptions {
  /** Factor of the mean of squares, default 1e-4. */
  readonly alpha?: number;
  /** Exponent, default 0.75. */
  readonly beta?: number;
  /** Added to the mean, default 1. */
  readonly k?: number;
}

const responseNormOptions: OptionNames<ResponseNormOptions> = { alpha: 1, beta: 1, k: 1 };

/**
 * x / (k + alpha / size · Σ x′²)^beta, the sum over `size` channels around that of x: ⌊size / 2⌋
 * before it, the rest after.
 *
 * x: f32[N, C, ...] → the same. Throws ShapeError on a rank below 2. Krizhevsky, Sutskever & Hinton
 * 2012, section 3.3, with the division by `size` of `torch.nn.LocalResponseNorm`.
 *
 * @example
 *   new nn.LocalResponseNorm(5).forward(ones([1, 8, 4, 4])).shape // [1, 8, 4, 4]
 */
export class LocalResponseNorm extends Module {
  readonly size: number;
  readonly alpha: number;
  readonly beta: number;
  readonly k: number;

  constructor(size: number, options: ResponseNormOptions = {}) {
    super([size, options]);
    checkOptions("localResponseNorm", options, responseNormOptions);
    checkCount("localResponseNorm", "size", size);
    this.size = size;
    this.alpha = options.alpha ?? 1e-4;
    this.beta = options.beta ?? 0.75;
    this.k = options.k ?? 1;
  }

  override forward(input: Tensor): Tensor {
    checkTensor("localResponseNorm", input);
    if (input.rank < 2)
      throw new ShapeError(
        `localResponseNorm: input needs rank 2 or more, got ${printShape(input.shape)}\n  put the batch in front and the channels second: [N,C,...]`,
      );
    const [batch, channels, ...rest] = input.shape as [Dim, Dim, ...Dim[]];
    const { size, alpha, beta, k } = this;
    const before = Math.floor(size / 2);
    return inFloat32([input], (x) => {
      const squares = x.square().reshape([batch, 1, channels, rest.reduce<Dim>(mulDim, 1)]);
      const padding = [[before, size - 1 - before] as const, 0];
      const around = avgPool(squares, { size: [size, 1], stride: 1, padding });
      return x.mul(around.mul(alpha).add(k).pow(-beta).reshape(input.shape));
    });
  }

  override describe(): string {
    return `${this.size}`;
  }
}
