/**
 * Kin of Adam that change how its two means make a step: Adamax, NAdam, RAdam.
 */
import { assign, checkOptions, type OptionNames, select, type Tensor } from "@kiln-ml/ir";
import type { AdamOptions } from "./adam.ts";
import { checkBetas, checkRange } from "./check.ts";
import { correction, decayed, decayedMean, regularised } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface AdamaxOptions extends OptimizerOptions {
  /** Decay of the mean and of the largest size of gradients, default [0.9, 0.999]. */
  readonly betas?: readonly [number, number];
  /** Added to the size of a gradient, default 1e-8. */
  readonly eps?: number;
}

const adamaxOptions: OptionNames<AdamaxOptions> = { ...optimizerOptions, betas: 1, eps: 1 };

/**
 * m ← β₁·m + (1 − β₁)·g, u ← max(β₂·u, |g| + eps), w ← w − lr/(1 − β₁ᵗ) · m/u, where g has
 * weightDecay·w added.
 *
 * Two states a parameter, in one tensor. Throws GraphError for options out of range.
 * Kingma & Ba 2015, alg. 2; eps inside of the maximum as in torch.optim.Adamax.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.Adamax([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; lr·g/|g|
 */
export class Adamax extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: AdamaxOptions) {
    super("adamax", params, checkOptions("adamax", options, adamaxOptions));
    this.betas = checkBetas("adamax", options.betas, [0.9, 0.999]);
    this.eps = options.eps ?? 1e-8;
    checkRange("adamax", "eps", this.eps, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update(update: Update): Tensor {
    const { param, value, lr, count } = update;
    const [b1, b2] = this.betas;
    const g = regularised(update);
    const { old, keep } = this.moments(param, 2);
    const [m, u] = keep([
      decayedMean(old[0]!, b1, g),
      old[1]!.mul(b2).maximum(g.abs().add(this.eps)),
    ]) as [Tensor, Tensor];
    return value.sub(m.div(u).mul(lr.div(correction(b1, count))));
  }
}

export interface NAdamOptions extends Omit<AdamOptions, "amsgrad"> {
  /** How fast the momentum reaches β₁, ψ: default 0.004. */
  readonly momentumDecay?: number;
  /** Weight decay apart from the gradient, as in `AdamW`; default false. */
  readonly decoupledWeightDecay?: boolean;
}

const nAdamOptions: OptionNames<NAdamOptions> = {
  ...adamaxOptions,
  momentumDecay: 1,
  decoupledWeightDecay: 1,
};

/**
 * Adam with Nesterov's momentum: μₜ = β₁·(1 − ½·0.96^(t·ψ)), m and v as Adam's,
 * w ← w − lr·((1 − μₜ)/(1 − Πμ₁…μₜ)·g + μₜ₊₁/(1 − Πμ₁…μₜ₊₁)·m) / (√(v/(1 − β₂ᵗ)) + eps).
 *
 * Two states a parameter, in one tensor, and one number for all, 1 − Πμ. Throws GraphError for
 * options out of range. Dozat 2016, alg. 2; torch.optim.NAdam.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.NAdam([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w.abs().less(1).all() // true
 */
export class NAdam extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly momentumDecay: number;
  readonly decoupledWeightDecay: boolean;
  /** 1 − Πμ to this step and to the next, while a step is built. */
  #left: readonly [Tensor, Tensor] | undefined;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: NAdamOptions) {
    super("nadam", params, checkOptions("nadam", options, nAdamOptions));
    this.betas = checkBetas("nadam", options.betas, [0.9, 0.999]);
    this.eps = options.eps ?? 1e-8;
    this.momentumDecay = options.momentumDecay ?? 0.004;
    this.decoupledWeightDecay = options.decoupledWeightDecay ?? false;
    checkRange("nadam", "eps", this.eps, 0, Infinity);
    checkRange("nadam", "momentumDecay", this.momentumDecay, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  #momentum(t: Tensor): Tensor {
    return t
      .mul(this.momentumDecay * Math.log(0.96))
      .exp()
      .mul(-0.5)
      .add(1)
      .mul(this.betas[0]);
  }

  /** q = 1 − Πμ begins at 0, as all state does: q ← 1 − (1 − q)·μ = q·μ + (1 − μ). */
  protected override updateTogether(updates: readonly Update[]): Tensor[] {
    const { value, count } = updates[0]!;
    const state = this.shared("momentum", value);
    const after = (q: Tensor, t: Tensor): Tensor => {
      const mu = this.#momentum(t.convert(q.dtype));
      return q.mul(mu).add(mu.neg().add(1));
    };
    const now = after(state, count);
    this.#left = [now, after(now, count.add(1))];
    const values = super.updateTogether(updates);
    assign(state, this.kept(now, state));
    return values;
  }

