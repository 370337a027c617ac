/**
 * Adam, with its weight decay in the gradient (`Adam`) or apart from it (`AdamW`).
 */
import { checkOptions, type OptionNames, select, type Tensor } from "@kiln-ml/ir";
import { checkBetas, checkRange } from "./check.ts";
import { correction, decayed, decayedMean, regularised } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface AdamOptions extends OptimizerOptions {
  /** Decay of the mean and of the mean square of gradients, default [0.9, 0.999]. */
  readonly betas?: readonly [number, number];
  /** Added to the root, default 1e-8. */
  readonly eps?: number;
  /** Divides by the largest mean square so far. Reddi et al. 2018. */
  readonly amsgrad?: boolean;
}

export const adamOptions: OptionNames<AdamOptions> = {
  ...optimizerOptions,
  betas: 1,
  eps: 1,
  amsgrad: 1,
};

/**
 * m ← β₁·m + (1 − β₁)·g, v ← β₂·v + (1 − β₂)·g², w ← w − lr/(1 − β₁ᵗ) · m / (√(v/(1 − β₂ᵗ)) + eps),
 * where g has weightDecay·w added. Throws GraphError for options out of range. Kingma & Ba 2015,
 * alg. 1; eps outside the corrected root. `torch.optim.Adam`.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @param kind What a subclass calls itself.
 * @param names The options of a subclass.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.Adam([w], { lr: 0.1 });
 *   const step = compile(() => optimizer.step(w.square().sum()));
 *   await step();
 *   w // [0.9, −0.9]; a first step is lr, whatever the gradient
 */
export class Adam extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly amsgrad: boolean;

  constructor(
    params: Iterable<Tensor> | Iterable<ParamGroup>,
    options: AdamOptions,
    kind = "adam",
    names: OptionNames<AdamOptions> = adamOptions,
  ) {
    super(kind, params, checkOptions(kind, options, names));
    this.betas = checkBetas(kind, options.betas, [0.9, 0.999]);
    this.eps = options.eps ?? 1e-8;
    this.amsgrad = options.amsgrad ?? false;
    checkRange(kind, "eps", this.eps, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update(update: Update): Tensor {
    return update.value.sub(this.stride(update, regularised(update)));
  }

  /** Updates the moments by `g` and gives what the parameter goes down by. */
  protected stride({ param, lr, count }: Update, g: Tensor): Tensor {
    const [b1, b2] = this.betas;
    const { old, keep } = this.moments(param, this.amsgrad ? 3 : 2);
    const m = decayedMean(old[0]!, b1, g);
    const v = decayedMean(old[1]!, b2, g.mul(g));
    const [mean, square, top] = keep(this.amsgrad ? [m, v, old[2]!.maximum(v)] : [m, v]);
    const bounded = top ?? square!;
    const root = bounded.sqrt().mul(correction(b2, count).rsqrt());
    return mean!.div(root.add(this.eps)).mul(lr.div(correction(b1, count)));
  }
}

export interface AdamWOptions extends AdamOptions {
  /**
   * Decays an element only where its step has its sign, so that decay never opposes the step.
   * Default false.
   */
  readonly cautiousWeightDecay?: boolean;
}

export const adamWOptions: OptionNames<AdamWOptions> = { ...adamOptions, cautiousWeightDecay: 1 };

/**
 * Adam whose weight decay is apart from the gradient: w ← w·(1 − lr·weightDecay) − step.
 * `weightDecay` is 0.01 by default. With `cautiousWeightDecay` the decay is 0 where step·w < 0.
 * Loshchilov & Hutter 2019, alg. 2; Chen et al. 2025, "Cautious Weight Decay". `torch.optim.AdamW`.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @param kind What a subclass calls itself.
 * @param names The options of a subclass.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.AdamW([w], { lr: 0.1, weightDecay: 0.5 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.85, −0.85]; w·(1 − 0.1·0.5) − 0.1
 */
export class AdamW extends Adam {
  readonly cautiousWeightDecay: boolean;

  constructor(
    params: Iterable<Tensor> | Iterable<ParamGroup>,
    options: AdamWOptions,
    kind = "adamw",
    names: OptionNames<AdamWOptions> = adamWOptions,
  ) {
    super(params, { ...options, weightDecay: options?.weightDecay ?? 0.01 }, kind, names);
    this.cautiousWeightDecay = options.cautiousWeightDecay ?? false;
  }

  protected override update(update: Update): Tensor {
    const { value, grad, lr, weightDecay } = update;
    if (!this.cautiousWeightDecay || !weightDecay)
      return decayed(update).sub(this.stride(update, grad));
    const step = this.stride(update, grad);
    const kept = select(
      step.mul(value).greaterEqual(0),
      value.mul(lr.mul(-weightDecay).add(1)),
      value,
    );
    return kept.sub(step);
  }
}
