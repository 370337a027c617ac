/**
 * Instance normalisation: each channel of each sample by its own statistics over the positions.
 * With running statistics, evaluation uses these.
 */
import {
  checkOptions,
  type Dim,
  dimValue,
  inFloat32,
  mulDim,
  type OptionNames,
  printShape,
  requireAtLeast,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { constant } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import { affine, standardize } from "./norm.ts";
import { buffer, checkCount, checkExtent, checkRank, checkWithin, weight } from "./parameter.ts";
import { checkMomentum, type Momentum, shareOf, updateRunning } from "./running.ts";

export interface InstanceNormOptions {
  /** Added to the variance, default 1e-5. */
  readonly eps?: number;
  /**
   * Share of the batch in the new running statistics, default 0.1; null for the mean of all batches
   * so far.
   */
  readonly momentum?: number | null;
  /** Has gain and bias; false by default. */
  readonly affine?: boolean;
  /** Keeps running statistics, which evaluation uses; false by default. */
  readonly trackRunningStats?: boolean;
}

const instanceNormOptions: OptionNames<InstanceNormOptions> = {
  eps: 1,
  momentum: 1,
  affine: 1,
  trackRunningStats: 1,
};

class InstanceNorm extends Module {
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly runningMean: Tensor | undefined;
  readonly runningVar: Tensor | undefined;
  /** f32[], the number of batches, where `momentum` is null. */
  readonly batchesTracked: Tensor | undefined;
  readonly channels!: number;
  readonly eps: number;
  readonly momentum: Momentum;
  private readonly rank: number;

  constructor(rank: number, args: readonly unknown[]) {
    super(args);
    const [channels, options = {}] = withSize(args, 1) as [
      number | undefined,
      InstanceNormOptions?,
    ];
    const op = "instanceNorm";
    const { momentum = 0.1 } = checkOptions(op, options, instanceNormOptions);
    if (channels !== undefined) checkCount(op, "channels", channels);
    this.rank = rank;
    this.eps = options.eps ?? 1e-5;
    checkWithin(op, "eps", this.eps, 0, 1);
    this.momentum = checkMomentum(op, momentum);
    buildOrWait(this, channels, (size) => this.build(size, options));
  }

  private build(channels: number, { affine, trackRunningStats }: InstanceNormOptions): void {
    Object.assign(this, {
      channels,
      ...(affine && {
        weight: weight("weight", [channels], constant(1)),
        bias: weight("bias", [channels], constant(0)),
      }),
      ...(trackRunningStats && {
        runningMean: buffer("runningMean", [channels], constant(0)),
        runningVar: buffer("runningVar", [channels], constant(1)),
        ...(this.momentum === null && {
          batchesTracked: buffer("batchesTracked", [], constant(0)),
        }),
      }),
    });
  }

  override forward(input: Tensor): Tensor {
    checkRank("instanceNorm", input, this.rank);
    ensureBuilt("instanceNorm", this, input, 1);
    checkExtent("instanceNorm", input, 1, this.channels, "channels");
    const axes = input.shape.map((_, i) => i).slice(2);
    const wide = (t: Tensor): Tensor => t.reshape([this.channels, ...axes.map(() => 1)]);
    const { runningMean, runningVar } = this;
    return inFloat32([input, this.weight, this.bias], (x, weight, bias) => {
      const [gain, offset] = [weight && wide(weight), bias && wide(bias)];
      if (runningMean && runningVar && !this.training) {
        const scale = wide(runningVar).add(this.eps).rsqrt();
        return affine(x.sub(wide(runningMean)).mul(scale), gain, offset);
      }
      this.track(x, axes);
      return affine(standardize(x, axes, this.eps), gain, offset);
    });
  }

  /**
   * Moves the running statistics towards the means over the batch of those of each instance, the
   * unbiased variance.
   */
  private track(x: Tensor, axes: readonly number[]): void {
    const extent = axes.map((a) => x.shape[a]!).reduce<Dim>(mulDim, 1);
    requireAtLeast(
      extent,
      this.training ? 2 : 1,
      () =>
        new ShapeError(
          `instanceNorm: ${extent === 0 ? "no" : "one"} value a channel has no variance: input is ${printShape(x.shape)}\n  give more than one position`,
        ),
    );
    const { runningMean, runningVar } = this;
    if (!runningMean || !runningVar) return;
    const noSample = () =>
      new ShapeError(
        `instanceNorm: no sample to take statistics of: input is ${printShape(x.shape)}\n  call eval() to use the running statistics`,
      );
    requireAtLeast(x.shape[0]!, 1, noSample);
    const share = shareOf(this.momentum, this.batchesTracked, x);
    const mean = x.mean(axes, { keepDims: true });
    const squares = x.sub(mean).square().sum(axes);
    updateRunning(runningMean, x.mean([0, ...axes]), share);
    updateRunning(runningVar, squares.mean([0]).div(dimValue(extent, x.dtype).sub(1)), share);
  }

  override describe(): string {
    return `${this.channels ?? "?"}`;
  }
}

/**
 * (x − mean) / √(var + eps) · weight + bias, each sample and channel by its own mean and biased
 * variance over the positions.
 *
 * x: f32[N, C, L] → the same. By default eps 1e-5, momentum 0.1, no weight and bias, no running
 * statistics. Throws ShapeError on another rank or number of channels, or for one position in
 * training. Ulyanov, Vedaldi & Lempitsky 2016. `torch.nn.InstanceNorm1d`.
 *
 * @param channels C, the channels; those of the first x by default.
 * @example
 *   new nn.InstanceNorm1d(1).forward(tensor([[[1, 3]], [[20, 10]]])) // [[[−1, 1]], [[1, −1]]]
 */
export class InstanceNorm1d extends InstanceNorm {
  constructor(options?: InstanceNormOptions);
  constructor(channels: number, options?: InstanceNormOptions);
  constructor(...args: readonly unknown[]) {
    super(3, args);
  }
}

/**
 * As `InstanceNorm1d`. x: f32[N, C, H, W] → the same. `torch.nn.InstanceNorm2d`.
 *
 * @param channels C, the channels; those of the first x by default.
 * @example
 *   new nn.InstanceNorm2d(8).forward(ones([2, 8, 4, 4])).shape // [2, 8, 4, 4]
 */
export class InstanceNorm2d extends InstanceNorm {
  constructor(options?: InstanceNormOptions);
  constructor(channels: number, options?: InstanceNormOptions);
  constructor(...args: readonly unknown[]) {
    super(4, args);
  }
}

/**
 * As `InstanceNorm1d`. x: f32[N, C, D, H, W] → the same. `torch.nn.InstanceNorm3d`.
 *
 * @param channels C, the channels; those of the first x by default.
 * @example
 *   new nn.InstanceNorm3d(8).forward(ones([2, 8, 4, 4, 4])).shape // [2, 8, 4, 4, 4]
 */
export class InstanceNorm3d extends InstanceNorm {
  constructor(options?: InstanceNormOptions);
  constructor(channels: number, options?: InstanceNormOptions);
  constructor(...args: readonly unknown[]) {
    super(5, args);
  }
}
