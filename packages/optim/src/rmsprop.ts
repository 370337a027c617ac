/**
 * RMSProp.
 */
import { assign, checkOptions, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { checkRange } from "./check.ts";
import { regularised } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface RmsPropOptions extends OptimizerOptions {
  /** Decay of the mean square, default 0.99. */
  readonly alpha?: number;
  /** Added to the root, default 1e-8. */
  readonly eps?: number;
  /** μ, default 0. */
  readonly momentum?: number;
  /** Divides by the deviation rather than the root mean square. */
  readonly centered?: boolean;
}

export const rmsPropOptions: OptionNames<RmsPropOptions> = {
  ...optimizerOptions,
  alpha: 1,
  eps: 1,
  momentum: 1,
  centered: 1,
};

/**
 * v ← α·v + (1 − α)·g², w ← w − lr·u, u = g / (√v + eps), or with momentum u ← μ·u + g / (√v +
 * eps); g has weightDecay·w added; `centered` subtracts the square of the mean from v. Throws
 * GraphError for options out of range. Tieleman & Hinton 2012; Graves 2013, eq. 38–42 for
 * `centered`; eps outside the root, as in `torch.optim.RMSprop`.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.RMSProp([w], { lr: 0.01 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; g/√((1 − 0.99)·g²) is 10
 */
export class RMSProp extends Optimizer {
  readonly alpha: number;
  readonly eps: number;
  readonly momentum: number;
  readonly centered: boolean;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: RmsPropOptions) {
    super("rmsprop", params, checkOptions("rmsprop", options, rmsPropOptions));
    this.alpha = options.alpha ?? 0.99;
    this.eps = options.eps ?? 1e-8;
    this.momentum = options.momentum ?? 0;
    this.centered = options.centered ?? false;
    checkRange("rmsprop", "alpha", this.alpha, 0, 1);
    checkRange("rmsprop", "eps", this.eps, 0, Infinity);
    checkRange("rmsprop", "momentum", this.momentum, 0, Infinity);
  }

  protected override update(update: Update): Tensor {
    const { param, value, lr } = update;
    const g = regularised(update);
    const square = this.#decayed(param, "square", g.mul(g));
    const mean = this.centered ? this.#decayed(param, "mean", g) : undefined;
    // Rounding may take the variance a little below zero.
    const spread = mean ? square.sub(mean.mul(mean)).maximum(0) : square;
    const step = g.div(spread.sqrt().add(this.eps));
    if (this.momentum === 0) return value.sub(step.mul(lr));
    const velocity = this.state(param, "velocity");
    const next = this.kept(velocity.mul(this.momentum).add(step), velocity);
    assign(velocity, next);
    return value.sub(next.mul(lr));
  }

  #decayed(param: Tensor, what: string, sample: Tensor): Tensor {
    const state = this.state(param, what);
    const next = this.kept(state.mul(this.alpha).add(sample.mul(1 - this.alpha)), state);
    assign(state, next);
    return next;
  }
}
