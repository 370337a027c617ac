/**
 * Adafactor: mean squares of matrices kept as a row and a column.
 */
import { assign, checkOptions, type Dtype, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { checkPositive, checkRange } from "./check.ts";
import { decayed } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface AdafactorOptions extends OptimizerOptions {
  /** Exponent of the decay of mean squares: a new sample weighs t^beta2Decay. Default −0.8. */
  readonly beta2Decay?: number;
  /**
   * Least root mean square, by default the spacing of the dtype at 1; and least size of a
   * parameter, default 1e-3.
   */
  readonly eps?: readonly [number | undefined, number];
  /** Most that the root mean square of a step may be, default 1. */
  readonly d?: number;
}

const adafactorOptions: OptionNames<AdafactorOptions> = {
  ...optimizerOptions,
  beta2Decay: 1,
  eps: 1,
  d: 1,
};

/** The distance from 1 to the next number. */
const spacing: Partial<Record<Dtype, number>> = {
  f64: 2 ** -52,
  f32: 2 ** -23,
  f16: 2 ** -10,
  bf16: 2 ** -7,
};

/**
 * A step of size lr for weights of size 1, whose mean squares take a row and a column of memory.
 * With b = t^beta2Decay and ρ = min(lr, 1/√t), for a matrix (the last two axes; the others are a
 * batch): R ← R + b·(mean of g² over columns − R), C ← C + b·(mean of g² over rows − C), V =
 * R·C/max(mean R, eps₁); for vectors V ← V + b·(g² − V). Then u = g/√max(V, eps₁²) and w ← w·(1 −
 * lr·weightDecay) − max(eps₂, RMS(w))·ρ·u/max(1, RMS(u)/d).
 *
 * The means are kernels before the update. Throws GraphError for options out of range.
 * Shazeer & Stern 2018, alg. 4 and 5; torch.optim.Adafactor.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = new optim.Adafactor([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w.abs().less(1).all() // true
 */
export class Adafactor extends Optimizer {
  readonly beta2Decay: number;
  readonly eps: readonly [number | undefined, number];
  readonly d: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: AdafactorOptions) {
    super("adafactor", params, checkOptions("adafactor", options, adafactorOptions));
    this.beta2Decay = options.beta2Decay ?? -0.8;
    this.eps = options.eps ?? [undefined, 1e-3];
    this.d = options.d ?? 1;
    checkRange("adafactor", "-beta2Decay", -this.beta2Decay, 0, Infinity);
    checkRange("adafactor", "eps[0]", this.eps[0] ?? 0, 0, Infinity);
    checkRange("adafactor", "eps[1]", this.eps[1], 0, Infinity);
    checkPositive("adafactor", "d", this.d);
  }

  protected override get counts(): boolean {
    return true;
  }

  protected override update(update: Update): Tensor {
    const { param, value, grad, lr, count } = update;
    const floor = this.eps[0] ?? spacing[param.dtype]!;
    const share = count.log().mul(this.beta2Decay).exp();
    const square =
      param.rank > 1 && !param.shape.includes(0)
        ? this.#factored(param, grad, share, floor)
        : this.#averaged(param, "squares", grad.mul(grad), share);
    const step = square
      .maximum(floor * floor)
      .rsqrt()
      .mul(grad);
    const size = value.square().mean().sqrt().maximum(this.eps[1]).mul(lr.minimum(count.rsqrt()));
    const excess = step
      .square()
      .mean()
      .sqrt()
      .mul(1 / this.d)
      .maximum(1);
    return decayed(update).sub(step.mul(size.div(excess)));
  }

  #factored(param: Tensor, grad: Tensor, share: Tensor, floor: number): Tensor {
    const square = grad.mul(grad);
    const keepDims = true;
    const rows = this.#averaged(param, "rows", square.mean([-1], { keepDims }), share);
    const columns = this.#averaged(param, "columns", square.mean([-2], { keepDims }), share);
    return rows.div(rows.mean([-2], { keepDims }).maximum(floor)).mul(columns);
  }

  #averaged(param: Tensor, what: string, sample: Tensor, share: Tensor): Tensor {
    const state = this.state(param, what, sample.shape as number[]);
    const next = this.kept(state.add(sample.sub(state).mul(share)), state);
    assign(state, next);
    return next;
  }
}
