/**
 * Connectionist temporal classification: the likelihood of a sequence without its alignment, by the
 * forward recursion in log space, one `scan` over time. The backward recursion is the scan's
 * gradient.
 */
import {
  broadcastTo,
  checkOptions,
  checkTensor,
  concat,
  type Dim,
  DtypeError,
  full,
  GraphError,
  inFloat32,
  iota,
  isFloat,
  isInteger,
  logAddExp,
  mulDim,
  type OptionNames,
  printShape,
  ShapeError,
  sameShape,
  scan,
  select,
  sliceAxis,
  stack,
  type Tensor,
  takeAlongAxis,
} from "@kiln-ml/ir";
import { type Reduction, reduce } from "./reduction.ts";

export interface CtcOptions {
  /**
   * "mean" by default: each loss by the length of its target (at least 1), then the mean over
   * samples.
   */
  readonly reduction?: Reduction;
  /** The class that stands for no label, default 0. */
  readonly blank?: number;
  /** Steps of each sample, i32[N]; all of T by default. */
  readonly inputLengths?: Tensor;
  /** Labels of each sample, i32[N]; all of S by default. */
  readonly targetLengths?: Tensor;
  /**
   * Gives 0 for samples whose target does not fit into their steps, whose loss is infinite; default
   * false.
   */
  readonly zeroInfinity?: boolean;
}

const ctcOptions: OptionNames<CtcOptions> = {
  reduction: 1,
  blank: 1,
  inputLengths: 1,
  targetLengths: 1,
  zeroInfinity: 1,
};

/**
 * −ln Σ_π Πₜ p[t, πₜ] over all alignments π that become the target when repeats are merged and
 * blanks dropped.
 *
 * logProbs: float[T, N, C], log-probabilities (after `logSoftmax`); targets: int[N, S], any values
 * past a sample's length → float[], or float[N] without reduction. A target that does not fit has
 * loss ∞ and gradient 0. Throws ShapeError where shapes do not fit, DtypeError for other dtypes,
 * GraphError for a blank that is no class. Graves et al. 2006, eq. 5–8;
 * torch.nn.functional.ctc_loss.
 *
 * @example
 *   const logProbs = zeros([4, 1, 3]).logSoftmax(-1); // T, N and C; the blank is class 0
 *   const targets = tensor([[1, 2]], { dtype: "i32" });
 *   nn.ctc(logProbs, targets) // 0.8432; −ln(15/3⁴)/2, as 15 of all paths read [1, 2]
 */
export function ctc(logProbs: Tensor, targets: Tensor, options: CtcOptions = {}): Tensor {
  const {
    reduction = "mean",
    blank = 0,
    zeroInfinity = false,
  } = checkOptions("ctc", options, ctcOptions);
  checkCtc(logProbs, targets, blank, options);
  return inFloat32([logProbs], (logp) => {
    const labels = extended(targets, blank);
    const alpha = forward(logp, labels, options.inputLengths);
    const [n, s] = targets.shape as [Dim, Dim];
    const given = options.targetLengths?.convert("i32");
    const lengths = given ?? sizes([n], s, targets);
    const losses = likelihood(alpha, lengths, zeroInfinity);
    if (reduction !== "mean") return reduce(losses, reduction);
    return losses.div(lengths.maximum(1).convert(losses.dtype)).mean();
  });
}

/** `size` for each sample, i32. */
function sizes(shape: readonly Dim[], size: Dim, like: Tensor): Tensor {
  const ones = full([...shape, size], 1, "i32");
  return size === 0 ? full(shape, 0, "i32") : ones.sum(like.rank - 1);
}

