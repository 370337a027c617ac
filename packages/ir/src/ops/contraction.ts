/**
 * DotGeneral: sums of products over paired axes, with batch axes; and matmul on top of it. `pieces`
 * gives the two factors: coordinates of the result, then one variable for each contracted axis.
 */

import { type Dim, printDim, sameDim } from "../dim.ts";
import { promote } from "../dtype.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../errors.ts";
import { checkList, checkRecord } from "../kind.ts";
import type { Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import { productDtype } from "../precision.ts";
import { broadcastShapes, checkAxis, printShape, type Shape } from "../shape.ts";
import { unequal } from "../unequal.ts";
import {
  apply,
  asFactor,
  checkCount,
  checkSameDtype,
  checkTensor,
  factorDtype,
  inDtype,
  range,
} from "./apply.ts";
import { type DotAxes, dotAxes, factorCoords, lhsFree, rhsFree } from "./loops.ts";
import { broadcastInDim, reshape, transpose } from "./movement.ts";

function checkPairs(lhs: Tensor, rhs: Tensor, d: DotAxes): void {
  for (const [side, t, axes] of [
    ["lhs", lhs, [...d.lhsBatch, ...d.lhsContract]],
    ["rhs", rhs, [...d.rhsBatch, ...d.rhsContract]],
  ] as const) {
    for (const a of axes) checkAxis("dotGeneral", a, t.rank);
    if (new Set(axes).size !== axes.length)
      throw new ShapeError(`dotGeneral: an axis of ${side} is named twice: [${axes.join(",")}]`);
  }
  for (const [kind, a, b] of [
    ["batch", d.lhsBatch, d.rhsBatch],
    ["contracted", d.lhsContract, d.rhsContract],
  ] as const) {
    if (a.length !== b.length)
      throw new ShapeError(
        `dotGeneral: ${kind} axes are not paired: lhs [${a.join(",")}], rhs [${b.join(",")}]`,
      );
    for (const [i, x] of a.entries())
      if (!sameDim(lhs.shape[x]!, rhs.shape[b[i]!]!))
        throw unequal(
          `dotGeneral: ${kind} extents differ: lhs ${printShape(lhs.shape)} has ${printDim(lhs.shape[x]!)} at axis ${x}, rhs ${printShape(rhs.shape)} has ${printDim(rhs.shape[b[i]!]!)} at axis ${b[i]}`,
          lhs.shape[x]!,
          rhs.shape[b[i]!]!,
        );
  }
}

defineOp({
  name: "dotGeneral",
  family: "contraction",
  infer(operands, attrs) {
    checkCount("dotGeneral", operands, 2);
    const [lhs, rhs] = operands as [Tensor, Tensor];
    const d = dotAxes(attrs);
    checkSameDtype("dotGeneral", operands);
    if (lhs.dtype === "bool")
      throw new DtypeError(
        "dotGeneral: operands are bool, not a number\n  convert them to f32 or i32 first",
      );
    checkPairs(lhs, rhs, d);
    const pick = (t: Tensor, axes: readonly number[]) => axes.map((a) => t.shape[a]!);
    const free = [...pick(lhs, lhsFree(lhs, d)), ...pick(rhs, rhsFree(rhs, d))];
    return { dtype: lhs.dtype, shape: [...pick(lhs, d.lhsBatch), ...free] };
  },
  vjp: (g, y, lhs, rhs) => dotVjp(g, y.attrs, lhs!, rhs!),
  pieces(node, coords) {
    const [lhs, rhs] = node.operands as [Tensor, Tensor];
    const [out, k] = [coords.slice(0, node.rank), coords.slice(node.rank)];
    const [a, b] = factorCoords<Dim>(lhs.rank, rhs.rank, node.attrs, out, k);
    return [
      { operand: 0, coords: a, when: [] },
      { operand: 1, coords: b, when: [] },
    ];
  },
});

/** One way to write a gradient: a product, and which axis of the operand each of its axes is. */
interface Product {
  readonly lhs: Tensor;
  readonly rhs: Tensor;
  readonly axes: DotAxes;
  readonly order: readonly number[];
}

/**
 * Builds the product whose axes are in order already, if there is one; else the first, transposed.
 */
function ordered(...ways: readonly [Product, ...Product[]]): Tensor {
  const inPlace = (p: Product) => p.order.every((axis, i) => axis === i);
  const { lhs, rhs, axes, order } = ways.find(inPlace) ?? ways[0];
  const product = dotGeneral(lhs, rhs, axes);
  if (order.every((axis, i) => axis === i)) return product;
  return transpose(
    product,
    order.map((_, i) => order.indexOf(i)),
  );
}

/** The axes of one operand. */
interface Roles {
  readonly batch: readonly number[];
  readonly contract: readonly number[];
  readonly free: readonly number[];
}

/**
 * The gradient of one operand, `own`, is g·other over the free axes of the other, and both ways
 * round: g·other has the axes batch, free, contracted (as the other orders them), other·g batch,
 * contracted, free. `own` and `from` are the axes of the operand and of the other, `gFree` those
 * the other gave g.
 */
function operandGradient(
  g: Tensor,
  other: Tensor,
  own: Roles,
  from: Roles,
  gFree: readonly number[],
): Tensor {
  const batch = range(own.batch.length);
  const contracted = [...from.contract]
    .sort((a, b) => a - b)
    .map((a) => own.contract[from.contract.indexOf(a)]!);
  const gFirst = {
    lhsBatch: batch,
    rhsBatch: from.batch,
    lhsContract: gFree,
    rhsContract: from.free,
  };
  const gLast = {
    lhsBatch: from.batch,
    rhsBatch: batch,
    lhsContract: from.free,
    rhsContract: gFree,
  };
  return ordered(
    { lhs: g, rhs: other, axes: gFirst, order: [...own.batch, ...own.free, ...contracted] },
    { lhs: other, rhs: g, axes: gLast, order: [...own.batch, ...contracted, ...own.free] },
  );
}

function dotVjp(g: Tensor, d: DotAxes, lhs: Tensor, rhs: Tensor): readonly Tensor[] {
  const l = { batch: d.lhsBatch, contract: d.lhsContract, free: lhsFree(lhs, d) };
  const r = { batch: d.rhsBatch, contract: d.rhsContract, free: rhsFree(rhs, d) };
  const n = l.batch.length;
  const fromLhs = l.free.map((_, i) => n + i);
  const fromRhs = r.free.map((_, i) => n + l.free.length + i);
  return [operandGradient(g, rhs, l, r, fromRhs), operandGradient(g, lhs, r, l, fromLhs)];
}

const dotOptions: OptionNames<DotAxes> = {
  lhsBatch: 1,
  rhsBatch: 1,
  lhsContract: 1,
  rhsContract: 1,
};

/**
 * Σ over the contracted axes of lhs·rhs, for each batch and free coordinate; of i8 and u8 in i32.
 *
 * Result: batch ++ free axes of lhs ++ free axes of rhs. Throws ShapeError unless the named axes
 * pair up. `jax.lax.dot_general`, `torch.tensordot`.
 *
 * @param lhs The left operand.
 * @param rhs The right operand, of the same dtype.
 * @param axes `lhsBatch`, `rhsBatch`, `lhsContract` and `rhsContract`: lists of axes that pair up.
 * @example
 *   const [x, y] = [tensor([[1, 2], [3, 4]]), tensor([[1, 0], [0, 2]])];
 *   dotGeneral(x, y, { lhsContract: [1], rhsContract: [0] }) // [[1, 4], [3, 8]]; x·y
 *   const rows = { lhsBatch: [0], rhsBatch: [0], lhsContract: [1], rhsContract: [1] };
 *   dotGeneral(x, y, rows) // [1, 8]; row by row
 */
export function dotGeneral(lhs: Tensor, rhs: Tensor, axes: Partial<DotAxes>): Tensor {
  for (const t of [lhs, rhs]) checkTensor("dotGeneral", t);
  checkRecord("dotGeneral", axes, "axes");
  for (const list of Object.values(checkOptions<Partial<DotAxes>>("dotGeneral", axes, dotOptions)))
    if (list !== undefined) checkList("dotGeneral", "axes", list);
  const named = (list: readonly number[] | undefined, t: Tensor) =>
    (list ?? []).map((a) => checkAxis("dotGeneral", a, t.rank));
  return apply("dotGeneral", [lhs, rhs].map(asFactor), {
    lhsBatch: named(axes.lhsBatch, lhs),
    rhsBatch: named(axes.rhsBatch, rhs),
    lhsContract: named(axes.lhsContract, lhs),
    rhsContract: named(axes.rhsContract, rhs),
  });
}

const converted = (t: Tensor, like: Tensor): Tensor =>
  inDtype(t, factorDtype(promote(productDtype(t.dtype), productDtype(like.dtype))));

/** Repeats the leading axes of a stack of matrices to `batch`. */
function broadcastBatch(t: Tensor, batch: Shape): Tensor {
  const shape = [...batch, ...t.shape.slice(-2)];
  if (shape.length === t.rank && shape.every((d, i) => sameDim(d, t.shape[i]!))) return t;
  return broadcastInDim(
    t,
    shape,
    range(t.rank).map((i) => shape.length - t.rank + i),
  );
}

/**
 * Matrix product over the last two axes, with NumPy's rules: leading axes broadcast, a vector on
 * the left is a row and one on the right a column, and its axis is gone from the result. Dtypes
 * promote; products of i8 and u8 are i32.
 *
 * a[…, m, k], b[…, k, n] → [..., m, n]. Throws ShapeError if the inner extents differ or an operand
 * is a scalar. `torch.matmul`, `numpy.matmul`.
 *
 * @param a […, m, k], or a row [k].
 * @param b […, k, n], or a column [k].
 * @example
 *   matmul(tensor([[1, 2], [3, 4]]), tensor([[5], [6]])) // [[17], [39]]
 *   matmul(tensor([[1, 2], [3, 4]]), tensor([5, 6])) // [17, 39]; a vector is a column
 */
export function matmul(a: Tensor, b: Tensor): Tensor {
  for (const x of [a, b]) checkTensor("matmul", x);
  if (a.rank === 0 || b.rank === 0)
    throw new ShapeError(
      `matmul: operands are ${printShape(a.shape)} and ${printShape(b.shape)}, a scalar has no matrix product`,
    );
  const inner = b.shape[Math.max(0, b.rank - 2)]!;
  if (!sameDim(a.shape[a.rank - 1]!, inner))
    throw unequal(
      `matmul: inner extents differ: lhs ${printShape(a.shape)} has ${printDim(a.shape[a.rank - 1]!)}, rhs ${printShape(b.shape)} has ${printDim(inner)}\n  the last axis of lhs and the last but one of rhs must be equal: swapAxes(-1, -2) or reshape one`,
      a.shape[a.rank - 1]!,
      inner,
    );
  const [x, y] = [converted(a, b), converted(b, a)];
  if (y.rank <= 2) return dotGeneral(x, y, { lhsContract: [-1], rhsContract: [0] });
  const row = x.rank === 1 ? reshape(x, [1, ...x.shape]) : x;
  const batch = broadcastShapes("matmul", row.shape.slice(0, -2), y.shape.slice(0, -2));
  const axes = range(batch.length);
  const product = dotGeneral(broadcastBatch(row, batch), broadcastBatch(y, batch), {
    lhsBatch: axes,
    rhsBatch: axes,
    lhsContract: [-1],
    rhsContract: [-2],
  });
  return x.rank === 1 ? reshape(product, [...batch, product.shape[product.rank - 1]!]) : product;
}
