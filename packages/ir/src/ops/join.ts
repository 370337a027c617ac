/**
 * Concat, and the functions around it: stack, split. Operands must agree in dtype and in every
 * other axis; nothing is broadcast.
 */

import type { NodeOf } from "../attributes.ts";
import { addDim, type Dim, isNonNegative, printDim, sameDim, subDim } from "../dim.ts";
import { GraphError, ShapeError } from "../errors.ts";
import { checkExtentKind, checkExtents, checkList } from "../kind.ts";
import type { Tensor } from "../node.ts";
import { type Condition, defineOp, type Piece } from "../op.ts";
import { checkAxis, exactQuotient, printShape } from "../shape.ts";
import { unequal } from "../unequal.ts";
import { apply, checkSameDtype, checkTensor, metFloats } from "./apply.ts";
import { expandDims } from "./reshape.ts";
import { sliceAxis } from "./slice.ts";

defineOp({
  name: "concat",
  family: "movement",
  infer(operands, attrs) {
    if (operands.length === 0)
      throw new GraphError("concat: no operands\n  pass one tensor or more");
    const first = operands[0]!;
    const axis = checkAxis("concat", attrs.axis as number, first.rank);
    checkSameDtype("concat", operands);
    for (const t of operands) {
      const off = t.shape.findIndex((d, i) => i !== axis && !sameDim(d, first.shape[i] ?? 0));
      if (t.rank !== first.rank || off >= 0)
        throw unequal(
          `concat: shapes differ off axis ${axis}: ${printShape(first.shape)} and ${printShape(t.shape)}\n  make all other axes equal, or name another axis`,
          first.shape[off] ?? first.rank,
          t.shape[off] ?? t.rank,
        );
    }
    const extent = operands.reduce<Dim>((sum, t) => addDim(sum, t.shape[axis]!), 0);
    return { dtype: first.dtype, shape: first.shape.map((d, i) => (i === axis ? extent : d)) };
  },
  vjp(g, y, ...operands) {
    const axis = y.attrs.axis;
    let start: Dim = 0;
    return operands.map((t) => {
      const from = start;
      start = addDim(start, t.shape[axis]!);
      return sliceAxis(g, axis, from, start);
    });
  },
  pieces: (node, coords) => concatPieces(node, coords),
});

/** Each operand up to its end; what came before has been taken by the pieces before it. */
function concatPieces(node: NodeOf<"concat">, coords: readonly Dim[]): Piece[] {
  const { axis } = node.attrs;
  const filled = node.operands.flatMap((t, i) => (t.shape[axis] === 0 ? [] : [i]));
  const order = filled.length ? filled : [0];
  let start: Dim = 0;
  return order.map((operand, n) => {
    const extent = node.operands[operand]!.shape[axis]!;
    const c = subDim(coords[axis]!, start);
    const left = subDim(subDim(extent, 1), c);
    start = addDim(start, extent);
    const bounded = n < order.length - 1 && !isNonNegative(left);
    const when: Condition[] = bounded ? [{ value: left, test: "nonnegative" }] : [];
    return { operand, coords: coords.map((v, k) => (k === axis ? c : v)), when };
  });
}

/**
 * Puts tensors one after the other along an axis. They agree in dtype and in all other extents.
 * `torch.cat`, `numpy.concatenate`.
 *
 * @param xs One tensor or more.
 * @param axis The axis, negative ones from the end; the first by default.
 * @example
 *   concat([tensor([[1], [2]]), tensor([[3], [4]])], 1) // [[1, 3], [2, 4]]
 */
export function concat(xs: readonly Tensor[], axis = 0): Tensor {
  checkTensors("concat", xs);
  const first = xs[0];
  if (!first) throw new GraphError("concat: no operands\n  pass one tensor or more");
  const a = checkAxis("concat", axis, first.rank);
  return apply("concat", metFloats(xs), { axis: a });
}

/**
 * Puts tensors of one shape side by side along a new axis. `torch.stack`.
 *
 * @param xs One tensor or more, of one shape.
 * @param axis Where the new axis stands in the result; first by default.
 * @example
 *   stack([tensor([1, 2]), tensor([3, 4])]) // [[1, 2], [3, 4]]
 *   stack([tensor([1, 2]), tensor([3, 4])], 1) // [[1, 3], [2, 4]]
 */
export function stack(xs: readonly Tensor[], axis = 0): Tensor {
  checkTensors("stack", xs);
  return concat(
    xs.map((x) => expandDims(x, axis)),
    xs[0] && axis < 0 ? axis + xs[0].rank + 1 : axis,
  );
}

function checkTensors(op: string, xs: unknown): void {
  checkList(op, "operands", xs);
  for (const x of xs as readonly unknown[]) checkTensor(op, x);
}

/**
 * Cuts an axis into `parts` equal pieces, or into pieces of the given extents. `torch.split`.
 *
 * @param x The tensor.
 * @param axis The axis, negative ones from the end; the first by default.
 * @example
 *   split(tensor([1, 2, 3, 4]), 2) // [[1, 2], [3, 4]]
 *   split(tensor([1, 2, 3, 4]), [1, 3]) // [[1], [2, 3, 4]]
 */
export function split(x: Tensor, parts: number | readonly Dim[], axis = 0): Tensor[] {
  checkTensor("split", x);
  if (typeof parts === "number") checkExtentKind("split", "parts", parts);
  else checkExtents("split", "parts", parts);
  const a = checkAxis("split", axis, x.rank);
  const extent = x.shape[a]!;
  const each = typeof parts === "number" ? exactQuotient(extent, parts) : 0;
  if (each === undefined)
    throw new ShapeError(
      `split: axis ${a} of ${printShape(x.shape)} does not divide into ${String(parts)} parts\n  give the extents of the parts as a list`,
    );
  const extents = typeof parts === "number" ? new Array<Dim>(parts).fill(each) : parts;
  const total = extents.reduce<Dim>(addDim, 0);
  if (!sameDim(total, extent))
    throw new ShapeError(
      `split: extents [${extents.map(printDim).join(",")}] sum to ${printDim(total)}, axis ${a} of ${printShape(x.shape)} has ${printDim(extent)}\n  give extents whose sum is that of the axis`,
    );
  let start: Dim = 0;
  return extents.map((d) => {
    const from = start;
    start = addDim(start, d);
    return sliceAxis(x, a, from, start);
  });
}
