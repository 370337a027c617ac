/**
 * The layer of deformable convolution. The arithmetic is the IR's `deformConv`; the offsets come
 * from another layer.
 */
import { checkTensor, deformConv, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { biased, type ConvOptions, KernelLayer } from "./convolution.ts";

export type DeformConv2dOptions = Omit<ConvOptions, "paddingMode">;

const deformConv2dOptions: OptionNames<DeformConv2dOptions> = {
  stride: 1,
  padding: 1,
  dilation: 1,
  groups: 1,
  bias: 1,
  init: 1,
  biasInit: 1,
};

/**
 * A `Conv2d` whose kernel reads x at places moved by `offset`, between elements, each times `mask`
 * where that is given.
 *
 * x: f32[N, C, H, W], offset f32[N, 2·R·K, H′, W′], mask f32[N, R·K, H′, W′] → f32[N, O, H′, W′],
 * where K is the number of places of the kernel and each of R regions of channels has offsets of
 * its own: two numbers a place, down and to the right. `weight` f32[O, C/groups, K, K′]. Throws
 * ShapeError unless they fit. Dai et al. 2017, Zhu et al. 2019. `torchvision.ops.DeformConv2d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param options As of `Conv2d`, and `offsetGroups`.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   const image = ones([1, 3, 4, 4]);
 *   const offsets = new nn.Conv2d(3, 2 * 9, 3, { padding: 1, init: nn.init.zeros() });
 *   const layer = new nn.DeformConv2d(3, 8, 3, { padding: 1 });
 *   layer.forward(image, offsets.forward(image)).shape // [1, 8, 4, 4]
 */
export class DeformConv2d extends KernelLayer {
  constructor(outputs: number, kernel: number | readonly number[], options?: DeformConv2dOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: DeformConv2dOptions,
  );
  constructor(...args: readonly unknown[]) {
    super("deformConv2d", 2, args, deformConv2dOptions);
  }

  override forward(x: Tensor, offset: Tensor, mask?: Tensor): Tensor {
    this.prepare(x);
    checkTensor(this.op, offset);
    const { stride, padding, dilation, groups } = this;
    const y = deformConv(x, offset, this.weight, {
      stride,
      padding,
      dilation,
      groups,
      ...(mask && { mask }),
    });
    return biased(y, this.bias);
  }
}
