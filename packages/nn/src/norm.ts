/**
 * Normalisations within one sample: over the last axes, by root mean square, and over groups of
 * channels. They hold no running state. Halves are f32 from the sums to the gain and bias, and
 * rounded once.
 */
import {
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
import { constant } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, checkWithin, weight } from "./parameter.ts";

export interface NormOptions {
  /** In units of variance, default 1e-5. */
  readonly eps?: number;
  /** Has gain and bias; true by default. */
  readonly affine?: boolean;
}

/** (x − mean) / √(var + eps) over `axes`, with the biased variance. */
export function standardize(x: Tensor, axes: readonly number[], eps: number): Tensor {
  return inFloat32([x], (full) => {
    const centred = full.sub(full.mean(axes, { keepDims: true }));
    return centred.mul(centred.square().mean(axes, { keepDims: true }).add(eps).rsqrt());
  });
}

/** y · weight + bias, where there are such. */
export const affine = (y: Tensor, weight: Tensor | undefined, bias: Tensor | undefined): Tensor =>
  weight && bias ? y.mul(weight).add(bias) : y;

const lastAxes = (count: number): number[] => Array.from({ length: count }, (_, i) => i - count);

function checkTail(op: string, x: Tensor, shape: readonly number[]): void {
  for (const [i, d] of shape.entries()) checkExtent(op, x, i - shape.length, d, "extents");
}

const normOptions: OptionNames<NormOptions> = { eps: 1, affine: 1 };

type Tail = readonly [shape: number | readonly number[] | undefined, options?: NormOptions];

const gainAndBias = ({ affine = true }: NormOptions, shape: readonly number[]) =>
  affine && {
    weight: weight("weight", shape, constant(1)),
    bias: weight("bias", shape, constant(0)),
  };

/**
 * (x − mean) / √(var + eps) · weight + bias over the last axes.
 *
 * x: f32[..., shape] → the same; weight and bias have `shape`, by default the last extent of the
 * first x. Throws ShapeError if x does not end in `shape`. Ba, Kiros & Hinton 2016, eq. 4; variance
 * is the biased one. `torch.nn.LayerNorm`.
 *
 * @example
 *   new nn.LayerNorm(2).forward(tensor([[1, 3], [20, 10]])) // [[−1, 1], [1, −1]]
 */
export class LayerNorm extends Module {
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly shape!: readonly number[];
  readonly eps: number;

  constructor(options?: NormOptions);
  constructor(shape: number | readonly number[], options?: NormOptions);
  constructor(...args: readonly unknown[]) {
    super(args);
    const [shape, options = {}] = withSize(args, 1) as Tail;
    checkOptions("layerNorm", options, normOptions);
    this.eps = options.eps ?? 1e-5;
    checkWithin("layerNorm", "eps", this.eps, 0, 1);
    if (typeof shape !== "object")
      buildOrWait(this, shape, (width) => this.build([width], options));
    else this.build([...shape], options);
  }

  private build(shape: readonly number[], options: NormOptions): void {
    for (const d of shape) checkCount("layerNorm", "extent", d);
    if (!shape.length)
      throw new ShapeError(
        "layerNorm: shape is empty, needs an axis\n  give the extents of the last axes: [width]",
      );
    Object.assign(this, { shape, ...gainAndBias(options, shape) });
  }

  override forward(x: Tensor): Tensor {
    ensureBuilt("layerNorm", this, x, -1);
    checkTail("layerNorm", x, this.shape);
    return inFloat32([x, this.weight, this.bias], (full, weight, bias) =>
      affine(standardize(full, lastAxes(this.shape.length), this.eps), weight, bias),
    );
  }

  override describe(): string {
    return this.shape?.join("×") ?? "?";
  }
}

export interface RmsNormOptions {
  /** In units of x², default 1e-5. */
  readonly eps?: number;
}

const rmsNormOptions: OptionNames<RmsNormOptions> = { eps: 1 };

/**
 * x / √(mean(x²) + eps) · weight over the last axis.
 *
 * x: f32[..., n] → the same; weight f32[n], n by default that of the first x. Zhang & Sennrich
 * 2019, eq. 4. `torch.nn.RMSNorm`.
 *
 * @param extent The extent of the last axis.
 * @param options `eps`, in units of x².
 * @example
 *   new nn.RmsNorm(2).forward(tensor([[3, 4]])) // [[0.84853, 1.13137]]; x / √12.5
 */
