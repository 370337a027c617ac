/**
 * Transpose, broadcastInDim and reverse: one operand, every result element is one of its elements.
 * The other movement ops have their own files and are re-exported here.
 */

import { type Dim, printDim, sameDim, subDim } from "../dim.ts";
import { GraphError, ShapeError } from "../errors.ts";
import { checkExtents, checkList } from "../kind.ts";
import type { Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import { checkAxes, checkAxis, checkShape, printShape, type Shape, sameShape } from "../shape.ts";
import { heldValue } from "../trace.ts";
import {
  apply,
  checkCount,
  checkTensor,
  isStretched,
  numbersOf,
  otherAxes,
  range,
} from "./apply.ts";
import { reshape } from "./reshape.ts";

// Only functions of a tensor: all of them become methods.
export { split } from "./join.ts";
export { expandDims, flatten, reshape, squeeze } from "./reshape.ts";
export { pad, slice, sliceAxis } from "./slice.ts";
export { foldWindows, windows } from "./windows.ts";

defineOp({
  name: "transpose",
  family: "movement",
  infer(operands, attrs) {
    checkCount("transpose", operands, 1);
    const x = operands[0]!;
    const perm = numbersOf(attrs.perm);
    if (perm.length !== x.rank || range(x.rank).some((i) => !perm.includes(i)))
      throw new ShapeError(
        `transpose: [${perm.join(",")}] is not a permutation of the axes of ${printShape(x.shape)}`,
      );
    return { dtype: x.dtype, shape: perm.map((p) => x.shape[p]!) };
  },
  vjp: (g, y) => [transpose(g, unpermute(y.attrs.perm, range(g.rank)))],
  pieces: (node, coords) => [{ operand: 0, coords: unpermute(node.attrs.perm, coords), when: [] }],
});

/** out[perm[i]] = of[i]. */
function unpermute<T>(perm: readonly number[], of: readonly T[]): T[] {
  const out = new Array<T>(of.length);
  for (const [i, p] of perm.entries()) out[p] = of[i]!;
  return out;
}

/**
 * Reorders axes: axis i of the result is axis perm[i] of x. Without `perm`, reverses them.
 * `torch.permute`, `numpy.transpose`.
 *
 * @param x The tensor.
 * @example
 *   transpose(tensor([[1, 2], [3, 4]])) // [[1, 3], [2, 4]]
 *   transpose(ones([2, 3, 4]), [1, 2, 0]).shape // [3, 4, 2]
 */
export function transpose(x: Tensor, perm?: readonly number[]): Tensor {
  checkTensor("transpose", x);
  if (perm !== undefined) checkList("transpose", "perm", perm);
  const order = (perm ?? range(x.rank).reverse()).map((p) => checkAxis("transpose", p, x.rank));
  return apply("transpose", [x], { perm: order });
}

/**
 * Exchanges two axes. `torch.swapaxes`.
 *
 * @param x The tensor.
 * @param a An axis; negative ones count from the end.
 * @param b The other axis.
 * @example
 *   swapAxes(ones([2, 3, 4]), 0, -1).shape // [4, 3, 2]
 */
export function swapAxes(x: Tensor, a: number, b: number): Tensor {
  checkTensor("swapAxes", x);
  const [i, j] = [checkAxis("swapAxes", a, x.rank), checkAxis("swapAxes", b, x.rank)];
  return transpose(
    x,
    range(x.rank).map((k) => (k === i ? j : k === j ? i : k)),
  );
}

defineOp({
  name: "broadcastInDim",
  family: "movement",
  infer(operands, attrs, type) {
    checkCount("broadcastInDim", operands, 1);
    const x = operands[0]!;
    const dims = numbersOf(attrs.dims);
    if (!type) throw new GraphError("broadcastInDim: the target shape is missing");
    checkShape("broadcastInDim", type.shape);
    if (dims.length !== x.rank || new Set(dims).size !== dims.length)
      throw new ShapeError(
        `broadcastInDim: dims [${dims.join(",")}] do not name one axis for each of ${printShape(x.shape)}`,
      );
    for (const [k, d] of dims.entries()) {
      checkAxis("broadcastInDim", d, type.shape.length);
      if (x.shape[k] !== 1 && !sameDim(x.shape[k]!, type.shape[d]!))
        throw new ShapeError(
          `broadcastInDim: axis ${k} of ${printShape(x.shape)} has ${printDim(x.shape[k]!)}, axis ${d} of ${printShape(type.shape)} has ${printDim(type.shape[d]!)}`,
        );
    }
    return { dtype: x.dtype, shape: type.shape };
  },
  vjp: (g, y, x) => [unbroadcast(g, x!.shape, y.attrs.dims)],
  pieces(node, coords) {
    const from = node.operands[0]!.shape;
    const at = node.attrs.dims.map((d, k): Dim => (from[k] === 1 ? 0 : coords[d]!));
    return [{ operand: 0, coords: at, when: [] }];
  },
});

/** Sums g over the axes that a broadcast added or stretched, and puts the others back in order. */
function unbroadcast(g: Tensor, shape: Shape, dims: readonly number[]): Tensor {
  const kept = range(shape.length).filter((k) => !isStretched(shape[k]!, g.shape[dims[k]!]!));
  const axes = otherAxes(
    g.rank,
    kept.map((k) => dims[k]!),
  );
  const sum = axes.length ? apply("reduceSum", [g], { axes }) : g;
  const order = kept.map((k) => kept.filter((m) => dims[m]! < dims[k]!).length);
  return reshape(order.every((p, i) => p === i) ? sum : transpose(sum, order), shape);
}

/**
 * Repeats x to `shape`: axis k of x becomes axis dims[k]; extents 1 stretch, axes not named repeat.
 */
export function broadcastInDim(x: Tensor, shape: Shape, dims: readonly number[]): Tensor {
  checkTensor("broadcastInDim", x);
  checkExtents("broadcastInDim", "the shape", shape);
  checkList("broadcastInDim", "dims", dims);
  if (sameShape(x.shape, shape) && dims.length === x.rank && dims.every((d, i) => d === i))
    return heldValue(x);
  return apply("broadcastInDim", [x], { dims: [...dims] }, { dtype: x.dtype, shape });
}

defineOp({
  name: "reverse",
  family: "movement",
  infer(operands, attrs) {
    checkCount("reverse", operands, 1);
    checkAxes("reverse", numbersOf(attrs.axes), operands[0]!.rank);
    return operands[0]!;
  },
  vjp: (g, y) => [reverse(g, y.attrs.axes)],
  pieces(node, coords) {
    const axes = node.attrs.axes;
    const at = coords.map((c, i) => (axes.includes(i) ? subDim(subDim(node.shape[i]!, 1), c) : c));
    return [{ operand: 0, coords: at, when: [] }];
  },
});

/**
 * Turns the order of the elements around along the given axes (all by default). `torch.flip`.
 *
 * @param x The tensor.
 * @param axes One axis or a list, negative ones from the end; all by default.
 * @example
 *   reverse(tensor([[1, 2], [3, 4]])) // [[4, 3], [2, 1]]
 *   reverse(tensor([[1, 2], [3, 4]]), 1) // [[2, 1], [4, 3]]
 */
export function reverse(x: Tensor, axes?: number | readonly number[]): Tensor {
  checkTensor("reverse", x);
  return apply("reverse", [x], { axes: checkAxes("reverse", axes, x.rank) });
}
