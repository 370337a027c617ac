/**
 * Losses between two tensors of one shape: squared, absolute, their mixtures, and binary
 * cross-entropy. Shapes are never broadcast here: a [N] against a [N,1] is nearly always a mistake.
 * Each is written so that its gradient is right at zero too, where |x| and max(x, 0) alone would
 * give the wrong half.
 */
import {
  checkOptions,
  checkTensor,
  GraphError,
  inFloat32,
  type OptionNames,
  printShape,
  ShapeError,
  sameShape,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { checkWithin } from "./parameter.ts";
import { type Reduction, reduce } from "./reduction.ts";

export interface LossOptions {
  /** "mean" by default. */
  readonly reduction?: Reduction;
}

/** `losses` of both, of one shape, reduced. Halves are f32 up to the result. */
export function lossOf(
  op: string,
  [x, target]: readonly [Tensor, Tensor],
  reduction: Reduction | undefined,
  losses: (x: Tensor, target: Tensor) => Tensor,
): Tensor {
  for (const t of [x, target]) checkTensor(op, t);
  if (!sameShape(x.shape, target.shape))
    throw new ShapeError(
      `${op}: shapes differ: input ${printShape(x.shape)}, target ${printShape(target.shape)}`,
    );
  return inFloat32([x, target], (a, b) => reduce(losses(a, b), reduction));
}

export const lossOptions: OptionNames<LossOptions> = { reduction: 1 };

/**
 * (x − target)². Both f32[S] → f32[], or f32[S] without reduction. `F.mse_loss`.
 *
 * @param x Predictions.
 * @param target What they should be, of the same shape.
 * @example
 *   nn.mse(tensor([1, 5]), tensor([2, 2])) // 5; (1 + 9)/2
 *   nn.mse(tensor([1, 5]), tensor([2, 2]), { reduction: "none" }) // [1, 9]
 */
export function mse(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  checkOptions("mse", options, lossOptions);
  return lossOf("mse", [x, target], options.reduction, (a, b) => a.sub(b).square());
}

/**
 * |x − target|. Both f32[S] → f32[], or f32[S] without reduction. `F.l1_loss`.
 *
 * @param x Predictions.
 * @param target What they should be, of the same shape.
 * @example
 *   nn.l1(tensor([1, 5]), tensor([2, 2])) // 2; (1 + 3)/2
 */
export function l1(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  checkOptions("l1", options, lossOptions);
  return lossOf("l1", [x, target], options.reduction, (a, b) => a.sub(b).abs());
}

export interface HuberOptions extends LossOptions {
  /** Where the square ends, default 1. */
  readonly delta?: number;
}

const huberOptions: OptionNames<HuberOptions> = { ...lossOptions, delta: 1 };

/**
 * d²/2 where |d| < delta, else delta·(|d| − delta/2), for d = x − target. `delta` is 1 by default.
 * Both f32[S] → f32[], or f32[S] without reduction. Huber 1964. `F.huber_loss`.
 *
 * @param x Predictions.
 * @param target What they should be, of the same shape.
 * @example
 *   nn.huber(tensor([0.5, 3]), tensor([0, 0]), { reduction: "none" }) // [0.125, 2.5]
 */
export function huber(x: Tensor, target: Tensor, options: HuberOptions = {}): Tensor {
  const { delta = 1 } = checkOptions("huber", options, huberOptions);
  return lossOf("huber", [x, target], options.reduction, (a, b) => {
    if (!(delta > 0))
      throw new GraphError(`huber: delta must be positive, got ${delta}\n  leave it out for 1`);
    const d = a.sub(b);
    const size = d.abs();
    return select(size.less(delta), d.square().mul(0.5), size.sub(delta / 2).mul(delta));
  });
}

export interface SmoothL1Options extends LossOptions {
  /** Where the square ends, default 1. */
  readonly beta?: number;
}

const smoothL1Options: OptionNames<SmoothL1Options> = { ...lossOptions, beta: 1 };

/**
 * huber / beta, with delta = beta; beta = 0 is `l1`. `beta` is 1 by default. `F.smooth_l1_loss`.
 *
 * @param x Predictions.
 * @param target What they should be, of the same shape.
 * @example
 *   nn.smoothL1(tensor([0.5, 3]), tensor([0, 0]), { reduction: "none" }) // [0.125, 2.5]
 */
export function smoothL1(x: Tensor, target: Tensor, options: SmoothL1Options = {}): Tensor {
  const { beta = 1, ...rest } = checkOptions("smoothL1", options, smoothL1Options);
  checkWithin("smoothL1", "beta", beta, 0, Number.MAX_VALUE);
  if (beta === 0) return l1(x, target, rest);
  return lossOf("smoothL1", [x, target], rest.reduction, (a, b) => {
    const d = a.sub(b);
    const size = d.abs();
    return select(size.less(beta), d.square().mul(0.5 / beta), size.sub(beta / 2));
  });
}

/** The smallest normal f32: below it, on devices that flush, a logarithm would see 0. */
const tiny = 2 ** -126;

/** log p, and −100 where p vanishes, as PyTorch bounds it; no gradient flows there. */
const boundedLog = (p: Tensor): Tensor => select(p.less(tiny), -100, p.maximum(tiny).log());

export interface BceOptions extends LossOptions {
  /** Share ε of the target that is spread evenly over both sides, t·(1 − ε) + ε/2; 0 by default. */
  readonly labelSmoothing?: number;
  /**
   * Multiplies each loss; broadcasts to the shape of the input. One for each class, say, on the
   * last axis.
   */
  readonly weight?: Tensor | number;
}

const bceOptions: OptionNames<BceOptions> = { ...lossOptions, labelSmoothing: 1, weight: 1 };

/** `losses` of targets that are smoothed, each times its weight. */
function weighted(
  op: string,
  target: Tensor,
  { labelSmoothing = 0, weight }: BceOptions,
  losses: (target: Tensor) => Tensor,
): Tensor {
  checkWithin(op, "labelSmoothing", labelSmoothing, 0, 1);
  const smooth = labelSmoothing ? target.mul(1 - labelSmoothing).add(labelSmoothing / 2) : target;
  const each = losses(smooth);
  if (weight === undefined) return each;
  const scaled = each.mul(typeof weight === "number" ? weight : weight.convert(each.dtype));
  if (sameShape(scaled.shape, each.shape)) return scaled;
  throw new ShapeError(
    `${op}: weight ${printShape((weight as Tensor).shape)} does not broadcast to ${printShape(each.shape)}\n  give one number, or one for each label on the last axis`,
  );
}

/**
 * −w·(t·log p + (1 − t)·log(1 − p)), each logarithm at least −100.
 *
 * p, target: f32[S], both from 0 to 1; w is `weight`, 1 by default → f32[], or f32[S] without
 * reduction. Use `bceWithLogits` where p is a sigmoid: it is accurate where p is near 0 or 1.
 * `F.binary_cross_entropy`.
 *
 * @example
 *   nn.bce(tensor([0.5, 1]), tensor([1, 1])) // 0.34657; (ln 2 + 0)/2
 */
export function bce(p: Tensor, target: Tensor, options: BceOptions = {}): Tensor {
  checkOptions("bce", options, bceOptions);
  return lossOf("bce", [p, target], options.reduction, (q, given) =>
    weighted("bce", given, options, (t) => {
      const yes = t.mul(boundedLog(q));
      const no = t
        .neg()
        .add(1)
        .mul(boundedLog(q.neg().add(1)));
      return yes.add(no).neg();
    }),
  );
}

export interface BceWithLogitsOptions extends BceOptions {
  /** v, how much positive targets count, broadcast; default 1. */
  readonly positiveWeight?: Tensor | number;
}

const bceWithLogitsOptions: OptionNames<BceWithLogitsOptions> = {
  ...bceOptions,
  positiveWeight: 1,
};

/**
 * w·((1 − t)·x + (1 + (v − 1)·t)·log(1 + e⁻ˣ)): binary cross-entropy of sigmoid(x), stable for
 * every x.
 *
 * x, target: f32[S]; `weight` w and `positiveWeight` v broadcast to S, 1 by default → f32[], or
 * f32[S] without reduction. `F.binary_cross_entropy_with_logits`.
 *
 * @example
 *   nn.bceWithLogits(tensor([0, 1000]), tensor([1, 1])) // 0.34657; (ln 2 + 0)/2
 */
export function bceWithLogits(
  x: Tensor,
  target: Tensor,
  options: BceWithLogitsOptions = {},
): Tensor {
  checkOptions("bceWithLogits", options, bceWithLogitsOptions);
  const v = options.positiveWeight ?? 1;
  return lossOf("bceWithLogits", [x, target], options.reduction, (a, given) =>
    weighted("bceWithLogits", given, options, (t) => {
      const scale =
        typeof v === "number" ? t.mul(v - 1).add(1) : v.convert(a.dtype).sub(1).mul(t).add(1);
      const losses = t.neg().add(1).mul(a).add(scale.mul(a.neg().softplus()));
      if (sameShape(losses.shape, x.shape)) return losses;
      throw new ShapeError(
        `bceWithLogits: positiveWeight ${printShape((v as Tensor).shape)} does not broadcast to ${printShape(x.shape)}\n  give one number, or one for each label on the last axis`,
      );
    }),
  );
}