export class RmsNorm extends Module {
  readonly weight!: Tensor;
  readonly extent!: number;
  readonly eps: number;

  constructor(options?: RmsNormOptions);
  constructor(extent: number, options?: RmsNormOptions);
  constructor(...args: readonly unknown[]) {
    super(args);
    const [extent, options = {}] = withSize(args, 1) as [number | undefined, RmsNormOptions?];
    checkOptions("rmsNorm", options, rmsNormOptions);
    if (extent !== undefined) checkCount("rmsNorm", "extent", extent);
    this.eps = options.eps ?? 1e-5;
    checkWithin("rmsNorm", "eps", this.eps, 0, 1);
    buildOrWait(this, extent, (size) =>
      Object.assign(this, { extent: size, weight: weight("weight", [size], constant(1)) }),
    );
  }

  override forward(x: Tensor): Tensor {
    ensureBuilt("rmsNorm", this, x, -1);
    checkExtent("rmsNorm", x, -1, this.extent, "extents");
    return inFloat32([x, this.weight], (full, weight) => {
      const scale = full.square().mean([-1], { keepDims: true }).add(this.eps).rsqrt();
      return full.mul(scale).mul(weight);
    });
  }

  override describe(): string {
    return `${this.extent ?? "?"}`;
  }
}

/**
 * Standardises each sample over groups of C / groups channels and all positions, then · weight +
 * bias by channel.
 *
 * x: f32[N, C, ...] → the same. Without `channels` those of the first x. Throws ShapeError if
 * `groups` does not divide C. Wu & He 2018. `torch.nn.GroupNorm`.
 *
 * @param channels C.
 * @example
 *   new nn.GroupNorm(2, 4).forward(tensor([[1, 3, 10, 30]])) // [[−1, 1, −1, 1]]
 */
export class GroupNorm extends Module {
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly groups: number;
  readonly channels!: number;
  readonly eps: number;

  constructor(groups: number, options?: NormOptions);
  constructor(groups: number, channels: number, options?: NormOptions);
  constructor(groups: number, ...args: readonly unknown[]) {
    super([groups, ...args]);
    const [channels, options = {}] = withSize(args, 1) as [number | undefined, NormOptions?];
    checkOptions("groupNorm", options, normOptions);
    checkCount("groupNorm", "groups", groups);
    this.groups = groups;
    this.eps = options.eps ?? 1e-5;
    checkWithin("groupNorm", "eps", this.eps, 0, 1);
    buildOrWait(this, channels, (size) => this.build(size, options));
  }

  private build(channels: number, options: NormOptions): void {
    checkCount("groupNorm", "channels", channels);
    if (channels % this.groups)
      throw new ShapeError(
        `groupNorm: channels ${channels} are not a multiple of groups ${this.groups}\n  choose groups that divide the channels`,
      );
    Object.assign(this, { channels, ...gainAndBias(options, [channels]) });
  }

  override forward(x: Tensor): Tensor {
    checkTensor("groupNorm", x);
    if (x.rank < 2)
      throw new ShapeError(
        `groupNorm: input needs rank 2 or more, got ${printShape(x.shape)}\n  put the batch in front and the channels second: [N,C,...]`,
      );
    ensureBuilt("groupNorm", this, x, 1);
    checkExtent("groupNorm", x, 1, this.channels, "channels");
    const inGroup = x.shape.slice(2).reduce<Dim>(mulDim, this.channels / this.groups);
    const wide = (t: Tensor | undefined): Tensor | undefined =>
      t?.reshape([this.channels, ...x.shape.slice(2).map(() => 1)]);
    return inFloat32([x, wide(this.weight), wide(this.bias)], (full, weight, bias) => {
      const grouped = full.reshape([x.shape[0]!, this.groups, inGroup]);
      return affine(standardize(grouped, [-1], this.eps).reshape(x.shape), weight, bias);
    });
  }

  override describe(): string {
    return `${this.channels ?? "?"} in ${this.groups} groups`;
  }
}
