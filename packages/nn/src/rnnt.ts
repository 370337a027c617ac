/**
 * The loss of recurrent transducers: the likelihood of a sequence of labels when each step gives
 * any number of them. Over time one `scan`; along the labels the recursion is a cumulative sum in
 * log space. The backward recursion is the gradient of both.
 */
import {
  broadcastTo,
  checkOptions,
  checkTensor,
  concat,
  cumsum,
  type Dim,
  DtypeError,
  full,
  GraphError,
  inFloat32,
  isFloat,
  isInteger,
  logCumSumExp,
  logSoftmax,
  type OptionNames,
  printShape,
  ShapeError,
  sameDim,
  sameShape,
  scan,
  sliceAxis,
  subDim,
  type Tensor,
  takeAlongAxis,
} from "@kiln-ml/ir";
import { type Reduction, reduce } from "./reduction.ts";

export interface RnntOptions {
  /** "mean" over samples by default. */
  readonly reduction?: Reduction;
  /** The class that goes on to the next step; −1, the last, by default. */
  readonly blank?: number;
  /** Steps of each sample, i32[N], from 1; all of T by default. */
  readonly inputLengths?: Tensor;
  /** Labels of each sample, i32[N]; all of U by default. */
  readonly targetLengths?: Tensor;
  /** Takes logSoftmax of the logits; true by default. Without it they are log-probabilities. */
  readonly softmax?: boolean;
}

const rnntOptions: OptionNames<RnntOptions> = {
  reduction: 1,
  blank: 1,
  inputLengths: 1,
  targetLengths: 1,
  softmax: 1,
};

/**
 * −ln Σ over all ways through the lattice of steps and labels: at (t, u) a blank goes to (t + 1,
 * u), the next label to (t, u + 1).
 *
 * logits: float[N, T, U + 1, C]; targets: int[N, U], any values past a sample's length → float[],
 * or float[N] without reduction. T, U and N may be symbols. Throws ShapeError where shapes do not
 * fit, DtypeError for other dtypes, GraphError for a blank that is no class. Graves 2012, eq.
 * 16–18; torchaudio.functional.rnnt_loss. `torchaudio.functional.rnnt_loss`.
 *
 * @example
 *   const logits = zeros([1, 2, 2, 2]); // N, T, U + 1 and C; the blank is class 0
 *   nn.rnnt(logits, tensor([[1]], { dtype: "i32" })) // ln 4; two paths of three steps of ½
 */
export function rnnt(logits: Tensor, targets: Tensor, options: RnntOptions = {}): Tensor {
  const { reduction = "mean", blank = -1, softmax = true } = checkOptions("rnnt", options, rnntOptions); // biome-ignore format: one line
  checkRnnt(logits, targets, blank, options);
  return inFloat32([logits], (given) => {
    const logp = softmax ? logSoftmax(given, -1) : given;
    const [n, steps, places] = logp.shape as [Dim, Dim, Dim];
    const at = blank < 0 ? (logp.shape[3] as number) + blank : blank;
    const blanks = sliceAxis(logp, 3, at, at + 1).reshape([n, steps, places]);
    const labels = broadcastTo(targets.convert("i32").expandDims(1), [n, steps, targets.shape[1]!]);
    const emits = takeAlongAxis(sliceAxis(logp, 2, 0, -1), labels.expandDims(3), 3).reshape(labels.shape); // biome-ignore format: one line
    const alpha = forward(blanks, emits);
    return reduce(ends(alpha, blanks, options).neg(), reduction);
  });
}

/**
 * ln of the sum over ways to each place, [T, N, U + 1]. Of a row, with E the sums of labels up to a
 * place and a what the blanks bring: α(u) = ln Σ_{v ≤ u} e^(a(v) + E(u) − E(v)).
 */
function forward(blanks: Tensor, emits: Tensor): Tensor {
  const [n, steps] = blanks.shape as [Dim, Dim];
  const sums = concat([full([n, steps, 1], 0, emits.dtype), cumsum(emits, 2)], 2);
  const byStep = (t: Tensor): Tensor => t.transpose([1, 0, 2]);
  const first = byStep(sliceAxis(sums, 1, 0, 1)).reshape([n, blanks.shape[2]!]);
  const later = (t: Tensor, low: Dim, high: Dim): Tensor => byStep(sliceAxis(t, 1, low, high));
  const before = later(blanks, 0, subDim(steps, 1));
  const { ys } = scan([first], [before, later(sums, 1, steps)], ([alpha], [b, e]) => {
    const next = logCumSumExp(alpha!.add(b!).sub(e!), 1).add(e!);
    return { carry: [next], ys: [next] };
  });
  return concat([first.expandDims(0), ys[0]!], 0);
}

/** α and the last blank where each sample ends: [N]. */
function ends(alpha: Tensor, blanks: Tensor, options: RnntOptions): Tensor {
  const [steps, n, places] = alpha.shape as [Dim, Dim, Dim];
  const whole = alpha.add(blanks.transpose([1, 0, 2]));
  const { inputLengths, targetLengths } = options;
  const atStep = inputLengths
    ? takeAlongAxis(
        whole,
        broadcastTo(inputLengths.convert("i32").sub(1).reshape([1, n, 1]), [1, n, places]),
        0,
      )
    : sliceAxis(whole, 0, subDim(steps, 1), steps);
  const line = atStep.reshape([n, places]);
  const end = targetLengths
    ? takeAlongAxis(line, targetLengths.convert("i32").reshape([n, 1]), 1)
    : sliceAxis(line, 1, subDim(places, 1), places);
  return end.reshape([n]);
}

function checkRnnt(logits: Tensor, targets: Tensor, blank: number, options: RnntOptions): void {
  for (const t of [logits, targets]) checkTensor("rnnt", t);
  if (!isFloat(logits.dtype))
    throw new DtypeError(`rnnt: logits must be floating, got ${logits.dtype}`);
  if (!isInteger(targets.dtype))
    throw new DtypeError(`rnnt: targets must be integers, got ${targets.dtype}`);
  const [n, , places, classes] = logits.shape as [Dim, Dim, Dim, Dim];
  if (logits.rank !== 4 || targets.rank !== 2 || !sameDim(places, plusOne(targets.shape[1]!)))
    throw new ShapeError(
      `rnnt: needs logits [N,T,U+1,C] and targets [N,U], got ${printShape(logits.shape)} and ${printShape(targets.shape)}\n  the joint network gives a place more than there are labels`,
    );
  if (!sameDim(n, targets.shape[0]!))
    throw new ShapeError(
      `rnnt: samples differ: logits ${printShape(logits.shape)}, targets ${printShape(targets.shape)}\n  both have them in the first axis`,
    );
  if (
    typeof classes !== "number" ||
    !Number.isInteger(blank) ||
    blank < -classes ||
    blank >= classes
  )
    throw new GraphError(
      `rnnt: blank must be a class of ${printShape([classes])}, got ${blank}\n  leave it out for the last`,
    );
  for (const what of ["inputLengths", "targetLengths"] as const) {
    const lengths = options[what];
    if (lengths && !isInteger(lengths.dtype))
      throw new DtypeError(`rnnt: ${what} must be integers, got ${lengths.dtype}`);
    if (lengths && !sameShape(lengths.shape, [n]))
      throw new ShapeError(
        `rnnt: ${what} must be one a sample: ${printShape(lengths.shape)} for ${printShape([n])}`,
      );
  }
}

const plusOne = (d: Dim): Dim => subDim(d, -1);
