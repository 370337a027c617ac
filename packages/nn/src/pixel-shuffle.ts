/**
 * Between channels and places: blocks of an image become channels, and back. Views, no kernels of
 * their own.
 */
import {
  checkTensor,
  type Dim,
  exactQuotient,
  mulDim,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

function lastThree(op: string, x: Tensor): [readonly Dim[], Dim, Dim, Dim] {
  checkTensor(op, x);
  if (x.rank < 3)
    throw new ShapeError(
      `${op}: input needs rank 3 or more, got ${printShape(x.shape)}\n  give images: [N,C,H,W]`,
    );
  const [c, h, w] = x.shape.slice(-3) as [Dim, Dim, Dim];
  return [x.shape.slice(0, -3), c, h, w];
}

function quotient(op: string, x: Tensor, d: Dim, by: number): Dim {
  const whole = exactQuotient(d, by);
  if (whole === undefined)
    throw new ShapeError(
      `${op}: ${printShape(x.shape)} does not divide into blocks: ${String(d)} by ${by}\n  choose a factor that fits`,
    );
  return whole;
}

/** Axes before the last `count` as they are, those by `order`. */
const behind = (lead: number, order: readonly number[]): number[] => [
  ...Array.from({ length: lead }, (_, i) => i),
  ...order.map((i) => lead + i),
];

/**
 * y[n, c, h·r + i, w·r + j] = x[n, c·r² + i·r + j, h, w].
 *
 * x: f32[..., C·r², H, W] → f32[..., C, H·r, W·r]. Throws ShapeError if r² does not divide the
 * channels. Shi et al. 2016. `torch.nn.PixelShuffle`.
 *
 * @param factor r, a whole number from 1.
 * @example
 *   new nn.PixelShuffle(2).forward(ones([1, 8, 3, 3])).shape // [1, 2, 6, 6]
 */
export class PixelShuffle extends Module {
  readonly factor: number;

  constructor(factor: number) {
    super([factor]);
    checkCount("pixelShuffle", "factor", factor);
    this.factor = factor;
  }

  override forward(x: Tensor): Tensor {
    const r = this.factor;
    const [lead, c, h, w] = lastThree("pixelShuffle", x);
    const channels = quotient("pixelShuffle", x, c, r * r);
    return x
      .reshape([...lead, channels, r, r, h, w])
      .transpose(behind(lead.length, [0, 3, 1, 4, 2]))
      .reshape([...lead, channels, mulDim(h, r), mulDim(w, r)]);
  }

  override describe(): string {
    return `${this.factor}`;
  }
}

/**
 * y[n, c·r² + i·r + j, h, w] = x[n, c, h·r + i, w·r + j], the inverse of `PixelShuffle`.
 *
 * x: f32[..., C, H·r, W·r] → f32[..., C·r², H, W]. Throws ShapeError if r does not divide both
 * extents. `torch.nn.PixelUnshuffle`.
 *
 * @param factor r, a whole number from 1.
 * @example
 *   const y = new nn.PixelUnshuffle(2).forward(tensor([[[[1, 2], [3, 4]]]]));
 *   y // [[[[1]], [[2]], [[3]], [[4]]]]
 */
export class PixelUnshuffle extends Module {
  readonly factor: number;

  constructor(factor: number) {
    super([factor]);
    checkCount("pixelUnshuffle", "factor", factor);
    this.factor = factor;
  }

  override forward(x: Tensor): Tensor {
    const r = this.factor;
    const [lead, c, h, w] = lastThree("pixelUnshuffle", x);
    const [high, wide] = [h, w].map((d) => quotient("pixelUnshuffle", x, d, r)) as [Dim, Dim];
    return x
      .reshape([...lead, c, high, r, wide, r])
      .transpose(behind(lead.length, [0, 2, 4, 1, 3]))
      .reshape([...lead, mulDim(c, r * r), high, wide]);
  }

  override describe(): string {
    return `${this.factor}`;
  }
}
