/**
 * How near two tensors are along an axis.
 */
import {
  checkOptions,
  checkTensor,
  GraphError,
  inFloat32,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
import { checkWithin } from "./parameter.ts";

export interface CosineSimilarityOptions {
  /** Default 1. */
  readonly axis?: number;
  /** The least norm to divide by, default 1e-8. */
  readonly eps?: number;
}

const cosineOptions: OptionNames<CosineSimilarityOptions> = { axis: 1, eps: 1 };

/**
 * Σ a·b / (max(‖a‖, eps)·max(‖b‖, eps)) along an axis.
 *
 * a, b: f32[..., n, ...] that broadcast → f32 without the axis. By default axis 1, eps 1e-8. Throws
 * ShapeError where they do not broadcast. `torch.nn.CosineSimilarity`.
 *
 * @example
 *   new nn.CosineSimilarity().forward(tensor([[1, 1]]), tensor([[1, 0]])) // [0.70711]
 */
export class CosineSimilarity extends Module {
  readonly axis: number;
  readonly eps: number;

  constructor(options: CosineSimilarityOptions = {}) {
    super([options]);
    const { axis = 1, eps = 1e-8 } = checkOptions("cosineSimilarity", options, cosineOptions);
    checkWithin("cosineSimilarity", "eps", eps, 0, 1);
    this.axis = axis;
    this.eps = eps;
  }

  override forward(a: Tensor, b: Tensor): Tensor {
    for (const t of [a, b]) checkTensor("cosineSimilarity", t);
    const { axis, eps } = this;
    return inFloat32([a, b], (u, v) => {
      // √max(Σ, eps²) is max(‖·‖, eps), with a gradient at 0.
      const norm = (t: Tensor) =>
        t
          .square()
          .sum([axis])
          .maximum(eps * eps)
          .sqrt();
      return u
        .mul(v)
        .sum([axis])
        .div(norm(u).mul(norm(v)));
    });
  }
}

export interface PairwiseDistanceOptions {
  /** Order of the norm, default 2. */
  readonly p?: number;
  /** Added to each difference, default 1e-6. */
  readonly eps?: number;
  /** Keeps the last axis with extent 1; false by default. */
  readonly keepDims?: boolean;
}

const distanceOptions: OptionNames<PairwiseDistanceOptions> = { p: 1, eps: 1, keepDims: 1 };

/**
 * (Σ |a − b + eps|^p)^(1/p) along the last axis; the largest for p = ∞.
 *
 * a, b: f32[..., n] that broadcast → f32[...]. By default p 2, eps 1e-6. Throws GraphError unless p
 * is positive. `torch.nn.PairwiseDistance`.
 *
 * @example
 *   new nn.PairwiseDistance({ p: 1 }).forward(tensor([[1, 2]]), tensor([[4, 6]])) // [7]
 */
export class PairwiseDistance extends Module {
  readonly p: number;
  readonly eps: number;
  readonly keepDims: boolean;

  constructor(options: PairwiseDistanceOptions = {}) {
    super([options]);
    const {
      p = 2,
      eps = 1e-6,
      keepDims = false,
    } = checkOptions("pairwiseDistance", options, distanceOptions);
    if (!(p > 0))
      throw new GraphError(`pairwiseDistance: p must be positive, got ${p}\n  leave it out for 2`);
    this.p = p;
    this.eps = eps;
    this.keepDims = keepDims;
  }

  override forward(a: Tensor, b: Tensor): Tensor {
    for (const t of [a, b]) checkTensor("pairwiseDistance", t);
    const { p, eps, keepDims } = this;
    return inFloat32([a, b], (u, v) => {
      const gap = u.sub(v).add(eps);
      if (p === Number.POSITIVE_INFINITY) return gap.abs().max([-1], { keepDims });
      if (p === 1) return gap.abs().sum([-1], { keepDims });
      if (p === 2) return gap.square().sum([-1], { keepDims }).sqrt();
      return gap
        .abs()
        .pow(p)
        .sum([-1], { keepDims })
        .pow(1 / p);
    });
  }

  override describe(): string {
    return `${this.p}`;
  }
}