function checkCtc(logp: Tensor, targets: Tensor, blank: number, options: CtcOptions): void {
  for (const t of [logp, targets]) checkTensor("ctc", t);
  if (!isFloat(logp.dtype))
    throw new DtypeError(`ctc: log-probabilities must be floating, got ${logp.dtype}`);
  if (!isInteger(targets.dtype))
    throw new DtypeError(`ctc: targets must be integers, got ${targets.dtype}`);
  if (logp.rank !== 3 || targets.rank !== 2)
    throw new ShapeError(
      `ctc: needs log-probabilities [T,N,C] and targets [N,S], got ${printShape(logp.shape)} and ${printShape(targets.shape)}\n  transpose([1, 0, 2]) brings [N,T,C] into order`,
    );
  const [, n, classes] = logp.shape as [Dim, Dim, Dim];
  if (!sameShape([n], [targets.shape[0]!]))
    throw new ShapeError(
      `ctc: samples differ: log-probabilities ${printShape(logp.shape)}, targets ${printShape(targets.shape)}\n  the second axis of the one is the first of the other`,
    );
  if (!Number.isInteger(blank) || blank < 0 || (typeof classes === "number" && blank >= classes))
    throw new GraphError(
      `ctc: blank must be a class of ${printShape([classes])}, got ${blank}\n  leave it out for 0`,
    );
  for (const what of ["inputLengths", "targetLengths"] as const) {
    const lengths = options[what];
    if (lengths === undefined) continue;
    checkTensor("ctc", lengths);
    if (!isInteger(lengths.dtype))
      throw new DtypeError(`ctc: ${what} must be integers, got ${lengths.dtype}`);
    if (!sameShape(lengths.shape, [n]))
      throw new ShapeError(
        `ctc: ${what} must be one a sample: ${printShape(lengths.shape)} for ${printShape([n])}`,
      );
  }
}

/** Labels with blanks before, between and after them: i32[N, 2S + 1]. */
function extended(targets: Tensor, blank: number): Tensor {
  const [n, s] = targets.shape as [Dim, Dim];
  const blanks = full([n, s], blank, "i32");
  const pairs = stack([blanks, targets.convert("i32")], 2).reshape([n, mulDim(s, 2)]);
  return concat([pairs, full([n, 1], blank, "i32")], 1);
}

/** x[N, L] and itself one and two places later, filled with `value`. */
function shifted(x: Tensor, value: number): [Tensor, Tensor] {
  const [n, length] = x.shape as [Dim, Dim];
  const wide = concat([full([n, 2], value, x.dtype), x], 1);
  const by = (k: number): Tensor =>
    sliceAxis(sliceAxis(wide, 1, 2 - k), 1, 0, length).reshape([n, length]);
  return [by(1), by(2)];
}

/**
 * ln of the sum over alignments of all steps that end in each place of the labels, [N, 2S + 1].
 * Before the first step all is at the first blank, from where the first step reaches it and the
 * first label, as it should.
 */
function forward(logp: Tensor, labels: Tensor, lengths: Tensor | undefined): Tensor {
  const [steps, n] = logp.shape as [Dim, Dim, Dim];
  const length = labels.shape[1]!;
  const shape = [n, length];
  const emitted = takeAlongAxis(logp, broadcastTo(labels, [steps, n, length]), 2);
  const place = iota(shape, 1, "i32");
  // A blank between two labels may be left out unless they are equal.
  const skips = place
    .rem(2)
    .equal(1)
    .and(labels.notEqual(shifted(labels, -1)[1]));
  const start = select(place.equal(0), full(shape, 0, logp.dtype), -Infinity);
  const { carry } = scan([start], [emitted], ([alpha], [e], step) => {
    const [one, two] = shifted(alpha!, -Infinity);
    const reached = logAddExp(logAddExp(alpha!, one), select(skips, two, -Infinity)).add(e!);
    const next = lengths
      ? select(lengths.convert("i32").greater(step).expandDims(1), reached, alpha!)
      : reached;
    return { carry: [next], ys: [] };
  });
  return carry[0]!;
}

/**
 * −ln of what ends in the last label or the blank after it; ∞ or 0, without gradient, where nothing
 * does.
 */
function likelihood(alpha: Tensor, lengths: Tensor, zeroInfinity: boolean): Tensor {
  const place = iota(alpha.shape, 1, "i32");
  const last = lengths.mul(2).expandDims(1);
  const ends = select(place.equal(last).or(place.equal(last.sub(1))), alpha, -Infinity);
  const possible = ends.max(1).greater(-Infinity);
  const sum = select(possible.expandDims(1), ends, 0).logSumExp(1);
  return select(possible, sum.neg(), zeroInfinity ? 0 : Infinity);
}
