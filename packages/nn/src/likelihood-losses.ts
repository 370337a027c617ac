/**
 * Losses that are likelihoods or divergences, and powers of differences.
 */
import {
  checkOptions,
  checkTensor,
  dimValue,
  inFloat32,
  type OptionNames,
  printShape,
  ShapeError,
  sameShape,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { type LossOptions, lossOf, lossOptions } from "./losses.ts";
import { checkWithin } from "./parameter.ts";
import type { Reduction } from "./reduction.ts";

export interface LpOptions extends LossOptions {
  /** The power, 1 or more; 2 by default. */
  readonly p?: number;
}

const lpOptions: OptionNames<LpOptions> = { ...lossOptions, p: 1 };

/**
 * |x − target|ᵖ. Both float[S] → float[], or float[S] without reduction. Throws GraphError for p
 * below 1. No counterpart in PyTorch.
 *
 * @param x Predictions.
 * @param target What they should be, of the same shape.
 * @example
 *   nn.lp(tensor([1, 5]), tensor([2, 2]), { p: 3 }) // 14; (1 + 27)/2
 */
export function lp(x: Tensor, target: Tensor, options: LpOptions = {}): Tensor {
  const { p = 2, reduction } = checkOptions("lp", options, lpOptions);
  checkWithin("lp", "p", p, 1, Number.MAX_VALUE);
  return lossOf("lp", [x, target], reduction, (a, b) => {
    const d = a.sub(b);
    if (p === 2) return d.square();
    return p === 1 ? d.abs() : d.abs().pow(p);
  });
}

export interface GaussianNllOptions extends LossOptions {
  /** Adds ½·ln 2π; default false. */
  readonly full?: boolean;
  /** The least variance, default 1e-6; the gradient passes as if it were not bounded. */
  readonly eps?: number;
}

const gaussianOptions: OptionNames<GaussianNllOptions> = { ...lossOptions, full: 1, eps: 1 };

/**
 * ½·(ln v + (x − target)²/v) for v = max(variance, eps).
 *
 * x, target: float[S]; variance: float[S], or with 1 in place of the last extent → float[], or
 * float[S] without reduction. Throws ShapeError for other shapes. Nix & Weigend 1994;
 * torch.nn.GaussianNLLLoss.
 *
 * @example
 *   nn.gaussianNll(tensor([1, 5]), tensor([2, 5]), ones([2])) // ¼; (½·1 + 0)/2
 */
export function gaussianNll(
  x: Tensor,
  target: Tensor,
  variance: Tensor,
  options: GaussianNllOptions = {},
): Tensor {
  const op = "gaussianNll";
  const { full = false, eps = 1e-6, reduction } = checkOptions(op, options, gaussianOptions);
  checkWithin(op, "eps", eps, Number.MIN_VALUE, Number.MAX_VALUE);
  for (const t of [x, target, variance]) checkTensor(op, t);
  const fits = [x.shape, [...x.shape.slice(0, -1), 1]].some((s) => sameShape(variance.shape, s));
  if (!fits)
    throw new ShapeError(
      `${op}: variance ${printShape(variance.shape)} does not fit ${printShape(x.shape)}\n  give one for each element, or one for each row with a last extent of 1`,
    );
  return lossOf(op, [x, target], reduction, (a, b) => {
    const given = variance.convert(a.dtype);
    const v = given.add(given.maximum(eps).sub(given).stopGradient());
    const losses = v.log().add(a.sub(b).square().div(v)).mul(0.5);
    return full ? losses.add(0.5 * Math.log(2 * Math.PI)) : losses;
  });
}

export interface PoissonNllOptions extends LossOptions {
  /** Whether x is the logarithm of the rate; default true. */
  readonly logInput?: boolean;
  /** Adds Stirling's t·ln t − t + ½·ln 2πt where t > 1; default false. */
  readonly full?: boolean;
  /** Added to a rate under its logarithm, default 1e-8. */
  readonly eps?: number;
}

const poissonOptions: OptionNames<PoissonNllOptions> = {
  ...lossOptions,
  logInput: 1,
  full: 1,
  eps: 1,
};

/**
 * eˣ − t·x, or x − t·ln(x + eps) unless `logInput`.
 *
 * x, t: float[S] → float[], or float[S] without reduction. torch.nn.PoissonNLLLoss.
 *
 * @param target Counts.
 * @example
 *   nn.poissonNll(tensor([0]), tensor([2])) // 1; e⁰ − 2·0
 */
export function poissonNll(x: Tensor, target: Tensor, options: PoissonNllOptions = {}): Tensor {
  const o = checkOptions("poissonNll", options, poissonOptions);
  const { logInput = true, full = false, eps = 1e-8 } = o;
  checkWithin("poissonNll", "eps", eps, 0, Number.MAX_VALUE);
  return lossOf("poissonNll", [x, target], o.reduction, (a, t) => {
    const losses = logInput ? a.exp().sub(t.mul(a)) : a.sub(t.mul(a.add(eps).log()));
    if (!full) return losses;
    const many = t.maximum(1);
    const stirling = many
      .mul(many.log())
      .sub(many)
      .add(
        many
          .mul(2 * Math.PI)
          .log()
          .mul(0.5),
      );
    return losses.add(select(t.greater(1), stirling, 0));
  });
}

export interface KlDivOptions {
  /**
   * "mean" over all elements by default; "batchMean" is the sum by the first extent, which is the
   * divergence.
   */
  readonly reduction?: Reduction | "batchMean";
  /** Whether the target is a logarithm too; default false. */
  readonly logTarget?: boolean;
}

const klDivOptions: OptionNames<KlDivOptions> = { reduction: 1, logTarget: 1 };

/**
 * t·(ln t − x) for log-probabilities x, 0 where t = 0; with `logTarget` eᵗ·(t − x).
 *
 * x, t: float[N, ...] → float[], or the shape of x without reduction. torch.nn.KLDivLoss.
 *
 * @param target Probabilities.
 * @example
 *   const [x, target] = [tensor([[0, 0]]).logSoftmax(-1), tensor([[1, 0]])];
 *   nn.klDiv(x, target, { reduction: "batchMean" }) // ln 2
 */
export function klDiv(x: Tensor, target: Tensor, options: KlDivOptions = {}): Tensor {
  const { reduction, logTarget = false } = checkOptions("klDiv", options, klDivOptions);
  const batchMean = reduction === "batchMean";
  const losses = lossOf("klDiv", [x, target], batchMean ? "sum" : reduction, (a, t) => {
    if (logTarget) return t.exp().mul(t.sub(a));
    const some = t.greater(0);
    return select(some, t.mul(select(some, t, 1).log().sub(a)), 0);
  });
  if (!batchMean) return losses;
  return x.rank ? inFloat32([losses], (l) => l.div(dimValue(x.shape[0]!, l.dtype))) : losses;
}
