/**
 * Losses that ask for a margin: between scores, distances or classes. A label of two sides is 1 or
 * −1.
 */
import {
  checkOptions,
  checkTensor,
  DtypeError,
  GraphError,
  inFloat32,
  iota,
  isInteger,
  type OptionNames,
  printShape,
  ShapeError,
  sameShape,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { type LossOptions, lossOptions } from "./losses.ts";
import { checkWithin } from "./parameter.ts";
import { reduce } from "./reduction.ts";

/** Throws unless all have the shape of the first. */
export function checkShapes(op: string, given: Readonly<Record<string, Tensor>>): void {
  const entries = Object.entries(given);
  for (const [, t] of entries) checkTensor(op, t);
  const [first] = entries;
  if (entries.some(([, t]) => !sameShape(t.shape, first![1].shape)))
    throw new ShapeError(
      `${op}: shapes differ: ${entries.map(([name, t]) => `${name} ${printShape(t.shape)}`).join(", ")}`,
    );
}

function checkMargin(op: string, margin: number): void {
  checkWithin(op, "margin", margin, -Number.MAX_VALUE, Number.MAX_VALUE);
}

export interface MarginOptions extends LossOptions {
  /**
   * Default 1 of `hingeEmbedding`, `multiMargin` and `tripletMargin`, 0 of `marginRanking` and
   * `cosineEmbedding`.
   */
  readonly margin?: number;
}

const marginOptions: OptionNames<MarginOptions> = { ...lossOptions, margin: 1 };

/**
 * x where y = 1, max(0, margin − x) where y = −1; both parts where y is neither. `margin` is 1 by
 * default.
 *
 * x, y: float[S] → float[], or float[S] without reduction. torch.nn.HingeEmbeddingLoss.
 *
 * @example
 *   nn.hingeEmbedding(tensor([3, 0.25]), tensor([1, -1]), { reduction: "none" }) // [3, 0.75]
 */
export function hingeEmbedding(x: Tensor, y: Tensor, options: MarginOptions = {}): Tensor {
  const { margin = 1, reduction } = checkOptions("hingeEmbedding", options, marginOptions);
  checkMargin("hingeEmbedding", margin);
  checkShapes("hingeEmbedding", { input: x, target: y });
  return inFloat32([x], (a) => {
    const near = select(y.equal(-1), 0, a);
    const far = select(y.equal(1), 0, a.neg().add(margin).maximum(0));
    return reduce(near.add(far), reduction);
  });
}

/**
 * max(0, −y·(a − b) + margin): a is to be greater than b where y = 1, less where y = −1. `margin`
 * is 0 by default.
 *
 * a, b, y: float[S] → float[], or float[S] without reduction. torch.nn.MarginRankingLoss.
 *
 * @example
 *   const [a, b, y] = [tensor([3, 1]), tensor([1, 3]), tensor([1, 1])];
 *   nn.marginRanking(a, b, y, { margin: 0.5, reduction: "none" }) // [0, 2.5]
 */
export function marginRanking(
  a: Tensor,
  b: Tensor,
  y: Tensor,
  options: MarginOptions = {},
): Tensor {
  const { margin = 0, reduction } = checkOptions("marginRanking", options, marginOptions);
  checkMargin("marginRanking", margin);
  checkShapes("marginRanking", { first: a, second: b, target: y });
  return inFloat32([a, b, y], (x1, x2, side) =>
    reduce(side.neg().mul(x1.sub(x2)).add(margin).maximum(0), reduction),
  );
}

/**
 * ln(1 + e^(−y·x)), stable for every x.
 *
 * x, y: float[S] → float[], or float[S] without reduction. torch.nn.SoftMarginLoss.
 *
 * @example
 *   nn.softMargin(tensor([0, 100]), tensor([1, 1]), { reduction: "none" }) // [ln 2, 0]
 */
export function softMargin(x: Tensor, y: Tensor, options: LossOptions = {}): Tensor {
  const { reduction } = checkOptions("softMargin", options, lossOptions);
  checkShapes("softMargin", { input: x, target: y });
  return inFloat32([x, y], (a, side) => reduce(side.mul(a).neg().softplus(), reduction));
}

export interface MultiMarginOptions extends MarginOptions {
  /** Power of each violation, 1 (the default) or 2. */
  readonly p?: 1 | 2;
  /** One weight a class, float[C]. */
  readonly weight?: Tensor;
}

const multiMarginOptions: OptionNames<MultiMarginOptions> = { ...marginOptions, p: 1, weight: 1 };

/**
 * w_y · Σ_{j≠y} max(0, margin − x_y + x_j)ᵖ / C for the class y. `margin` is 1 by default.
 *
 * x: float[N, C], y: int[N] → float[], or float[N] without reduction. Throws ShapeError or
 * DtypeError for other targets, GraphError for another p. torch.nn.MultiMarginLoss.
 *
 * @example
 *   const y = tensor([0], { dtype: "i32" });
 *   nn.multiMargin(tensor([[1, 0.5, 3]]), y) // 1.16667; (½ + 3)/3
 */
export function multiMargin(x: Tensor, y: Tensor, options: MultiMarginOptions = {}): Tensor {
  const op = "multiMargin";
  const { margin = 1, p = 1, weight, reduction } = checkOptions(op, options, multiMarginOptions);
  for (const t of [x, y]) checkTensor(op, t);
  checkMargin(op, margin);
  if (p !== 1 && p !== 2) throw new GraphError(`${op}: p must be 1 or 2, got ${String(p)}`);
  if (!isInteger(y.dtype)) throw new DtypeError(`${op}: target must be integers, got ${y.dtype}`);
  if (x.rank !== 2 || !sameShape(y.shape, x.shape.slice(0, 1)))
    throw new ShapeError(
      `${op}: needs scores [N,C] and targets [N], got ${printShape(x.shape)} and ${printShape(y.shape)}`,
    );
  if (weight && !sameShape(weight.shape, x.shape.slice(1)))
    throw new ShapeError(
      `${op}: weight must have one entry a class: ${printShape(weight.shape)} for ${printShape(x.shape.slice(1))}`,
    );
  return inFloat32([x], (a) => {
    const hit = iota(a.shape, 1, y.dtype).equal(y.expandDims(1));
    const own = select(hit, a, 0).sum([1], { keepDims: true });
    const over = select(hit, 0, a.sub(own).add(margin).maximum(0));
    const losses = (p === 2 ? over.square() : over).mean([1]);
    const scale = weight && select(hit, weight.convert(a.dtype), 0).sum([1]);
    return reduce(scale ? losses.mul(scale) : losses, reduction);
  });
}

export interface MultiLabelSoftMarginOptions extends LossOptions {
  /** One weight a class, float[C]. */
  readonly weight?: Tensor;
}

const multiLabelOptions: OptionNames<MultiLabelSoftMarginOptions> = { ...lossOptions, weight: 1 };

/**
 * −Σ_c w_c·(t·ln σ(x) + (1 − t)·ln(1 − σ(x)))/C: the mean over classes of binary cross-entropies.
 *
 * x, t: float[..., C] → float[], or float[...] without reduction.
 * torch.nn.MultiLabelSoftMarginLoss.
 *
 * @param target 0 or 1.
 * @example
 *   nn.multiLabelSoftMargin(tensor([[0, 0]]), tensor([[1, 0]])) // ln 2
 */
export function multiLabelSoftMargin(
  x: Tensor,
  target: Tensor,
  options: MultiLabelSoftMarginOptions = {},
): Tensor {
  const op = "multiLabelSoftMargin";
  const { weight, reduction } = checkOptions(op, options, multiLabelOptions);
  checkShapes(op, { input: x, target });
  if (weight && !sameShape(weight.shape, x.shape.slice(-1)))
    throw new ShapeError(
      `${op}: weight must have one entry a class: ${printShape(weight.shape)} for ${printShape(x.shape.slice(-1))}`,
    );
  return inFloat32([x, target], (a, t) => {
    const each = t.neg().add(1).mul(a).add(a.neg().softplus());
    return reduce((weight ? each.mul(weight.convert(a.dtype)) : each).mean([-1]), reduction);
  });
}

export interface TripletMarginOptions extends MarginOptions {
  /** The norm of distances, 2 by default. */
  readonly p?: number;
  /** Added to differences, default 1e-6. */
  readonly eps?: number;
  /**
   * Takes the nearer of anchor and positive to the negative. Balntas et al. 2016. Default false.
   */
  readonly swap?: boolean;
}

const tripletOptions: OptionNames<TripletMarginOptions> = {
  ...marginOptions,
  p: 1,
  eps: 1,
  swap: 1,
};

/**
 * max(0, d(a, p) − d(a, n) + margin), d(x, y) = ‖x − y + eps‖ₚ over the last axis. `margin` is 1 by
 * default.
 *
 * Anchor, positive, negative: float[..., D] → float[], or float[...] without reduction. Throws
 * GraphError for p below 1. Schroff et al. 2015, eq. 1 without the squares;
 * torch.nn.TripletMarginLoss.
 *
 * @param anchor Vectors.
 * @example
 *   const [anchor, near, far] = [tensor([[0, 0]]), tensor([[3, 4]]), tensor([[6, 8]])];
 *   nn.tripletMargin(anchor, near, far, { margin: 6 }) // 1; 5 − 10 + 6
 */
export function tripletMargin(
  anchor: Tensor,
  positive: Tensor,
  negative: Tensor,
  options: TripletMarginOptions = {},
): Tensor {
  const op = "tripletMargin";
  const o = checkOptions(op, options, tripletOptions);
  const { margin = 1, p = 2, eps = 1e-6, swap = false } = o;
  checkMargin(op, margin);
  checkWithin(op, "p", p, 1, Number.MAX_VALUE);
  checkWithin(op, "eps", eps, 0, Number.MAX_VALUE);
  checkShapes(op, { anchor, positive, negative });
  const distance = (x: Tensor, y: Tensor): Tensor => {
    const d = x.sub(y).add(eps);
    if (p === 2) return d.square().sum([-1]).sqrt();
    if (p === 1) return d.abs().sum([-1]);
    return d
      .abs()
      .pow(p)
      .sum([-1])
      .pow(1 / p);
  };
  return inFloat32([anchor, positive, negative], (a, same, other) => {
    const far = distance(a, other);
    const least = swap ? far.minimum(distance(same, other)) : far;
    return reduce(distance(a, same).sub(least).add(margin).maximum(0), o.reduction);
  });
}

/**
 * 1 − cos(a, b) where y = 1, max(0, cos(a, b) − margin) where y = −1; `margin` is 0 by default.
 *
 * a, b: float[..., D], y: [...] → float[], or float[...] without reduction. 10⁻¹² is added to both
 * squared norms, as in PyTorch. torch.nn.CosineEmbeddingLoss.
 *
 * @example
 *   const [a, b] = [tensor([[1, 0], [1, 0]]), tensor([[1, 0], [1, 0]])];
 *   nn.cosineEmbedding(a, b, tensor([1, -1]), { reduction: "none" }) // [0, 1]
 */
export function cosineEmbedding(
  a: Tensor,
  b: Tensor,
  y: Tensor,
  options: MarginOptions = {},
): Tensor {
  const op = "cosineEmbedding";
  const { margin = 0, reduction } = checkOptions(op, options, marginOptions);
  checkMargin(op, margin);
  checkShapes(op, { first: a, second: b });
  checkTensor(op, y);
  if (!sameShape(y.shape, a.shape.slice(0, -1)))
    throw new ShapeError(
      `${op}: target must have one entry a pair: ${printShape(y.shape)} for ${printShape(a.shape)}`,
    );
  return inFloat32([a, b], (x1, x2) => {
    const squares = (x: Tensor): Tensor => x.square().sum([-1]).add(1e-12);
    const cos = x1
      .mul(x2)
      .sum([-1])
      .mul(squares(x1).mul(squares(x2)).rsqrt());
    const near = select(y.equal(1), cos.neg().add(1), 0);
    const far = select(y.equal(-1), cos.sub(margin).maximum(0), 0);
    return reduce(near.add(far), reduction);
  });
}
