/**
 * Adam, with its weight decay in the gradient (`Adam`) or apart from it (`AdamW`).
 */
import { assign, checkOptions, type OptionNames, sliceAxis, stack, type Tensor } from "@kiln-ml/ir";
import { checkRange } from "./check.ts";
import type { ParamGroup } from "./members.ts";
import { type Move, Optimizer, type OptimizerOptions, optimizerOptions } from "./optimizer.ts";

export interface AdamOptions extends OptimizerOptions {
  /** Decay of the mean and of the mean square of gradients, default [0.9, 0.999]. */
  readonly betas?: readonly [number, number];
  /** Added to the root, default 1e-8. */
  readonly eps?: number;
  /** Divides by the largest mean square so far. Reddi et al. 2018. */
  readonly amsgrad?: boolean;
}

/** 1 − βᵗ, as −expm1(t·ln β): the difference itself would lose digits in f32 when β is near 1. */
const correction = (beta: number, t: Tensor): Tensor =>
  beta === 0 ? t.mul(0).add(1) : t.mul(Math.log(beta)).expm1().neg();

const adamOptions: OptionNames<AdamOptions> = { ...optimizerOptions, betas: 1, eps: 1, amsgrad: 1 };

/**
 * m ← β₁·m + (1 − β₁)·g, v ← β₂·v + (1 − β₂)·g², w ← w − lr/(1 − β₁ᵗ) · m / (√(v/(1 − β₂ᵗ)) + eps), where g has
 * weightDecay·w added. Throws GraphError for options out of range.
 * Kingma & Ba 2015, alg. 1; eps outside the corrected root.
 */
export class Adam extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly amsgrad: boolean;

  constructor(
    params: Iterable<Tensor> | Iterable<ParamGroup>,
    options: AdamOptions,
    kind: "adam" | "adamw" = "adam",
  ) {
    super(kind, params, checkOptions(kind, options, adamOptions));
    this.betas = options.betas ?? [0.9, 0.999];
    this.eps = options.eps ?? 1e-8;
    this.amsgrad = options.amsgrad ?? false;
    checkRange(kind, "betas[0]", this.betas[0], 0, 1);
    checkRange(kind, "betas[1]", this.betas[1], 0, 1);
    checkRange(kind, "eps", this.eps, 0, Infinity);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override move(move: Move): Tensor {
    const { value, grad, weightDecay } = move;
    return value.sub(this.stride(move, weightDecay ? grad.add(value.mul(weightDecay)) : grad));
  }

  /** Moves the moments by `g` and gives what the parameter goes down by. */
  protected stride({ param, lr, count }: Move, g: Tensor): Tensor {
    const [b1, b2] = this.betas;
    // One tensor for all moments of a parameter: a kernel that updates them binds it once.
    const state = this.state(param, "moments", this.amsgrad ? 3 : 2);
    const old = (i: number) => sliceAxis(state, 0, i, i + 1).reshape(param.shape);
    const decayed = (i: number, beta: number, sample: Tensor) =>
      this.kept(
        old(i)
          .mul(beta)
          .add(sample.mul(1 - beta)),
        old(i),
      );
    const m = decayed(0, b1, g);
    const v = decayed(1, b2, g.mul(g));
    const bounded = this.amsgrad ? this.kept(old(2).maximum(v), old(2)) : v;
    assign(state, stack(this.amsgrad ? [m, v, bounded] : [m, v]));
    const root = bounded.sqrt().mul(correction(b2, count).rsqrt());
    return m.div(root.add(this.eps)).mul(lr.div(correction(b1, count)));
  }
}

/**
 * Adam whose weight decay is apart from the gradient: w ← w·(1 − lr·weightDecay) − step. `weightDecay` is 0.01
 * by default. Loshchilov & Hutter 2019, alg. 2.
 */
export class AdamW extends Adam {
  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: AdamOptions) {
    super(params, { ...options, weightDecay: options.weightDecay ?? 0.01 }, "adamw");
  }

  protected override move(move: Move): Tensor {
    const { value, grad, lr, weightDecay } = move;
    const decayed = weightDecay ? value.mul(lr.mul(-weightDecay).add(1)) : value;
    return decayed.sub(this.stride(move, grad));
  }
}
