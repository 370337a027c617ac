/**
 * Reshape: the same elements in the same row-major order under another shape. Its index arithmetic
 * is done segment by segment, so that axes which survive keep their plain index.
 */
import {
  type Dim,
  floorDiv,
  isNonNegative,
  maxDim,
  minOfDim,
  modDim,
  printDim,
  sameDim,
  subDim,
} from "../dim.ts";
import { GraphError, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import {
  checkAxes,
  checkAxis,
  checkShape,
  inferReshape,
  offsetOf,
  printShape,
  type Shape,
  sameShape,
  sizeOf,
  stridesOf,
} from "../shape.ts";
import { heldValue } from "../trace.ts";
import { apply, checkCount, checkTensor } from "./apply.ts";

defineOp({
  name: "reshape",
  family: "movement",
  infer(operands, _attrs, type) {
    checkCount("reshape", operands, 1);
    const x = operands[0]!;
    if (!type) throw new GraphError("reshape: the target shape is missing");
    checkShape("reshape", type.shape);
    const [from, to] = [sizeOf(x.shape), sizeOf(type.shape)];
    if (!sameDim(from, to))
      throw new ShapeError(
        `reshape: element counts differ: ${printShape(x.shape)} has ${printDim(from)}, ${printShape(type.shape)} has ${printDim(to)}\n  give a shape of as many elements, or -1 for one extent`,
      );
    return { dtype: x.dtype, shape: type.shape };
  },
  vjp: (g, _y, x) => [reshape(g, x!.shape)],
  pieces(node, coords) {
    const from = node.operands[0]!.shape;
    return [{ operand: 0, coords: reshapeCoords(from, node.shape, coords), when: [] }];
  },
});

/** Axis counts of the shortest prefixes with the same number of elements, or all that is left. */
function nextSegment(from: Shape, to: Shape): [number, number] {
  for (let total = 1; total < from.length + to.length; total++)
    for (let a = Math.max(0, total - to.length); a <= Math.min(total, from.length); a++)
      if (sameDim(sizeOf(from.slice(0, a)), sizeOf(to.slice(0, total - a)))) return [a, total - a];
  return [from.length, to.length];
}

/** The coordinates in `from` of the element that is at `coords` in `to`. */
export function reshapeCoords(from: Shape, to: Shape, coords: readonly Dim[]): Dim[] {
  const out: Dim[] = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    const [a, b] = nextSegment(from.slice(i), to.slice(j));
    out.push(...decompose(from.slice(i, i + a), to.slice(j, j + b), coords.slice(j, j + b)));
    i += a;
    j += b;
  }
  return out;
}

/**
 * Linearise in `to`, then take the digits of `from`: (⌊v/stride⌋ mod extent), the first one without
 * mod.
 */
function decompose(from: Shape, to: Shape, coords: readonly Dim[]): Dim[] {
  if (from.length === 1 && from[0] === 1) return [0];
  const linear = offsetOf(to, coords);
  const strides = stridesOf(from);
  return from.map((extent, k) => {
    const q = floorDiv(linear, positive(strides[k]!));
    return k === 0 ? q : modDim(q, positive(extent));
  });
}

/** A divisor that may be 0 only where there are no elements at all. */
const positive = (d: Dim): Dim =>
  minOfDim(d) >= 1 || isNonNegative(subDim(d, 1)) ? d : maxDim(d, 1);

/**
 * The elements of x in row-major order under another shape; one extent may be −1 and is inferred.
 *
 * x[…] → [shape]. Throws ShapeError if the number of elements differs. `torch.reshape`.
 *
 * @param shape The new shape; one extent may be −1.
 * @example
 *   reshape(tensor([1, 2, 3, 4]), [2, 2]) // [[1, 2], [3, 4]]
 *   reshape(ones([4, 6]), [-1, 8]).shape // [3, 8]
 */
export function reshape(x: Tensor, shape: Shape): Tensor {
  checkTensor("reshape", x);
  const target = inferReshape("reshape", x.shape, shape);
  if (sameShape(target, x.shape)) return heldValue(x);
  return apply("reshape", [x], {}, { dtype: x.dtype, shape: target });
}

/**
 * Inserts an axis of extent 1 at `axis` of the result; −1 appends one. `torch.unsqueeze`,
 * `numpy.expand_dims`.
 *
 * @param x The tensor.
 * @example
 *   expandDims(tensor([1, 2]), 0) // [[1, 2]]
 *   expandDims(tensor([1, 2]), -1) // [[1], [2]]
 */
export function expandDims(x: Tensor, axis: number): Tensor {
  checkTensor("expandDims", x);
  const at = checkAxis("expandDims", axis, x.rank + 1);
  return reshape(x, [...x.shape.slice(0, at), 1, ...x.shape.slice(at)]);
}

/**
 * Removes the given axes, which must have extent 1; all such axes when none are given.
 * `torch.squeeze`.
 *
 * @param x The tensor.
 * @param axes One axis or a list, negative ones from the end; all by default.
 * @example
 *   squeeze(ones([1, 3, 1])).shape // [3]
 *   squeeze(ones([1, 3, 1]), 0).shape // [3, 1]
 */
export function squeeze(x: Tensor, axes?: number | readonly number[]): Tensor {
  checkTensor("squeeze", x);
  const drop =
    axes === undefined
      ? x.shape.flatMap((d, i) => (d === 1 ? [i] : []))
      : checkAxes("squeeze", axes, x.rank);
  for (const a of drop)
    if (x.shape[a] !== 1)
      throw new ShapeError(
        `squeeze: axis ${a} of ${printShape(x.shape)} has extent ${printDim(x.shape[a]!)}, not 1\n  name axes of extent 1 only, or reshape`,
      );
  return reshape(
    x,
    x.shape.filter((_, i) => !drop.includes(i)),
  );
}

/**
 * Joins the axes from `start` to `end` (included) into one. `torch.flatten`.
 *
 * @param x The tensor.
 * @example
 *   flatten(ones([2, 3, 4])).shape // [24]
 *   flatten(ones([2, 3, 4]), 1).shape // [2, 12]
 */
export function flatten(x: Tensor, start = 0, end = -1): Tensor {
  checkTensor("flatten", x);
  if (x.rank === 0) return reshape(x, [1]);
  const [a, b] = [checkAxis("flatten", start, x.rank), checkAxis("flatten", end, x.rank)];
  if (a > b)
    throw new ShapeError(`flatten: axis ${a} comes after axis ${b}\n  name the first axis first`);
  return reshape(x, [
    ...x.shape.slice(0, a),
    sizeOf(x.shape.slice(a, b + 1)),
    ...x.shape.slice(b + 1),
  ]);
}
