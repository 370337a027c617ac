/**
 * LAMB: Adam with a rate for each parameter that follows its norm.
 */
import { checkOptions, type OptionNames, select, type Tensor } from "@kiln-ml/ir";
import { checkBetas, checkRange } from "./check.ts";
import { correction, decayedMean } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface LambOptions extends OptimizerOptions {
  /** Decay of the mean and of the mean square of gradients, default [0.9, 0.999]. */
  readonly betas?: readonly [number, number];
  /** Added to the root, default 1e-6. */
  readonly eps?: number;
}

const lambOptions: OptionNames<LambOptions> = { ...optimizerOptions, betas: 1, eps: 1 };

/**
 * r = m̂/(√v̂ + eps) + weightDecay·w with Adam's corrected means m̂ and v̂; w ← w − lr·(‖w‖/‖r‖)·r,
 * the quotient being 1 where either norm is 0. Norms are over all of a parameter.
 *
 * Two states a parameter, in one tensor. The norms are kernels before the update. Throws GraphError
 * for options out of range. You et al. 2020, alg. 2 with φ(z) = z. `optax.lamb`; no counterpart in
 * PyTorch.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.LAMB([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]
 */
export class LAMB extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: LambOptions) {
    super("lamb", params, checkOptions("lamb", options, lambOptions));
    this.betas = checkBetas("lamb", options.betas, [0.9, 0.999]);
    this.eps = options.eps ?? 1e-6;
    checkRange("lamb", "eps", this.eps, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update({ param, value, grad, lr, weightDecay, count }: Update): Tensor {
    const [b1, b2] = this.betas;
    const { old, keep } = this.moments(param, 2);
    const [m, v] = keep([
      decayedMean(old[0]!, b1, grad),
      decayedMean(old[1]!, b2, grad.mul(grad)),
    ]) as [Tensor, Tensor];
    const root = v.sqrt().mul(correction(b2, count).rsqrt()).add(this.eps);
    const adam = m.div(root).mul(correction(b1, count).reciprocal());
    const r = weightDecay ? adam.add(value.mul(weightDecay)) : adam;
    const [own, step] = [value.norm(), r.norm()];
    const trust = select(own.greater(0).and(step.greater(0)), own.div(step), 1);
    return value.sub(r.mul(trust.mul(lr)));
  }
}
