/**
 * Pooling to a grid of a given size, whatever the extents: cells as PyTorch lays them. Cells that
 * do not divide an axis evenly are taken one by one.
 */
import { checkList, concat, isStatic, printShape, ShapeError, type Tensor } from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkRank, each } from "./parameter.ts";

/** A size for all axes, or one for each; null leaves the extent of an axis as it is. */
export type GridSize = number | readonly (number | null)[];

type Reduce = (x: Tensor, axes: readonly number[], keepDims: boolean) => Tensor;

class AdaptivePool extends Module {
  readonly grid: readonly (number | null)[];
  private readonly op: string;
  private readonly reduce: Reduce;

  constructor(op: string, axes: number, size: GridSize, reduce: Reduce) {
    super([size]);
    this.op = op;
    this.reduce = reduce;
    if (typeof size !== "number") checkList(op, "size", size);
    const list = typeof size === "number" ? each(op, "size", size, axes) : size;
    const counts = each(
      op,
      "size",
      list.map((v) => v ?? 1),
      axes,
    );
    this.grid = counts.map((v, i) => (list[i] === null ? null : v));
  }

  override forward(x: Tensor): Tensor {
    checkRank(this.op, x, this.grid.length + 2);
    if (this.grid.every((g) => g === 1))
      return this.reduce(x, x.shape.map((_, i) => i).slice(2), true);
    // The mean over a cell is that of rows of the means of columns, and so the largest, so the axes
    // separate.
    return this.grid.reduce<Tensor>(
      (y, count, i) => (count === null ? y : this.alongAxis(y, i + 2, count)),
      x,
    );
  }

  private alongAxis(x: Tensor, axis: number, count: number): Tensor {
    const extent = x.shape[axis]!;
    if (count === 1) return this.reduce(x, [axis], true);
    if (!isStatic(extent))
      throw new ShapeError(
        `${this.op}: size ${count} needs a known extent, axis ${axis} of ${printShape(x.shape)} is symbolic`,
      );
    if (extent % count === 0) {
      const cells = [...x.shape.slice(0, axis), count, extent / count, ...x.shape.slice(axis + 1)];
      return this.reduce(x.reshape(cells), [axis + 1], false);
    }
    const bands = Array.from({ length: count }, (_, i) => {
      const [start, limit] = [
        Math.floor((i * extent) / count),
        Math.ceil(((i + 1) * extent) / count),
      ];
      return this.reduce(x.sliceAxis(axis, start, limit), [axis], true);
    });
    return concat(bands, axis);
  }

  override describe(): string {
    return this.grid.map((g) => g ?? "·").join("×");
  }
}

const mean: Reduce = (x, axes, keepDims) => x.mean(axes, { keepDims });
const largest: Reduce = (x, axes, keepDims) => x.max(axes, { keepDims });

/**
 * Means over a row of `size` cells: cell i covers ⌊i·L/size⌋ up to ⌈(i+1)·L/size⌉.
 *
 * x: f32[N, C, L] → f32[N, C, size]. Throws ShapeError if L is symbolic and `size` is not 1.
 * `torch.nn.AdaptiveAvgPool1d`.
 *
 * @example
 *   new nn.AdaptiveAvgPool1d(2).forward(tensor([[[1, 3, 5, 7]]])) // [[[2, 6]]]
 */
export class AdaptiveAvgPool1d extends AdaptivePool {
  constructor(size: GridSize) {
    super("adaptiveAvgPool1d", 1, size, mean);
  }
}

/**
 * Means over a grid of `size`: row i covers ⌊i·H/h⌋ up to ⌈(i+1)·H/h⌉, columns alike.
 *
 * x: f32[N, C, H, W] → f32[N, C, h, w]. Throws ShapeError if H or W is symbolic and `size` is
 * not 1. `torch.nn.AdaptiveAvgPool2d`.
 *
 * @example
 *   new nn.AdaptiveAvgPool2d([1, 1]).forward(tensor([[[[1, 3], [5, 7]]]])) // [[[[4]]]]
 */
export class AdaptiveAvgPool2d extends AdaptivePool {
  constructor(size: GridSize) {
    super("adaptiveAvgPool2d", 2, size, mean);
  }
}

/**
 * As `AdaptiveAvgPool2d` over three axes. x: f32[N, C, D, H, W] → f32[N, C, d, h, w].
 * `torch.nn.AdaptiveAvgPool3d`.
 *
 * @param size Cells along each axis; a number is for all.
 * @example
 *   new nn.AdaptiveAvgPool3d(2).forward(ones([1, 3, 4, 4, 4])).shape // [1, 3, 2, 2, 2]
 */
export class AdaptiveAvgPool3d extends AdaptivePool {
  constructor(size: GridSize) {
    super("adaptiveAvgPool3d", 3, size, mean);
  }
}

/**
 * The largest elements of a row of `size` cells: cell i covers ⌊i·L/size⌋ up to ⌈(i+1)·L/size⌉. The
 * first of equals gets the gradient.
 *
 * x: f32[N, C, L] → f32[N, C, size]. Throws ShapeError if L is symbolic and `size` is not 1.
 * `torch.nn.AdaptiveMaxPool1d`.
 *
 * @example
 *   new nn.AdaptiveMaxPool1d(2).forward(tensor([[[1, 3, 7, 5]]])) // [[[3, 7]]]
 */
export class AdaptiveMaxPool1d extends AdaptivePool {
  constructor(size: GridSize) {
    super("adaptiveMaxPool1d", 1, size, largest);
  }
}

/**
 * As `AdaptiveMaxPool1d` over two axes. x: f32[N, C, H, W] → f32[N, C, h, w].
 * `torch.nn.AdaptiveMaxPool2d`.
 *
 * @param size Cells along each axis; a number is for all.
 * @example
 *   new nn.AdaptiveMaxPool2d([1, 1]).forward(tensor([[[[1, 3], [5, 7]]]])) // [[[[7]]]]
 */
export class AdaptiveMaxPool2d extends AdaptivePool {
  constructor(size: GridSize) {
    super("adaptiveMaxPool2d", 2, size, largest);
  }
}

/**
 * As `AdaptiveMaxPool1d` over three axes. x: f32[N, C, D, H, W] → f32[N, C, d, h, w].
 * `torch.nn.AdaptiveMaxPool3d`.
 *
 * @param size Cells along each axis; a number is for all.
 * @example
 *   new nn.AdaptiveMaxPool3d(2).forward(ones([1, 3, 4, 4, 4])).shape // [1, 3, 2, 2, 2]
 */
export class AdaptiveMaxPool3d extends AdaptivePool {
  constructor(size: GridSize) {
    super("adaptiveMaxPool3d", 3, size, largest);
  }
}
