/**
 * What several models are made of: a convolution with its norm and activation, squeeze and excitation, stochastic depth, and the first
 * values that torchvision gives. Names of parameters are positions, as there.
 */
import { checkTensor, random, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";

/**
 * Gaussian, of the variance that keeps gradients on their way back: what torchvision draws kernels
 * of most models from.
 */
export const byOutputs = nn.init.kaimingNormal(0, { mode: "fanOut" });

export type Activate = (x: Tensor) => Tensor;

export interface ConvNormOptions extends nn.BatchNormOptions {
  readonly kernel?: number;
  readonly stride?: number;
  readonly groups?: number;
  readonly init?: nn.Initializer;
  /** None if not given. */
  readonly activation?: Activate | undefined;
}

/**
 * activation(norm(conv(x))), padded so that a stride of 1 keeps the extents: `0.weight` is the
 * kernel, `1.weight` the gain.
 */
export class ConvNorm extends nn.Sequential {
  constructor(inputs: number, outputs: number, options: ConvNormOptions = {}) {
    const { kernel = 3, stride = 1, groups = 1, init = byOutputs, activation, ...norm } = options;
    super(
      new nn.Conv2d(inputs, outputs, kernel, {
        stride,
        groups,
        init,
        padding: (kernel - 1) / 2,
        bias: false,
      }),
      new nn.BatchNorm2d(outputs, norm),
      ...(activation ? [activation] : []),
    );
  }
}

/**
 * x times a gate for each channel, which is a small network of the channels' means. Hu et al. 2018, eq. 2 and 3.
 *
 * x: f32[N, C, H, W] → the same.
 */
export class SqueezeExcitation extends nn.Module {
  readonly fc1: nn.Conv2d;
  readonly fc2: nn.Conv2d;
  readonly #activation: Activate;
  readonly #gate: Activate;

  constructor(channels: number, squeezed: number, activation: Activate, gate: Activate) {
    super([channels, squeezed, activation, gate]);
    const drawn = { init: byOutputs, biasInit: nn.init.zeros() };
    this.fc1 = new nn.Conv2d(channels, squeezed, 1, drawn);
    this.fc2 = new nn.Conv2d(squeezed, channels, 1, drawn);
    this.#activation = activation;
    this.#gate = gate;
  }

  override forward(x: Tensor): Tensor {
    const means = x.mean([2, 3], { keepDims: true });
    return x.mul(this.#gate(this.fc2.forward(this.#activation(this.fc1.forward(means)))));
  }
}

/**
 * In training, whole samples are 0 with a probability of `rate`, others divided by 1 − rate; else x. Huang et al. 2016.
 *
 * x: f32[N, ...] → the same.
 */
export class StochasticDepth extends nn.Module {
  readonly rate: number;
  readonly keys = new nn.KeyStream();

  constructor(rate: number) {
    super([rate]);
    this.rate = rate;
  }

  override forward(x: Tensor): Tensor {
    checkTensor("stochasticDepth", x);
    if (!this.training || this.rate === 0) return x;
    const keep = 1 - this.rate;
    const shape = x.shape.map((extent, axis) => (axis ? 1 : extent));
    const kept = random.bernoulli(this.keys.next(), keep, shape);
    return x.mul(kept.convert(x.dtype)).mul(1 / keep);
  }

  override describe(): string {
    return `${this.rate}`;
  }
}

/**
 * The nearest multiple of 8, but not less than nine tenths: what widths of small networks are
 * rounded to.
 */
export function roundedWidth(width: number): number {
  const nearest = Math.max(8, Math.floor((width + 4) / 8) * 8);
  return nearest < 0.9 * width ? nearest + 8 : nearest;
}

/** f32[N, C, H, W] → f32[N, C], the means of planes. */
export const pooled = (x: Tensor): Tensor => x.mean([2, 3]);
