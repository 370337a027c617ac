/**
 * Batch normalisation. In training it normalises by the statistics of the batch and moves the
 * running ones towards them by `assign`; afterwards it uses the running ones, which no gradient
 * reaches.
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
import { affine } from "./norm.ts";
import { buffer, checkCount, checkExtent, checkRank, checkWithin, weight } from "./parameter.ts";
import { checkMomentum, type Momentum, shareOf, updateRunning } from "./running.ts";

export interface BatchNormOptions {
  /** Added to the variance, default 1e-5. */
  readonly eps?: number;
  /**
   * Share of the batch in the new running statistics, default 0.1; null for the mean of all batches
   * so far.
   */
  readonly momentum?: number | null;
  /** Has gain and bias; true by default. */
  readonly affine?: boolean;
  /**
   * Keeps running statistics; true by default. Without them those of the batch are used in
   * evaluation too.
   */
  readonly trackRunningStats?: boolean;
}

const batchNormOptions: OptionNames<BatchNormOptions> = {
  eps: 1,
  momentum: 1,
  affine: 1,
  trackRunningStats: 1,
};

class BatchNorm extends Module {
  readonly weight: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly runningMean: Tensor | undefined;
  readonly runningVar: Tensor | undefined;
  /** f32[], the number of batches, where `momentum` is null. */
  readonly batchesTracked: Tensor | undefined;
  readonly channels!: number;
  readonly eps: number;
  readonly momentum: Momentum;
  private readonly ranks: readonly number[];

  constructor(ranks: readonly number[], args: readonly unknown[]) {
    super(args);
    const [channels, options = {}] = withSize(args, 1) as [number | undefined, BatchNormOptions?];
    checkOptions("batchNorm", options, batchNormOptions);
    if (channels !== undefined) checkCount("batchNorm", "channels", channels);
    this.eps = options.eps ?? 1e-5;
    checkWithin("batchNorm", "eps", this.eps, 0, 1);
    this.ranks = ranks;
    this.momentum = checkMomentum(
      "batchNorm",
      options.momentum === undefined ? 0.1 : options.momentum,
    );
    buildOrWait(this, channels, (size) => this.build(size, options));
  }

  private build(
    channels: number,
    { affine = true, trackRunningStats = true }: BatchNormOptions,
  ): void {
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
    checkRank("batchNorm", input, ...this.ranks);
    ensureBuilt("batchNorm", this, input, 1);
    checkExtent("batchNorm", input, 1, this.channels, "channels");
    const axes = input.shape.map((_, i) => i).filter((i) => i !== 1);
    const wide = (t: Tensor): Tensor => t.reshape([this.channels, ...axes.slice(1).map(() => 1)]);
    return inFloat32([input, this.weight, this.bias], (x, weight, bias) => {
      const { runningMean, runningVar } = this;
      const [mean, variance] =
        this.training || !runningMean || !runningVar
          ? this.batchStatistics(x, axes, wide)
          : [runningMean, runningVar];
      const scale = variance.add(this.eps).rsqrt();
      return affine(x.sub(wide(mean)).mul(wide(scale)), weight && wide(weight), bias && wide(bias));
    });
  }

  /**
   * Mean and biased variance of the batch; the running variance takes the unbiased one, as PyTorch
   * does.
   */
  private batchStatistics(
    x: Tensor,
    axes: readonly number[],
    wide: (t: Tensor) => Tensor,
  ): [Tensor, Tensor] {
    const extent = axes.map((a) => x.shape[a]!).reduce<Dim>(mulDim, 1);
    requireAtLeast(
      extent,
      2,
      () =>
        new ShapeError(
          `batchNorm: ${extent === 0 ? "no" : "one"} value a channel has no variance: input is ${printShape(x.shape)}\n  call eval() to use the running statistics`,
        ),
    );
    const count = dimValue(extent, x.dtype);
    const mean = x.mean(axes);
    const squares = x.sub(wide(mean)).square().sum(axes);
    const { runningMean, runningVar } = this;
    if (runningMean && runningVar) {
      const share = shareOf(this.momentum, this.batchesTracked, mean);
      updateRunning(runningMean, mean, share);
      updateRunning(runningVar, squares.div(count.sub(1)), share);
    }
    return [mean, squares.div(count)];
  }

  override describe(): string {
    return `${this.channels ?? "?"}`;
  }
}

/**
 * (x − mean) / √(var + eps) · weight + bias for each channel, over batch and positions. Without
 * `channels` those of the first x.
 *
 * x: f32[N, C] or f32[N, C, L] → the same. Ioffe & Szegedy 2015, alg. 1; the normaliser is the
 * biased variance. `torch.nn.BatchNorm1d`.
 *
 * @example
 *   const norm = new nn.BatchNorm1d(1);
 *   norm.forward(tensor([[1], [3]])) // [[−1], [1]]; in training, of the batch
 *   new nn.BatchNorm1d(1).eval().forward(tensor([[1], [3]])) // [[1], [3]]; of running statistics
 */
export class BatchNorm1d extends BatchNorm {
  constructor(options?: BatchNormOptions);
  constructor(channels: number, options?: BatchNormOptions);
  constructor(...args: readonly unknown[]) {
    super([2, 3], args);
  }
}

/**
 * As `BatchNorm1d`. x: f32[N, C, H, W] → the same. `torch.nn.BatchNorm2d`.
 *
 * @param channels C, the channels; those of the first x by default.
 * @example
 *   new nn.BatchNorm2d(8).forward(ones([2, 8, 4, 4])).shape // [2, 8, 4, 4]
 */
export class BatchNorm2d extends BatchNorm {
  constructor(options?: BatchNormOptions);
  constructor(channels: number, options?: BatchNormOptions);
  constructor(...args: readonly unknown[]) {
    super([4], args);
  }
}

/**
 * As `BatchNorm1d`. x: f32[N, C, D, H, W] → the same. `torch.nn.BatchNorm3d`.
 *
 * @param channels C, the channels; those of the first x by default.
 * @example
 *   new nn.BatchNorm3d(8).forward(ones([2, 8, 4, 4, 4])).shape // [2, 8, 4, 4, 4]
 */
export class BatchNorm3d extends BatchNorm {
  constructor(options?: BatchNormOptions);
  constructor(channels: number, options?: BatchNormOptions);
  constructor(...args: readonly unknown[]) {
    super([5], args);
  }
}
