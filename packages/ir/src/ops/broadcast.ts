/**
 * What a user's call does before an elementwise node is built: plain numbers become constants,
 * dtypes are promoted and shapes broadcast, by inserting `convert` and `broadcastInDim` nodes. The
 * records themselves take operands of one shape and dtype only.
 */
import { DimExpr } from "../dim.ts";
import { type Dtype, isInteger, maxOf, minOf, promote, weakDtype } from "../dtype.ts";
import { DtypeError, ShapeError } from "../errors.ts";
import { checkExtents } from "../kind.ts";
import { Tensor } from "../node.ts";
import { broadcastShapes, printShape, type Shape, sameShape } from "../shape.ts";
import { currentValue, heldValue } from "../trace.ts";
import { checkTensor, kindOf } from "./apply.ts";
import { dimValue } from "./create.ts";
import { convert } from "./elementwise/convert.ts";
import { broadcastInDim } from "./movement.ts";
import { constant } from "./source.ts";

/**
 * What an elementwise function accepts. A number, or an extent `x.shape[0]`, adopts the dtype of
 * the tensor beside it.
 */
export type Operand = Tensor | number | boolean | DimExpr;

/** Beside no tensor a number is f32 and a boolean is bool. */
export function asTensor(x: Operand, beside?: Dtype, op = "tensor"): Tensor {
  checkOperand(op, x);
  if (x instanceof Tensor) return currentValue(x);
  if (x instanceof DimExpr) return dimValue(x, beside === undefined ? "i32" : weakDtype(1, beside));
  if (beside === undefined) return constant(x, typeof x === "boolean" ? "bool" : "f32");
  return constant(x, scalarDtype(x, beside));
}

/** For callers that no type checker has seen. */
function checkOperand(op: string, x: unknown): void {
  if (x instanceof Tensor || x instanceof DimExpr) return;
  if (typeof x !== "number" && typeof x !== "boolean")
    throw new DtypeError(`${op}: operands must be tensors, numbers or booleans, got ${kindOf(x)}`);
}

/** `weakDtype`, and wider when an integer dtype does not reach as far as the number. */
function scalarDtype(x: number | boolean, beside: Dtype): Dtype {
  const dtype = weakDtype(x, beside);
  if (typeof x === "boolean" || !isInteger(dtype)) return dtype;
  if (x >= minOf(dtype) && x <= maxOf(dtype)) return dtype;
  return x >= minOf("i32") && x <= maxOf("i32")
    ? "i32"
    : x >= 0 && x <= maxOf("u32")
      ? "u32"
      : "f32";
}

/** The dtype that the operands of one call meet in. */
export function commonDtype(operands: readonly Operand[]): Dtype {
  const tensors = operands.filter((x) => x instanceof Tensor);
  const plain = operands.flatMap((x) => (x instanceof Tensor ? [] : x instanceof DimExpr ? 1 : x));
  if (!tensors.length) return plain.some((x) => typeof x === "number") ? "f32" : "bool";
  const strong = tensors.map((t) => t.dtype).reduce(promote);
  return plain.map((x) => scalarDtype(x, strong)).reduce(promote, strong);
}

/**
 * `x` stretched to `shape`. Throws ShapeError unless every axis fits or is 1. `torch.broadcast_to`,
 * `numpy.broadcast_to`.
 *
 * @param op What errors call the operation.
 * @example
 *   broadcastTo(tensor([1, 2]), [3, 2]) // [[1, 2], [1, 2], [1, 2]]
 */
export function broadcastTo(x: Tensor, shape: Shape, op = "broadcastTo"): Tensor {
  checkTensor(op, x);
  checkExtents(op, "the shape", shape);
  return sameShape(x.shape, shape) ? heldValue(x) : stretched(x, shape, op);
}

function stretched(x: Tensor, shape: Shape, op: string): Tensor {
  const lead = shape.length - x.rank;
  if (lead < 0 || !sameShape(broadcastShapes(op, x.shape, shape), shape))
    throw new ShapeError(
      `${op}: ${printShape(x.shape)} does not broadcast to ${printShape(shape)}\n  only axes of extent 1 and new ones in front are repeated: reshape, or give another shape`,
    );
  return broadcastInDim(
    x,
    shape,
    x.shape.map((_, i) => lead + i),
  );
}

/** All operands as tensors of one dtype and of the shape they broadcast to. */
export function broadcastOperands(
  op: string,
  operands: readonly Operand[],
  dtype?: Dtype,
): Tensor[] {
  for (const x of operands) checkOperand(op, x);
  const common = dtype ?? commonDtype(operands);
  const same = operands.map((x) => {
    if (x instanceof Tensor) return x.dtype === common ? currentValue(x) : convert(x, common);
    return x instanceof DimExpr ? dimValue(x, common) : constant(x, common);
  });
  const shape = same.map((t) => t.shape).reduce((a, b) => broadcastShapes(op, a, b));
  return same.map((t) => (sameShape(t.shape, shape) ? t : stretched(t, shape, op)));
}
