/**
 * Cross-entropy against class indices or probabilities, and negative log likelihood. Indices are
 * compared with an iota along the class axis instead of gathered, so that the whole loss is
 * row-wise and fuses.
 */
import {
  checkOptions,
  checkTensor,
  claimIndices,
  DtypeError,
  dropAxes,
  GraphError,
  inFloat32,
  iota,
  isFloat,
  isInteger,
  isNonNegative,
  type OptionNames,
  printDim,
  printShape,
  ShapeError,
  sameShape,
  select,
  sizeOf,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { checkWithin } from "./parameter.ts";
import { type Reduction, reduce } from "./reduction.ts";

export interface NllOptions {
  /** "mean" by default: divides by the weights of the targets that count. */
  readonly reduction?: Reduction;
  /** Class axis; 1 by default, as PyTorch has it, or 0 for rank 1. */
  readonly axis?: number;
  /** Targets equal to this index count nothing; −100 by default, as PyTorch has it. */
  readonly ignoreIndex?: number;
  /** One weight a class. */
  readonly weight?: Tensor;
}

export interface CrossEntropyOptions extends NllOptions {
  /** Share ε of the target spread evenly over the classes; 0 by default. */
  readonly labelSmoothing?: number;
}

/** What the class axis is, and tensors along it shaped to broadcast. */
interface Classes {
  readonly axis: number;
  readonly weight: Tensor | undefined;
  readonly sum: (x: Tensor) => Tensor;
}

function classesOf(op: string, x: Tensor, options: NllOptions): Classes {
  const given = options.axis ?? (x.rank > 1 ? 1 : 0);
  const axis = given < 0 ? given + x.rank : given;
  if (!Number.isInteger(axis) || axis < 0 || axis >= x.rank)
    throw new ShapeError(
      `${op}: axis ${given} is outside ${printShape(x.shape)}\n  axes count from 0, or from the end: -1 is the last`,
    );
  const count = x.shape[axis]!;
  const { weight } = options;
  if (weight && !sameShape(weight.shape, [count]))
    throw new ShapeError(
      `${op}: weight must have one entry a class: ${printShape(weight.shape)} for ${printShape([count])}\n  give a vector as long as there are classes`,
    );
  return {
    axis,
    weight: weight?.reshape([count, ...x.shape.slice(axis + 1).map(() => 1)]),
    sum: (t) => t.sum([axis]),
  };
}

function checkTargets(op: string, x: Tensor, target: Tensor, axis: number): void {
  const expected = dropAxes(x.shape, [axis]);
  if (sameShape(target.shape, expected)) return;
  const last = dropAxes(x.shape, [x.rank - 1]);
  const repair = sameShape(target.shape, last)
    ? "\n  pass axis: -1 if classes are on the last axis"
    : "\n  give one class for each entry, in the input's shape without the axis of classes";
  throw new ShapeError(
    `${op}: targets do not fit: input ${printShape(x.shape)} with classes on axis ${axis} needs ${printShape(expected)}, got ${printShape(target.shape)}${repair}`,
  );
}

const ignored = -100;

/** Losses, and what a mean divides by, for log-probabilities `logp`. */
function againstIndices(
  logp: Tensor,
  target: Tensor,
  classes: Classes,
  options: CrossEntropyOptions & { readonly op: string },
): { losses: Tensor; total: Tensor } {
  const { axis, weight, sum } = classes;
  const smoothing = options.labelSmoothing ?? 0;
  const label = target.convert("i32");
  const kept = label.notEqual(options.ignoreIndex ?? ignored);
  const known = label.greaterEqual(0).and(label.less(logp.shape[axis]!));
  const wrong = `a target is none of ${printDim(logp.shape[axis]!)} classes`;
  const counts = claimIndices(known.or(kept.not()), { op: options.op, holds: "all", wrong });
  // Of what is no class the first stands in, times NaN: a loss and a gradient of 0 would pass for a
  // sample that is right.
  const hit = iota(logp.shape, axis).equal(select(known, label, 0).expandDims(axis));
  const sign = select(counts, -1, Number.NaN).convert(logp.dtype);
  const masked = (t: Tensor): Tensor => select(kept, t, 0);
  const ofTarget = weight && masked(sum(select(hit, weight, 0)));
  const nll = sum(select(hit, weight ? logp.mul(weight) : logp, 0)).mul(sign);
  let losses = masked(nll);
  if (smoothing > 0) {
    const even = masked((weight ? logp.mul(weight) : logp).mean([axis]).neg());
    losses = losses.mul(1 - smoothing).add(even.mul(smoothing));
  }
  return { losses, total: ofTarget ? ofTarget.sum() : countOf(kept).convert(losses.dtype) };
}

/**
 * How many are true, as a product with itself: a kernel that is done before the losses are
 * computed, so that they and their gradient stay one. A sum would be taken into the kernel of the
 * losses' own, and the gradient would wait for it.
 */
function countOf(kept: Tensor): Tensor {
  const flat = kept.convert("i32").reshape([-1]);
  return flat.dot(flat);
}

function averaged(
  { losses, total }: { losses: Tensor; total: Tensor },
  reduction: Reduction = "mean",
): Tensor {
  // Of no losses the mean is 0/0; of some each is divided, in the kernel that makes it.
  const some = isNonNegative(subDim(sizeOf(losses.shape), 1));
  if (reduction === "mean") return some ? losses.div(total).sum() : losses.sum().div(total);
  return reduce(losses, reduction);
}

const nllOptions: OptionNames<NllOptions> = { reduction: 1, axis: 1, ignoreIndex: 1, weight: 1 };

const crossEntropyOptions: OptionNames<CrossEntropyOptions> = { ...nllOptions, labelSmoothing: 1 };

/**
 * −Σ_c p_c · log softmax(x)_c, where p is the target: a class (one-hot) or probabilities.
 *
 * x: f32[N, C, ...]; target: i32[N, ...] of classes, or f32 of x's shape → f32[], or f32[N, ...]
 * without reduction. A class outside 0 … C−1 that is not `ignoreIndex` makes the loss and its
 * gradient NaN; `compile(fn, { check: "indices" })` names it. Throws ShapeError where the target
 * does not fit, DtypeError for other dtypes, GraphError for options out of range.
 * `F.cross_entropy`.
 *
 * @example
 *   const labels = tensor([0, 1], { dtype: "i32" });
 *   nn.crossEntropy(tensor([[0, 0], [0, 100]]), labels) // 0.34657; (ln 2 + 0)/2
 *   nn.crossEntropy(tensor([[0, 0], [0, 100]]), labels, { reduction: "none" }) // [ln 2, 0]
 */
export function crossEntropy(x: Tensor, target: Tensor, options: CrossEntropyOptions = {}): Tensor {
  const op = "crossEntropy";
  for (const t of [x, target]) checkTensor(op, t);
  const smoothing = checkOptions(op, options, crossEntropyOptions).labelSmoothing ?? 0;
  checkWithin(op, "labelSmoothing", smoothing, 0, 1);
  if (!isFloat(x.dtype)) throw new DtypeError(`${op}: input must be floating, got ${x.dtype}`);
  const classes = classesOf(op, x, options);
  if (isFloat(target.dtype))
    return inFloat32([x, target], (full, p) =>
      againstProbabilities(full.logSoftmax(classes.axis), p, classes, options),
    );
  if (!isInteger(target.dtype))
    throw new DtypeError(`${op}: target must be integers or floats, got ${target.dtype}`);
  checkTargets(op, x, target, classes.axis);
  return inFloat32([x], (full) => {
    const logp = full.logSoftmax(classes.axis);
    return averaged(againstIndices(logp, target, classes, { ...options, op }), options.reduction);
  });
}

function againstProbabilities(
  logp: Tensor,
  target: Tensor,
  { axis, weight, sum }: Classes,
  options: CrossEntropyOptions,
): Tensor {
  if (options.ignoreIndex !== undefined)
    throw new GraphError(
      "crossEntropy: ignoreIndex needs class indices, target is probabilities\n  pass classes as integers, or give ignored rows probabilities of 0",
    );
  if (!sameShape(logp.shape, target.shape)) {
    const repair = sameShape(target.shape, dropAxes(logp.shape, [axis]))
      ? "\n  classes must be integers: an Int32Array, or a tensor or input of dtype i32"
      : "\n  pass integer classes without the axis of classes, or probabilities of the input's shape";
    throw new ShapeError(
      `crossEntropy: probabilities must have the input's shape: ${printShape(target.shape)} for ${printShape(logp.shape)}${repair}`,
    );
  }
  const smoothing = options.labelSmoothing ?? 0;
  const terms = (p: Tensor): Tensor => (weight ? p.mul(weight) : p).neg();
  const own = sum(terms(target.mul(logp)));
  const losses = smoothing
    ? own.mul(1 - smoothing).add(terms(logp).mean([axis]).mul(smoothing))
    : own;
  return reduce(losses, options.reduction);
}

/**
 * −x[target]: negative log likelihood of classes, given log-probabilities.
 *
 * logp: f32[N, C, ...], target: i32[N, ...] → f32[], or f32[N, ...] without reduction. Targets as
 * in `crossEntropy`. `F.nll_loss`.
 *
 * @example
 *   const logp = tensor([[-0.1, -2.4], [-3, -0.5]]);
 *   nn.nll(logp, tensor([0, 1], { dtype: "i32" })) // 0.3; (0.1 + 0.5)/2
 */
export function nll(logp: Tensor, target: Tensor, options: NllOptions = {}): Tensor {
  for (const t of [logp, target]) checkTensor("nll", t);
  checkOptions("nll", options, nllOptions);
  const classes = classesOf("nll", logp, options);
  if (!isInteger(target.dtype))
    throw new DtypeError(`nll: target must be integers, got ${target.dtype}`);
  checkTargets("nll", logp, target, classes.axis);
  return inFloat32([logp], (full) =>
    averaged(againstIndices(full, target, classes, { ...options, op: "nll" }), options.reduction),
  );
}
