/**
 * What metrics share: how many elements there are, classes of scores, and checks that scores and targets fit.
 */
import {
  checkTensor,
  DtypeError,
  dimValue,
  dropAxes,
  GraphError,
  isInteger,
  isStatic,
  oneHot,
  printShape,
  ShapeError,
  sameShape,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";

/** i32[]: the elements of `t`. */
export const countOf = (t: Tensor): Tensor => dimValue(sizeOf(t.shape));

/** The axis that `axis` means for `t`. */
const axisOf = (t: Tensor, axis: number): number => (axis < 0 ? t.rank + axis : axis);

/** Throws unless `target` has one class for each set of scores along `axis`. */
export function checkClasses(op: string, scores: Tensor, target: Tensor, axis = -1): void {
  for (const t of [scores, target]) checkTensor(op, t);
  if (!isInteger(target.dtype))
    throw new DtypeError(
      `${op}: target must be integer classes, got ${target.dtype}\n  pass an Int32Array, or argMax(-1) of one-hot rows`,
    );
  const expected = scores.rank ? dropAxes(scores.shape, [axisOf(scores, axis)]) : undefined;
  if (!expected || !sameShape(expected, target.shape))
    throw new ShapeError(
      `${op}: targets do not fit: scores ${printShape(scores.shape)} need ${expected ? printShape(expected) : "an axis of classes"}, got ${printShape(target.shape)}\n  give one class for each row of scores`,
    );
}

/** The number of classes that scores have along `axis`. */
export function classCount(op: string, scores: Tensor, axis = -1): number {
  const extent = scores.shape[axisOf(scores, axis)];
  if (extent !== undefined && isStatic(extent)) return extent;
  throw new ShapeError(
    `${op}: the axis of classes of ${printShape(scores.shape)} is not a known size`,
  );
}

export function checkSameShape(op: string, output: Tensor, target: Tensor): void {
  for (const t of [output, target]) checkTensor(op, t);
  if (!sameShape(output.shape, target.shape))
    throw new ShapeError(
      `${op}: shapes differ: output ${printShape(output.shape)}, target ${printShape(target.shape)}\n  reshape one of them: they are never broadcast here`,
    );
}

export function checkChoice<T extends string>(
  op: string,
  what: string,
  value: T,
  known: readonly T[],
): void {
  if (!known.includes(value))
    throw new GraphError(`${op}: ${what} must be ${known.join(", ")}, got ${String(value)}`);
}

/** Class of each row, and of the target, as rows of zeros and a one: f32[M, C] each, exact in sums up to 2²⁴. */
export function hotRows(op: string, scores: Tensor, target: Tensor, axis = -1) {
  checkClasses(op, scores, target, axis);
  const count = classCount(op, scores, axis);
  const rows = (classes: Tensor): Tensor => oneHot(classes.convert("i32").reshape([-1]), count);
  return { guessed: rows(scores.argMax(axis)), actual: rows(target), count };
}
