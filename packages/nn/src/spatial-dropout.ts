/**
 * Dropout of whole channels, dropout that keeps the statistics of SELU, and noise: layers that draw
 * in training, each with random state of its own, as `Dropout`.
 */
import {
  checkOptions,
  checkTensor,
  GraphError,
  inFloat32,
  nextKey,
  type OptionNames,
  random,
  roundedOnce,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { keyState } from "./key-stream.ts";
import { Module } from "./module.ts";
import { checkRank, checkWithin } from "./parameter.ts";

interface SeedOptions {
  /** Fixes the draws; without it the key comes from `nn.seed`. */
  readonly seed?: number;
}

const seedOptions: OptionNames<SeedOptions> = { seed: 1 };

class ChannelDropout extends Module {
  /** u32[2]: a key and a counter; pass k uses (key, counter + k). */
  readonly key: Tensor;
  readonly rate: number;
  private readonly axes: number;

  constructor(axes: number, rate: number, options: SeedOptions) {
    super([rate, options]);
    const op = `dropout${axes}d`;
    checkOptions(op, options, seedOptions);
    checkWithin(op, "rate", rate, 0, 1);
    this.axes = axes;
    this.rate = rate;
    this.key = keyState(op, options.seed);
  }

  override forward(x: Tensor): Tensor {
    checkRank(`dropout${this.axes}d`, x, this.axes + 2);
    if (!this.training || this.rate === 0) return x;
    const keep = 1 - this.rate;
    const channels = [x.shape[0]!, x.shape[1]!, ...x.shape.slice(2).map(() => 1)];
    const kept = random.bernoulli(nextKey(this.key), keep, channels);
    return select(kept, keep > 0 ? x.mul(1 / keep) : x, 0);
  }

  override describe(): string {
    return `${this.rate}`;
  }
}

/**
 * In training: a channel of a sample is x / (1 − rate) where a coin of probability 1 − rate falls,
 * 0 elsewhere. Otherwise x.
 *
 * x: f32[N, C, L] → the same. `rate` is 0.5 by default. Throws ShapeError on another rank. Tompson
 * et al. 2015. `torch.nn.Dropout1d`.
 *
 * @param options `seed` fixes the draws.
 * @example
 *   const y = new nn.Dropout1d(0.5, { seed: 1 }).forward(ones([1, 8, 3]));
 *   y.max(2).equal(y.min(2)).all() // true; channels go as a whole
 */
export class Dropout1d extends ChannelDropout {
  constructor(rate = 0.5, options: { readonly seed?: number } = {}) {
    super(1, rate, options);
  }
}

/**
 * As `Dropout1d`. x: f32[N, C, H, W] → the same. `torch.nn.Dropout2d`.
 *
 * @param rate The probability that an element is dropped, from 0 to below 1.
 * @param options `seed` fixes the draws.
 * @example
 *   const y = new nn.Dropout2d(0.5, { seed: 1 }).forward(ones([1, 8, 3, 3]));
 *   y.max([2, 3]).equal(y.min([2, 3])).all() // true; channels go as a whole
 */
export class Dropout2d extends ChannelDropout {
  constructor(rate = 0.5, options: { readonly seed?: number } = {}) {
    super(2, rate, options);
  }
}

/**
 * As `Dropout1d`. x: f32[N, C, D, H, W] → the same. `torch.nn.Dropout3d`.
 *
 * @param rate The probability that an element is dropped, from 0 to below 1.
 * @param options `seed` fixes the draws.
 * @example
 *   new nn.Dropout3d(0.5, { seed: 1 }).forward(ones([1, 8, 2, 2, 2])).shape // [1, 8, 2, 2, 2]
 */
export class Dropout3d extends ChannelDropout {
  constructor(rate = 0.5, options: { readonly seed?: number } = {}) {
    super(3, rate, options);
  }
}

/** λ·α of SELU: what it saturates at below 0. */
const saturation = 1.7580993408473766;

/**
 * In training: a·x + b where a coin of probability 1 − rate falls, a·(−1.758…) + b elsewhere, with
 * a and b such that mean 0 and variance 1 stay as they are. Otherwise x.
 *
 * x: f32[...] → the same. `rate` is 0.5 by default. Klambauer et al. 2017, section "New Dropout
 * Technique". `torch.nn.AlphaDropout`.
 *
 * @param options `seed` fixes the draws.
 * @example
 *   const drop = new nn.AlphaDropout(0.5, { seed: 1 });
 *   drop.eval().forward(tensor([1, 2])) // [1, 2]
 */
export class AlphaDropout extends Module {
  /** u32[2]: a key and a counter. */
  readonly key: Tensor;
  readonly rate: number;

  constructor(rate = 0.5, options: { readonly seed?: number } = {}) {
    super([rate, options]);
    checkOptions("alphaDropout", options, seedOptions);
    checkWithin("alphaDropout", "rate", rate, 0, 1);
    this.rate = rate;
    this.key = keyState("alphaDropout", options.seed);
  }

  override forward(x: Tensor): Tensor {
    checkTensor("alphaDropout", x);
    const { rate } = this;
    if (!this.training || rate === 0) return x;
    const kept = random.bernoulli(nextKey(this.key), 1 - rate, x.shape);
    if (rate === 1) return select(kept, x, 0);
    const a = 1 / Math.sqrt((1 - rate) * (1 + rate * saturation ** 2));
    const b = a * saturation * rate;
    return roundedOnce([x], (v) => select(kept, v.mul(a), -a * saturation).add(b));
  }

  override describe(): string {
    return `${this.rate}`;
  }
}

/**
 * In training: x + std·z with z standard Gaussian. Otherwise x.
 *
 * x: f32[...] → the same. Throws GraphError for a `std` below 0. Bishop 1995.
 * `keras.layers.GaussianNoise`.
 *
 * @param options `seed` fixes the draws.
 * @example
 *   const noise = new nn.GaussianNoise(0.1, { seed: 1 });
 *   noise.forward(zeros([3])).equal(0) // [false, false, false]
 *   noise.eval().forward(zeros([3])) // [0, 0, 0]
 */
export class GaussianNoise extends Module {
  /** u32[2]: a key and a counter. */
  readonly key: Tensor;
  readonly std: number;

  constructor(std: number, options: { readonly seed?: number } = {}) {
    super([std, options]);
    checkOptions("gaussianNoise", options, seedOptions);
    if (!(std >= 0))
      throw new GraphError(`gaussianNoise: std must be 0 or more, got ${std}\n  give a deviation`);
    this.std = std;
    this.key = keyState("gaussianNoise", options.seed);
  }

  override forward(x: Tensor): Tensor {
    checkTensor("gaussianNoise", x);
    if (!this.training || this.std === 0) return x;
    const noise = random.normal(nextKey(this.key), x.shape, { std: this.std });
    return inFloat32([x], (v) => v.add(noise)).convert(x.dtype);
  }

  override describe(): string {
    return `${this.std}`;
  }
}
