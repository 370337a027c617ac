/**
 * Windows of images as columns, and columns summed back into images: PyTorch's Unfold and Fold
 * (im2col and its transpose).
 */
import {
  checkOptions,
  type Dim,
  foldWindows,
  mulDim,
  type OptionNames,
  printDim,
  printShape,
  ShapeError,
  type Tensor,
  windows,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkRank, each } from "./parameter.ts";

export interface UnfoldOptions {
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[];
  /** Zeros at the edges, default 0. */
  readonly padding?: number | readonly number[];
  /** Places from one window to the next along each axis, default 1; a number is for all. */
  readonly stride?: number | readonly number[];
}

const unfoldOptions: OptionNames<UnfoldOptions> = { dilation: 1, padding: 1, stride: 1 };

/** What both have. */
abstract class Columns extends Module {
  readonly kernel: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly number[];
  readonly stride: readonly number[];

  constructor(
    op: string,
    kernel: number | readonly number[],
    options: UnfoldOptions,
    args: readonly unknown[] = [kernel, options],
  ) {
    super(args);
    checkOptions(op, options, unfoldOptions);
    this.kernel = each(op, "kernel", kernel, 2);
    this.dilation = each(op, "dilation", options.dilation ?? 1, 2);
    this.padding = each(op, "padding", options.padding ?? 0, 2, 0);
    this.stride = each(op, "stride", options.stride ?? 1, 2);
  }

  override describe(): string {
    return `${this.kernel.join("×")} stride ${this.stride.join("×")}`;
  }
}

/**
 * y[n, (c, i, j), (h, w)] = x[n, c, h·stride + i·dilation − padding, w·stride + j·dilation −
 * padding], 0 outside.
 *
 * x: f32[N, C, H, W] → f32[N, C·K·K′, L], L the number of places. By default dilation 1, padding 0,
 * stride 1. Throws ShapeError on another rank, or where the kernel does not fit. `torch.nn.Unfold`.
 *
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @example
 *   new nn.Unfold(3, { padding: 1 }).forward(ones([1, 2, 4, 4])).shape // [1, 18, 16]
 */
export class Unfold extends Columns {
  constructor(kernel: number | readonly number[], options: UnfoldOptions = {}) {
    super("unfold", kernel, options);
  }

  override forward(x: Tensor): Tensor {
    checkRank("unfold", x, 4);
    const { kernel, dilation, padding, stride } = this;
    const padded = padding.some((p) => p > 0) ? x.pad(0, [0, 0, ...padding]) : x;
    const placed = windows(padded, { size: kernel, stride, dilation });
    const [n, c, h, w] = placed.shape as [Dim, Dim, Dim, Dim];
    return placed
      .transpose([0, 1, 4, 5, 2, 3])
      .reshape([n, mulDim(c, kernel[0]! * kernel[1]!), mulDim(h, w)]);
  }
}

/**
 * The transpose of `Unfold`: every entry of a column is added to the place that it would have come
 * from.
 *
 * x: f32[N, C·K·K′, L] → f32[N, C, H, W] with [H, W] the `outputSize`. Throws ShapeError if the
 * columns are not those of such an image. `torch.nn.Fold`.
 *
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @example
 *   const columns = new nn.Unfold(2, { stride: 2 }).forward(ones([1, 3, 8, 8]));
 *   new nn.Fold([8, 8], 2, { stride: 2 }).forward(columns).shape // [1, 3, 8, 8]
 */
export class Fold extends Columns {
  readonly outputSize: readonly number[];

  constructor(
    outputSize: number | readonly number[],
    kernel: number | readonly number[],
    options: UnfoldOptions = {},
  ) {
    super("fold", kernel, options, [outputSize, kernel, options]);
    this.outputSize = each("fold", "outputSize", outputSize, 2);
  }

  override forward(x: Tensor): Tensor {
    checkRank("fold", x, 3);
    const { kernel, dilation, padding, stride, outputSize } = this;
    const extent = outputSize.map((d, i) => d + 2 * padding[i]!);
    const places = extent.map(
      (d, i) => Math.floor((d - (kernel[i]! - 1) * dilation[i]! - 1) / stride[i]!) + 1,
    );
    const [n, columns, length] = x.shape as [Dim, Dim, Dim];
    const area = kernel[0]! * kernel[1]!;
    const found = places[0]! * places[1]!;
    if (typeof columns !== "number" || columns % area || length !== found)
      throw new ShapeError(
        `fold: columns of ${printShape(outputSize)} by ${printShape(kernel)} are [N,C·${area},${found}], got ${printShape([n, columns, length])}\n  give what Unfold of the same options makes of ${printDim(outputSize[0]!)}×${printDim(outputSize[1]!)}`,
      );
    const placed = x
      .reshape([n, columns / area, ...kernel, ...places])
      .transpose([0, 1, 4, 5, 2, 3]);
    const image = foldWindows(placed, { size: kernel, stride, dilation, extent });
    if (padding.every((p) => p === 0)) return image;
    return image.pad(0, [0, 0, ...padding.map((p) => -p)]);
  }
}
