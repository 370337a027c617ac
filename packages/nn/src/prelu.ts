/**
 * Leaky rectifiers whose slope is learned or drawn.
 */
import {
  checkOptions,
  checkTensor,
  GraphError,
  leakyRelu,
  nextKey,
  type OptionNames,
  printShape,
  random,
  roundedOnce,
  ShapeError,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { constant } from "./init.ts";
import { keyState } from "./key-stream.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, weight } from "./parameter.ts";

export interface PReLUOptions {
  /** The first slope, default 0.25. */
  readonly init?: number;
}

const preluOptions: OptionNames<PReLUOptions> = { init: 1 };

/**
 * x where x > 0, else weight·x, with one slope for all or one a channel (axis 1).
 *
 * x: f32[N, C, ...] → the same; `weight` f32[count], 0.25 at first. Throws ShapeError if `count` is
 * neither 1 nor C. He et al. 2015. `torch.nn.PReLU`.
 *
 * @example
 *   new nn.PReLU().forward(tensor([2, -1])) // [2, −¼]; the slope is trained from ¼
 */
export class PReLU extends Module {
  readonly weight: Tensor;
  readonly count: number;

  constructor(count = 1, options: PReLUOptions = {}) {
    super([count, options]);
    const { init = 0.25 } = checkOptions("prelu", options, preluOptions);
    checkCount("prelu", "count", count);
    this.count = count;
    this.weight = weight("weight", [count], constant(init));
  }

  override forward(x: Tensor): Tensor {
    checkTensor("prelu", x);
    if (this.count > 1 && x.rank < 2)
      throw new ShapeError(
        `prelu: ${this.count} slopes need channels, input is ${printShape(x.shape)}\n  put the batch in front and the channels second: [N,C,...]`,
      );
    if (this.count > 1) checkExtent("prelu", x, 1, this.count, "channels");
    const wide = this.weight.reshape([this.count, ...x.shape.slice(2).map(() => 1)]);
    const slope = this.count > 1 ? wide : this.weight.reshape([]);
    return roundedOnce([x, slope.convert(x.dtype)], (v, w) => select(v.greater(0), v, v.mul(w)));
  }

  override describe(): string {
    return `${this.count}`;
  }
}

/**
 * x where x ≥ 0, else slope·x, with a slope drawn evenly from [lower, upper) for each element in
 * training, and their mean otherwise.
 *
 * x: f32[...] → the same. By default 1/8 and 1/3. `seed` fixes the draws. Throws GraphError if
 * lower is over upper. Xu et al. 2015. `torch.nn.RReLU`.
 *
 * @param lower The least slope.
 * @param upper The greatest slope.
 * @param options `seed` fixes the draws.
 * @example
 *   new nn.RReLU(0.1, 0.3).eval().forward(tensor([2, -1])) // [2, −0.2]; the mean slope
 */
export class RReLU extends Module {
  /** u32[2]: a key and a counter. */
  readonly key: Tensor;
  readonly lower: number;
  readonly upper: number;

  constructor(lower = 1 / 8, upper = 1 / 3, options: { readonly seed?: number } = {}) {
    super([lower, upper, options]);
    checkOptions("rrelu", options, seedOptions);
    if (!(lower <= upper))
      throw new GraphError(
        `rrelu: lower must be at most upper, got ${lower} and ${upper}\n  give the smaller slope first`,
      );
    this.lower = lower;
    this.upper = upper;
    this.key = keyState("rrelu", options.seed);
  }

  override forward(x: Tensor): Tensor {
    checkTensor("rrelu", x);
    const { lower, upper } = this;
    if (!this.training) return leakyRelu(x, (lower + upper) / 2);
    const drawn = random
      .uniform(nextKey(this.key), x.shape)
      .mul(upper - lower)
      .add(lower);
    return roundedOnce([x], (v) => select(v.greaterEqual(0), v, v.mul(drawn)));
  }

  override describe(): string {
    return `${this.lower} … ${this.upper}`;
  }
}

const seedOptions: OptionNames<{ readonly seed?: number }> = { seed: 1 };
