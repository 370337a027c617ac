/**
 * Axes from `start` on as one: x f32[N, C, H, W] → f32[N, C·H·W].
 */
import { checkTensor, type Dim, mulDim, printShape, ShapeError, type Tensor } from "@kiln-ml/ir";
import { Module } from "./module.ts";

/**
 * Keeps the axes before `start` (1 by default) and joins the others. Throws ShapeError if there are
 * none. `torch.nn.Flatten`.
 * @example
 *   new nn.Flatten().forward(ones([2, 3, 4])).shape // [2, 12]
 */
export class Flatten extends Module {
  readonly start: number;

  constructor(start = 1) {
    super([start]);
    this.start = start;
  }

  override forward(x: Tensor): Tensor {
    checkTensor("flatten", x);
    if (x.rank < this.start)
      throw new ShapeError(
        `flatten: needs rank ${this.start} or more, got ${printShape(x.shape)}\n  give start a smaller axis`,
      );
    const tail = x.shape.slice(this.start).reduce<Dim>(mulDim, 1);
    return x.reshape([...x.shape.slice(0, this.start), tail]);
  }
}
