/**
 * Changes of dtype: `convert` keeps the value, `bitcast` keeps the bits. Both take one operand and
 * keep its shape.
 */
import { isOp } from "../../attributes.ts";
import { bytesOf, convertNumber, type Dtype, isDtype, isFloat } from "../../dtype.ts";
import { DtypeError, GraphError } from "../../errors.ts";
import { makeNode, type ResultType, type Tensor } from "../../node.ts";
import { defineOp, type OpRecord } from "../../op.ts";
import { fullDtype } from "../../precision.ts";
import { currentValue, heldValue } from "../../trace.ts";
import { checkCount, checkTensor } from "../apply.ts";
import { broadcastInDim } from "../movement.ts";
import { constant } from "../source.ts";

/** The dtype comes from the node, the shape from the operand. */
function target(op: string, operands: readonly Tensor[], node: ResultType | undefined): ResultType {
  checkCount(op, operands, 1);
  if (!node) throw new GraphError(`${op}: the dtype of the result must be declared`);
  return { dtype: node.dtype, shape: operands[0]!.shape };
}

export const convertRecord: OpRecord = defineOp({
  name: "convert",
  family: "elementwise",
  infer: (operands, _attrs, node) => target("convert", operands, node),
  // The caller brings the number to the dtype of the result, and that is all of it.
  eval: (x) => x,
  spell: (x) => `(${x})`,
  vjp: (g, _y, x) => [isFloat(g.dtype) && isFloat(x!.dtype) ? convert(g, x!.dtype) : undefined],
  domain: [-100, 100],
  smooth: true,
  ulp: 0,
});

/**
 * The same values in another dtype: floats round to even, integers wrap, everything but 0 (NaN too)
 * is true. A float becomes an integer without its fraction; one out of range becomes the nearest
 * integer that there is, NaN becomes 0. `torch.Tensor.to(dtype)`, `numpy.astype`.
 *
 * @param x The tensor.
 * @example
 *   convert(tensor([1.7, -1.7, NaN]), "i32") // [1, −1, 0]
 *   convert(tensor([0, 2]), "bool") // [false, true]
 */
export function convert(x: Tensor, dtype: Dtype): Tensor {
  checkTensor("convert", x);
  if (!isDtype(dtype)) throw new DtypeError(`convert: unknown dtype ${String(dtype)}`);
  const from = currentValue(x);
  if (from.dtype === dtype) return heldValue(from);
  if (isOp(from, "constant") && dtype !== "bool")
    return constant(convertNumber(from.dtype, dtype, from.attrs.value), dtype);
  const { shape } = from;
  if (dtype === "bool") {
    const zero = broadcastInDim(constant(0, from.dtype), shape, []);
    return makeNode({ op: "notEqual", operands: [from, zero], attrs: {}, dtype, shape });
  }
  return makeNode({ op: "convert", operands: [from], attrs: {}, dtype, shape });
}

/** A half as f32 where mixed precision asks for that, see `autocast`; else x as it is. */
export const inFull = (x: Tensor): Tensor => {
  const dtype = fullDtype(x.dtype);
  return dtype === x.dtype ? currentValue(x) : convert(x, dtype);
};

function checkBitcast(from: Dtype, to: Dtype): void {
  if (bytesOf(from) !== bytesOf(to) || from === "bool" || to === "bool")
    throw new DtypeError(
      `bitcast: ${from} and ${to} have no bits in common\n  take a dtype of the same width, or convert the value with convert`,
    );
}

// No vjp: a gradient through a change of bits is an error that grad reports.
export const bitcastRecord: OpRecord = defineOp({
  name: "bitcast",
  family: "elementwise",
  infer: (operands, _attrs, node) => {
    const type = target("bitcast", operands, node);
    checkBitcast(operands[0]!.dtype, type.dtype);
    return type;
  },
  spell: (x) => `bitcast(${x})`,
  ulp: 0,
});

/**
 * The same bits read as another dtype of the same size. `torch.Tensor.view(dtype)`.
 *
 * @param x The tensor.
 * @param dtype A dtype of as many bits.
 * @example
 *   bitcast(tensor([1]), "u32") // [0x3f800000]; the bits of 1 in f32
 */
export function bitcast(x: Tensor, dtype: Dtype): Tensor {
  checkTensor("bitcast", x);
  if (!isDtype(dtype)) throw new DtypeError(`bitcast: unknown dtype ${String(dtype)}`);
  const from = currentValue(x);
  if (from.dtype === dtype) return heldValue(from);
  checkBitcast(from.dtype, dtype);
  return makeNode({ op: "bitcast", operands: [from], attrs: {}, dtype, shape: from.shape });
}
