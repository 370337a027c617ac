/**
 * Optimizers that divide by a root of all squared gradients, or of recent ones, without a mean of
 * gradients: AdaGrad, Adadelta.
 */
import { assign, checkOptions, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { checkRange } from "./check.ts";
import { beside, decayedMean, regularised } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface AdaGradOptions extends OptimizerOptions {
  /** How fast the rate falls, lr/(1 + (t − 1)·lrDecay); default 0. */
  readonly lrDecay?: number;
  /** What the sum of squares begins with, default 0. */
  readonly initialAccumulatorValue?: number;
  /** Added to the root, default 1e-10. */
  readonly eps?: number;
}

const adaGradOptions: OptionNames<AdaGradOptions> = {
  ...optimizerOptions,
  lrDecay: 1,
  initialAccumulatorValue: 1,
  eps: 1,
};

/**
 * s ← s + g², w ← w − lr/(1 + (t − 1)·lrDecay) · g / (√s + eps), where g has weightDecay·w added.
 *
 * One state a parameter, of its shape: s less `initialAccumulatorValue`. Throws GraphError for
 * options out of range. Duchi, Hazan & Singer 2011, in the diagonal form; torch.optim.Adagrad.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.AdaGrad([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; lr·g/√g²
 */
export class AdaGrad extends Optimizer {
  readonly lrDecay: number;
  readonly initialAccumulatorValue: number;
  readonly eps: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: AdaGradOptions) {
    super("adagrad", params, checkOptions("adagrad", options, adaGradOptions));
    this.lrDecay = options.lrDecay ?? 0;
    this.initialAccumulatorValue = options.initialAccumulatorValue ?? 0;
    this.eps = options.eps ?? 1e-10;
    for (const what of ["lrDecay", "initialAccumulatorValue", "eps"] as const)
      checkRange("adagrad", what, this[what], 0, Infinity);
  }

  protected override get counts(): boolean {
    return this.lrDecay > 0;
  }

  protected override update(update: Update): Tensor {
    const { param, value, lr, count } = update;
    const g = regularised(update);
    const state = this.state(param, "squares");
    const next = this.kept(state.add(g.mul(g)), state);
    assign(state, next);
    const first = this.initialAccumulatorValue;
    const root = (first ? next.add(first) : next).sqrt().add(this.eps);
    const rate = this.lrDecay ? lr.div(count.sub(1).mul(this.lrDecay).add(1)) : lr;
    return value.sub(g.div(root).mul(rate));
  }
}

export interface AdadeltaOptions extends OptimizerOptions {
  /** Decay of both mean squares, default 0.9. */
  readonly rho?: number;
  /** Added under both roots, default 1e-6. */
  readonly eps?: number;
}

const adadeltaOptions: OptionNames<AdadeltaOptions> = { ...optimizerOptions, rho: 1, eps: 1 };

/**
 * v ← ρ·v + (1 − ρ)·g², d = g·√(u + eps)/√(v + eps), u ← ρ·u + (1 − ρ)·d², w ← w − lr·d, where g
 * has weightDecay·w added.
 *
 * The paper's rate is 1. Two states a parameter, of its shape. Throws GraphError for options out of
 * range. Zeiler 2012, alg. 1; torch.optim.Adadelta.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.Adadelta([w], { lr: 1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w.abs().less(1).all() // true
 */
export class Adadelta extends Optimizer {
  readonly rho: number;
  readonly eps: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: AdadeltaOptions) {
    super("adadelta", params, checkOptions("adadelta", options, adadeltaOptions));
    this.rho = options.rho ?? 0.9;
    this.eps = options.eps ?? 1e-6;
    checkRange("adadelta", "rho", this.rho, 0, 1);
    checkRange("adadelta", "eps", this.eps, 0, Infinity);
  }

  protected override update(update: Update): Tensor {
    const { param, value, lr } = update;
    const g = regularised(update);
    const decayed = (state: Tensor, sample: Tensor): Tensor => {
      const next = this.kept(decayedMean(state, this.rho, sample), state);
      assign(state, next);
      return next;
    };
    const [squares, moves] = [this.state(param, "squares"), this.state(param, "moves")];
    const v = decayed(squares, g.mul(g));
    const step = moves.add(this.eps).sqrt().div(v.add(this.eps).sqrt()).mul(g);
    const u = decayed(moves, step.mul(step));
    return beside(u, value.sub(step.mul(lr)));
  }
}
