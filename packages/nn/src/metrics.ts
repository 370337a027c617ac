/**
 * Measures of how well a model does; nothing here is for training, and no gradient flows.
 */
import {
  checkTensor,
  DtypeError,
  dropAxes,
  isInteger,
  printShape,
  ShapeError,
  sameShape,
  type Tensor,
} from "@kiln-ml/ir";

/**
 * Share of samples whose largest score is at their class.
 *
 * scores: f32[N, C] (or with other axes before C), target: i32[N] → f32[]. Of equal scores the
 * first counts. Throws ShapeError where the target does not fit, DtypeError if it holds no
 * integers. `keras.metrics.SparseCategoricalAccuracy`.
 *
 * @example
 *   nn.accuracy(tensor([[1, 9], [8, 2]]), tensor([1, 1], { dtype: "i32" })) // ½
 */
export function accuracy(scores: Tensor, target: Tensor): Tensor {
  for (const t of [scores, target]) checkTensor("accuracy", t);
  const expected = dropAxes(scores.shape, [scores.rank - 1]);
  if (!isInteger(target.dtype))
    throw new DtypeError(`accuracy: target must be integers, got ${target.dtype}`);
  if (scores.rank === 0 || !sameShape(expected, target.shape))
    throw new ShapeError(
      `accuracy: targets do not fit: scores ${printShape(scores.shape)} need ${printShape(expected)}, got ${printShape(target.shape)}\n  give one class for each row of scores; argMax(-1) of one-hot rows`,
    );
  return scores.argMax(-1).equal(target).convert("f32").mean();
}
