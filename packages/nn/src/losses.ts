/**
 * Losses between two tensors of one shape: squared, absolute, their mixtures, and binary cross-entropy. Shapes
 * are never broadcast here: a [N] against a [N,1] is nearly always a mistake. Each is written so that its
 * gradient is right at zero too, where |x| and max(x, 0) alone would give the wrong half.
 */
import {
  checkTensor,
  GraphError,
  inFull,
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

/** Both, of one shape, and in f32 where they are halves of mixed precision. */
function pairOf(op: string, x: Tensor, target: Tensor): [Tensor, Tensor] {
  for (const t of [x, target]) checkTensor(op, t);
  if (!sameShape(x.shape, target.shape))
    throw new ShapeError(
      `${op}: shapes differ: input ${printShape(x.shape)}, target ${printShape(target.shape)}`,
    );
  return [inFull(x), inFull(target)];
}

/** (x − target)². Both f32[S] → f32[], or f32[S] without reduction. */
export function mse(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  const [a, b] = pairOf("mse", x, target);
  return reduce(a.sub(b).square(), options.reduction);
}

/** |x − target|. Both f32[S] → f32[], or f32[S] without reduction. */
export function l1(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  const [a, b] = pairOf("l1", x, target);
  return reduce(a.sub(b).abs(), options.reduction);
}

/**
 * d²/2 where |d| < delta, else delta·(|d| − delta/2), for d = x − target. `delta` is 1 by default.
 * Both f32[S] → f32[], or f32[S] without reduction. Huber 1964.
 */
export function huber(
  x: Tensor,
  target: Tensor,
  options: LossOptions & { readonly delta?: number } = {},
): Tensor {
  const delta = options.delta ?? 1;
  const [a, b] = pairOf("huber", x, target);
  if (!(delta > 0)) throw new GraphError(`huber: delta must be positive, got ${delta}`);
  const d = a.sub(b);
  const size = d.abs();
  const losses = select(size.less(delta), d.square().mul(0.5), size.sub(delta / 2).mul(delta));
  return reduce(losses, options.reduction);
}

/** huber / beta, with delta = beta; beta = 0 is `l1`. `beta` is 1 by default. */
export function smoothL1(
  x: Tensor,
  target: Tensor,
  options: LossOptions & { readonly beta?: number } = {},
): Tensor {
  const { beta = 1, ...rest } = options;
  checkWithin("smoothL1", "beta", beta, 0, Number.MAX_VALUE);
  if (beta === 0) return l1(x, target, rest);
  const [a, b] = pairOf("smoothL1", x, target);
  const d = a.sub(b);
  const size = d.abs();
  const losses = select(size.less(beta), d.square().mul(0.5 / beta), size.sub(beta / 2));
  return reduce(losses, options.reduction);
}

/** The smallest normal f32: below it, on devices that flush, a logarithm would see 0. */
const tiny = 2 ** -126;

/** log p, and −100 where p vanishes, as PyTorch bounds it; no gradient flows there. */
const boundedLog = (p: Tensor): Tensor => select(p.less(tiny), -100, p.maximum(tiny).log());

/**
 * −(t·log p + (1 − t)·log(1 − p)), each logarithm at least −100.
 *
 * p, target: f32[S], both from 0 to 1 → f32[], or f32[S] without reduction. Use `bceWithLogits` where p is
 * a sigmoid: it is accurate where p is near 0 or 1.
 */
export function bce(p: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  const [q, t] = pairOf("bce", p, target);
  const yes = t.mul(boundedLog(q));
  const no = t
    .neg()
    .add(1)
    .mul(boundedLog(q.neg().add(1)));
  return reduce(yes.add(no).neg(), options.reduction);
}

/**
 * (1 − t)·x + (1 + (w − 1)·t)·log(1 + e⁻ˣ): binary cross-entropy of sigmoid(x), stable for every x.
 *
 * x, target: f32[S]; `positiveWeight` w broadcasts to S, 1 by default → f32[], or f32[S] without reduction.
 */
export function bceWithLogits(
  x: Tensor,
  target: Tensor,
  options: LossOptions & { readonly positiveWeight?: Tensor | number } = {},
): Tensor {
  const [a, b] = pairOf("bceWithLogits", x, target);
  const w = options.positiveWeight ?? 1;
  const scale = typeof w === "number" ? b.mul(w - 1).add(1) : w.sub(1).mul(b).add(1);
  const losses = b.neg().add(1).mul(a).add(scale.mul(a.neg().softplus()));
  if (!sameShape(losses.shape, x.shape))
    throw new ShapeError(
      `bceWithLogits: positiveWeight ${printShape((w as Tensor).shape)} does not broadcast to ${printShape(x.shape)}`,
    );
  return reduce(losses, options.reduction);
}
