/**
 * Adan: Nesterov's momentum from differences of gradients.
 */
import { checkOptions, type OptionNames, select, type Tensor } from "@kiln-ml/ir";
import { checkBetas, checkRange } from "./check.ts";
import { correction, decayed, decayedMean } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface AdanOptions extends OptimizerOptions {
  /**
   * Decay of the means of gradients, of their differences, and of squares; default [0.98, 0.92,
   * 0.99].
   */
  readonly betas?: readonly [number, number, number];
  /** Added to the root, default 1e-8. */
  readonly eps?: number;
  /**
   * Decays before the step, w·(1 − lr·weightDecay) − step, rather than (w − step)/(1 +
   * lr·weightDecay); default false.
   */
  readonly noProx?: boolean;
}

const adanOptions: OptionNames<AdanOptions> = { ...optimizerOptions, betas: 1, eps: 1, noProx: 1 };

/**
 * With d = g − g₋₁ (0 at the first step): m ← β₁·m + (1 − β₁)·g, v ← β₂·v + (1 − β₂)·d, n ← β₃·n +
 * (1 − β₃)·(g + β₂·d)², w ← (w − lr·(m/(1 − β₁ᵗ) + β₂·v/(1 − β₂ᵗ)) / (√(n/(1 − β₃ᵗ)) + eps)) / (1 +
 * lr·weightDecay).
 *
 * Four states a parameter, in one tensor: m, v, n and minus the last gradient. Throws GraphError
 * for options out of range. Xie et al. 2022, alg. 1; betas are what is kept, as in the authors'
 * program, where the paper has 1 − β. `timm.optim.Adan`; no counterpart in PyTorch.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.Adan([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]
 */
export class Adan extends Optimizer {
  readonly betas: readonly [number, number, number];
  readonly eps: number;
  readonly noProx: boolean;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: AdanOptions) {
    super("adan", params, checkOptions("adan", options, adanOptions));
    this.betas = checkBetas("adan", options.betas, [0.98, 0.92, 0.99]);
    this.eps = options.eps ?? 1e-8;
    this.noProx = options.noProx ?? false;
    checkRange("adan", "eps", this.eps, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update(update: Update): Tensor {
    const { param, value, grad, lr, weightDecay, count } = update;
    const [b1, b2, b3] = this.betas;
    const { old, keep } = this.moments(param, 4);
    const [oldM, oldV, oldN, last] = old as [Tensor, Tensor, Tensor, Tensor];
    const d = select(count.equal(1), 0, grad.add(last));
    const ahead = grad.add(d.mul(b2));
    // Read by the mean, so that it is stored where the mean is.
    const minus = this.kept(grad.neg(), last);
    const [m, v, n] = keep([
      oldM.mul(b1).sub(minus.mul(1 - b1)),
      decayedMean(oldV, b2, d),
      decayedMean(oldN, b3, ahead.mul(ahead)),
      minus,
    ]) as [Tensor, Tensor, Tensor];
    const root = n.sqrt().mul(correction(b3, count).rsqrt()).add(this.eps);
    const mean = m.mul(lr.div(correction(b1, count)));
    const change = v.mul(lr.mul(b2).div(correction(b2, count)));
    const step = mean.add(change).div(root);
    if (!weightDecay) return value.sub(step);
    if (this.noProx) return decayed(update).sub(step);
    return value.sub(step).div(lr.mul(weightDecay).add(1));
  }
}
