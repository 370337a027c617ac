/**
 * Lion: signs of an interpolated momentum.
 */
import { assign, checkOptions, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { checkBetas } from "./check.ts";
import { beside, decayed, decayedMean } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface LionOptions extends OptimizerOptions {
  /** Share of the momentum in a step, and decay of the momentum; default [0.9, 0.99]. */
  readonly betas?: readonly [number, number];
}

const lionOptions: OptionNames<LionOptions> = { ...optimizerOptions, betas: 1 };

/**
 * w ← w·(1 − lr·weightDecay) − lr·sign(β₁·m + (1 − β₁)·g), then m ← β₂·m + (1 − β₂)·g.
 *
 * One state a parameter, of its shape. The rate is three to ten times smaller than Adam's, the
 * decay as much larger. Throws GraphError for options out of range. Chen et al. 2023, alg. 2.
 * `optax.lion`; no counterpart in PyTorch.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.Lion([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; lr·sign(g)
 */
export class Lion extends Optimizer {
  readonly betas: readonly [number, number];

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: LionOptions) {
    super("lion", params, checkOptions("lion", options, lionOptions));
    this.betas = checkBetas("lion", options.betas, [0.9, 0.99]);
  }

  protected override update(update: Update): Tensor {
    const { param, grad, lr } = update;
    const [b1, b2] = this.betas;
    const mean = this.state(param, "mean");
    const next = this.kept(decayedMean(mean, b2, grad), mean);
    // β₁·m + (1 − β₁)·g of the new mean, as (β₁/β₂)·m′ + (1 − β₁/β₂)·g: so one kernel stores it and
    // the value.
    const direction = b2 > 0 ? decayedMean(next, b1 / b2, grad) : decayedMean(mean, b1, grad);
    const value = beside(next, decayed(update).sub(direction.sign().mul(lr)));
    assign(mean, next);
    return value;
  }
}
