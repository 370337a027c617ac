/**
 * Muon: momentum whose steps are made orthogonal. Matrices only; what is none is updated as in
 * AdamW.
 */
import {
  assign,
  checkOptions,
  checkRecord,
  GraphError,
  kindOf,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import { AdamW, type AdamWOptions, adamWOptions } from "./adam.ts";
import { checkPositive, checkRange } from "./check.ts";
import { decayed, decayedMean } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import type { Update } from "./optimizer.ts";

/** `betas`, `eps`, `amsgrad` and `cautiousWeightDecay` are for what is no matrix. */
export interface MuonOptions extends AdamWOptions {
  /** Share of the last momentum that is kept, default 0.95. */
  readonly momentum?: number;
  /** Looks ahead along the momentum, default true. */
  readonly nesterov?: boolean;
  /**
   * Coefficients a, b, c of the iteration X ← a·X + (b·A + c·A²)·X with A = X·Xᵀ; default [3.4445,
   * −4.775, 2.0315].
   */
  readonly nsCoefficients?: readonly [number, number, number];
  /** Iterations, default 5. */
  readonly nsSteps?: number;
  /** Least norm that a step is divided by, default 1e-7. */
  readonly nsEps?: number;
  /**
   * What the rate of an [m,n] matrix is multiplied by: √max(1, m/n) for "original", the default;
   * 0.2·√max(m, n) for "matchRmsAdamW".
   */
  readonly adjustLr?: "original" | "matchRmsAdamW";
  /** Multiplies the rate of what is no matrix, default 1. */
  readonly adamWScale?: number;
}

const muonOptions: OptionNames<MuonOptions> = {
  ...adamWOptions,
  momentum: 1,
  nesterov: 1,
  nsCoefficients: 1,
  nsSteps: 1,
  nsEps: 1,
  adjustLr: 1,
  adamWScale: 1,
};

/**
 * For matrices w[m,n]: b ← μ·b + (1 − μ)·g, u = μ·b + (1 − μ)·g (or b without `nesterov`), w ← w·(1
 * − lr·weightDecay) − lr·s·O(u), where O brings all singular values near 1 by `nsSteps` iterations
 * of Newton and Schulz and s is what `adjustLr` says. Other parameters are updated as in `AdamW`
 * with rate lr·adamWScale; so should embeddings and the last layer, which are matrices all the
 * same: give those to an `AdamW` of their own.
 *
 * `weightDecay` is 0.1 by default. One state a matrix, two in one tensor for the others. The
 * iteration is in f32 (PyTorch: bf16) and costs three products each, the norm a sum. Throws
 * GraphError for options out of range. Jordan et al. 2024; "matchRmsAdamW" is Liu et al. 2025;
 * torch.optim.Muon.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([[3, 0], [0, 1]]);
 *   const optimizer = new optim.Muon([w], { lr: 0.1 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w.get(0, 0).less(3) // true
 */
export class Muon extends AdamW {
  readonly momentum: number;
  readonly nesterov: boolean;
  readonly nsCoefficients: readonly [number, number, number];
  readonly nsSteps: number;
  readonly nsEps: number;
  readonly adjustLr: "original" | "matchRmsAdamW";
  readonly adamWScale: number;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: MuonOptions) {
    checkRecord("muon", options);
    checkOptions("muon", options, muonOptions);
    super(params, { ...options, weightDecay: options.weightDecay ?? 0.1 }, "muon", muonOptions);
    this.momentum = options.momentum ?? 0.95;
    this.nesterov = options.nesterov ?? true;
    this.nsCoefficients = options.nsCoefficients ?? [3.4445, -4.775, 2.0315];
    this.nsSteps = options.nsSteps ?? 5;
    this.nsEps = options.nsEps ?? 1e-7;
    this.adjustLr = options.adjustLr ?? "original";
    this.adamWScale = options.adamWScale ?? 1;
    checkRange("muon", "momentum", this.momentum, 0, 1);
    checkRange("muon", "adamWScale", this.adamWScale, 0, Infinity);
    checkPositive("muon", "nsEps", this.nsEps);
    this.#check();
  }

  #check(): void {
    const { nsSteps, adjustLr } = this;
    if (!(Number.isInteger(nsSteps) && nsSteps >= 1 && nsSteps < 100))
      throw new GraphError(
        `muon: nsSteps must be an integer from 1 to 99, got ${kindOf(nsSteps)}\n  leave it out for 5`,
      );
    if (adjustLr !== "original" && adjustLr !== "matchRmsAdamW")
      throw new GraphError(
        `muon: adjustLr must be "original" or "matchRmsAdamW", got ${String(adjustLr)}\n  leave it out for "original"`,
      );
  }

  /** Only what is no matrix needs the number of the step. */
  protected override get counts(): boolean {
    return this.params.some((p) => p.rank !== 2);
  }

  protected override update(update: Update): Tensor {
    const { param, grad, lr } = update;
    if (param.rank !== 2) return super.update({ ...update, lr: scaled(lr, this.adamWScale) });
    const state = this.state(param, "momentum");
    const mean = this.kept(decayedMean(state, this.momentum, grad), state);
    assign(state, mean);
    const ahead = this.nesterov ? decayedMean(mean, this.momentum, grad) : mean;
    const [m, n] = param.shape as [number, number];
    const factor =
      this.adjustLr === "original"
        ? Math.sqrt(Math.max(1, m / n))
        : 0.2 * Math.sqrt(Math.max(m, n));
    return decayed(update).sub(this.#orthogonal(ahead).mul(scaled(lr, factor)));
  }

  /** Iterates on the wide form, whose X·Xᵀ is the smaller square. */
  #orthogonal(u: Tensor): Tensor {
    const [m, n] = u.shape as [number, number];
    const [a, b, c] = this.nsCoefficients;
    const tall = m > n;
    let x = tall ? u.transpose() : u;
    x = x.div(x.norm().maximum(this.nsEps));
    for (let i = 0; i < this.nsSteps; i++) {
      const gram = x.matmul(x.transpose());
      const mixed = gram.mul(b).add(gram.matmul(gram).mul(c));
      x = x.mul(a).add(mixed.matmul(x));
    }
    return tall ? x.transpose() : x;
  }
}

const scaled = (lr: Tensor, factor: number): Tensor => (factor === 1 ? lr : lr.mul(factor));
