/**
 * Dropout with random state of its own: a key that each training pass uses and then advances by
 * `assign`, so that a compiled step draws a new mask at each run.
 */
import {
  checkOptions,
  checkTensor,
  nextKey,
  type OptionNames,
  random,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { keyState } from "./key-stream.ts";
import { Module } from "./module.ts";
import { checkWithin } from "./parameter.ts";

const seedOptions: OptionNames<{ readonly seed?: number }> = { seed: 1 };

/**
 * In training: x / (1 − rate) where a coin of probability 1 − rate falls, 0 elsewhere. Otherwise x.
 *
 * x: f32[...] → the same. `seed` fixes the coins; without it the key comes from `nn.seed`. Every
 * step of a `scan` has coins of its own. Srivastava et al. 2014, scaled in training rather than
 * afterwards. `torch.nn.Dropout`.
 *
 * @param rate The probability that an element is dropped, from 0 to below 1.
 * @param options `seed` fixes the draws.
 * @example
 *   const drop = new nn.Dropout(0.5, { seed: 1 });
 *   drop.forward(ones([100])).max() // 2; what is kept is scaled by 1 / (1 − 0.5)
 *   drop.eval().forward(tensor([1, 2])) // [1, 2]
 */
export class Dropout extends Module {
  /** u32[2]: a key and a counter; pass k uses (key, counter + k). */
  readonly key: Tensor;
  readonly rate: number;

  constructor(rate = 0.5, options: { readonly seed?: number } = {}) {
    super([rate, options]);
    checkOptions("dropout", options, seedOptions);
    checkWithin("dropout", "rate", rate, 0, 1);
    this.rate = rate;
    this.key = keyState("dropout", options.seed);
  }

  override forward(x: Tensor): Tensor {
    checkTensor("dropout", x);
    if (!this.training || this.rate === 0) return x;
    const keep = 1 - this.rate;
    const kept = random.bernoulli(nextKey(this.key), keep, x.shape);
    return select(kept, keep > 0 ? x.mul(1 / keep) : x, 0);
  }

  override describe(): string {
    return `${this.rate}`;
  }
}
