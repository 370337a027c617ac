/** Resizing as a layer; the arithmetic is the IR's `interpolate`. */
import {
  checkOptions,
  GraphError,
  type InterpolateOptions,
  interpolate,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";

const upsampleOptions: OptionNames<InterpolateOptions> = {
  scale: 1,
  size: 1,
  mode: 1,
  alignCorners: 1,
};

/**
 * x resized over all axes but batch and channels: `interpolate` with these options.
 * `torch.nn.Upsample`.
 *
 * x: f32[N, C, ...] → f32[N, C, ...] of `size`, or of the extents times `scale`. Throws GraphError
 * unless one of both is given.
 *
 * @example
 *   new nn.Upsample({ scale: 2 }).forward(tensor([[[[1, 3]]]])) // [[[[1, 1, 3, 3], [1, 1, 3, 3]]]]
 */
export class Upsample extends Module {
  readonly options: InterpolateOptions;

  constructor(options: InterpolateOptions) {
    super([options]);
    checkOptions("upsample", options, upsampleOptions);
    if ((options?.size === undefined) === (options?.scale === undefined))
      throw new GraphError(
        "upsample: give either the size or the scale\n  new nn.Upsample({ scale: 2 })",
      );
    this.options = { ...options };
  }

  override forward(x: Tensor): Tensor {
    return interpolate(x, this.options);
  }

  override describe(): string {
    const { size, scale, mode = "nearest" } = this.options;
    return `${size === undefined ? `×${String(scale)}` : `to ${String(size)}`} ${mode}`;
  }
}