  protected override update(update: Update): Tensor {
    const { param, value, grad, lr, count } = update;
    const [b1, b2] = this.betas;
    const g = this.decoupledWeightDecay ? grad : regularised(update);
    const { old, keep } = this.moments(param, 2);
    const [m, v] = keep([decayedMean(old[0]!, b1, g), decayedMean(old[1]!, b2, g.mul(g))]) as [
      Tensor,
      Tensor,
    ];
    const [left, leftNext] = this.#left!.map((q) => q.convert(value.dtype)) as [Tensor, Tensor];
    const ofGradient = this.#momentum(count).neg().add(1).div(left).mul(lr);
    const ofMean = this.#momentum(count.add(1)).div(leftNext).mul(lr);
    const root = v.sqrt().mul(correction(b2, count).rsqrt()).add(this.eps);
    const step = g.mul(ofGradient).add(m.mul(ofMean)).div(root);
    return (this.decoupledWeightDecay ? decayed(update) : value).sub(step);
  }
}

export interface RAdamOptions extends Omit<AdamOptions, "amsgrad"> {
  /** Weight decay apart from the gradient, as in `AdamW`; default false. */
  readonly decoupledWeightDecay?: boolean;
}

const rAdamOptions: OptionNames<RAdamOptions> = { ...adamaxOptions, decoupledWeightDecay: 1 };

/**
 * Adam whose step is rectified while few gradients are behind it. With ρ∞ = 2/(1 − β₂) − 1 and ρ =
 * ρ∞ − 2t·β₂ᵗ/(1 − β₂ᵗ): w ← w − lr·m̂·r·√(1 − β₂ᵗ)/(√v + eps), r = √((ρ−4)(ρ−2)ρ∞ /
 * ((ρ∞−4)(ρ∞−2)ρ)), where ρ > 5; else w ← w − lr·m̂.
 *
 * Two states a parameter, in one tensor. Throws GraphError for options out of range.
 * Liu et al. 2020, alg. 2; the bound 5 and the place of eps are those of torch.optim.RAdam.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.RAdam([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w.abs().less(1).all() // true
 */
export class RAdam extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly decoupledWeightDecay: boolean;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: RAdamOptions) {
    super("radam", params, checkOptions("radam", options, rAdamOptions));
    this.betas = checkBetas("radam", options.betas, [0.9, 0.999]);
    this.eps = options.eps ?? 1e-8;
    this.decoupledWeightDecay = options.decoupledWeightDecay ?? false;
    checkRange("radam", "eps", this.eps, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update(update: Update): Tensor {
    const { param, value, grad, lr, count } = update;
    const [b1, b2] = this.betas;
    const g = this.decoupledWeightDecay ? grad : regularised(update);
    const { old, keep } = this.moments(param, 2);
    const [m, v] = keep([decayedMean(old[0]!, b1, g), decayedMean(old[1]!, b2, g.mul(g))]) as [
      Tensor,
      Tensor,
    ];
    const factor = rectification(b2, count).mul(correction(b2, count).sqrt());
    const scale = select(factor.greater(0), factor.div(v.sqrt().add(this.eps)), 1);
    const step = m.mul(scale).mul(lr.div(correction(b1, count)));
    return (this.decoupledWeightDecay ? decayed(update) : value).sub(step);
  }
}

/**
 * r of RAdam, and 0 where ρ ≤ 5. With a = −ln β₂ and z = a·t, ρ = ρ∞ − (2/a)·z/(eᶻ − 1), in which
 * thousands would cancel in f32; so it is (ρ∞ − 2/a) + (2/a)·(1 − z/(eᶻ − 1)), the first on the
 * host and the last, for z < 1, by its series z/2 − z²/12 + z⁴/720 − z⁶/30240 + z⁸/1209600
 * (Bernoulli's numbers).
 */
function rectification(beta: number, t: Tensor): Tensor {
  const limit = 2 / (1 - beta) - 1;
  // β₂ = 0 leaves a window of 1, and one of 4 or less no variance to correct by.
  if (limit <= 5) return t.mul(0);
  const a = -Math.log(beta);
  const z = t.mul(a);
  const near = z.minimum(1);
  const squared = near.mul(near);
  const series = [1 / 1209600, -1 / 30240, 1 / 720, -1 / 12].reduce(
    (sum, c) => (sum ? sum.mul(squared).add(c) : squared.mul(0).add(c)),
    undefined as Tensor | undefined,
  )!;
  const gap = select(
    z.less(1),
    near.mul(0.5).add(series.mul(squared)),
    z.div(z.expm1()).neg().add(1),
  );
  const rho = gap.mul(2 / a).add(limit - 2 / a);
  const safe = rho.maximum(5);
  const r = safe
    .sub(4)
    .mul(safe.sub(2))
    .div(safe)
    .mul(limit / ((limit - 4) * (limit - 2)))
    .sqrt();
  return select(rho.greater(5), r, 0);
}
