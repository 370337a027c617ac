/**
 * Products of quantized tensors. Sums are exact in 32-bit integers; a result that is quantized again is rounded once.
 */
import { convert, type Dim, matmul, reshape, type Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import type { AttributeDef } from "../proto/model.ts";
import { microsoft, type Row, row } from "../row.ts";
import { asTensorValue, type TensorValue, typed } from "../value.ts";
import { widened } from "./operands.ts";
import { saturated } from "./quantize.ts";

/** Integers less their zero point; a vector of zero points is one for each index of `axis`, counted from the end. */
function centred(x: Tensor, zero: Tensor | undefined, fromEnd: number): Tensor {
  const whole = convert(x, "i32");
  return zero ? whole.sub(along(convert(zero, "i32"), fromEnd)) : whole;
}

/** A vector as it broadcasts along an axis; stacks and single elements as they are. */
const along = (v: Tensor, fromEnd: number): Tensor =>
  v.rank === 1 && v.shape[0] !== 1
    ? reshape(v, [...v.shape, ...new Array<Dim>(fromEnd - 1).fill(1)])
    : v.rank === 1
      ? reshape(v, [])
      : v;

const matMulInteger = (n: NodeContext): Tensor =>
  matmul(centred(n.tensor(0), n.maybe(2), 2), centred(n.tensor(1), n.maybe(3), 1));

/** The scale of the sums over that of the result. */
const rescale = (a: Tensor, b: Tensor, y: Tensor): Tensor =>
  widened(a).mul(widened(b)).div(widened(y));

function qLinearMatMul(n: NodeContext): TensorValue {
  const sums = matmul(centred(n.tensor(0), n.tensor(2), 2), centred(n.tensor(3), n.tensor(5), 1));
  const factor = rescale(along(n.tensor(1), 2), along(n.tensor(4), 1), along(n.tensor(6), 2));
  return saturated(widened(sums).mul(factor), along(n.tensor(7), 2), n.type(7));
}

/** Conv's attributes, as far as the node has them. */
function convolved(n: NodeContext, x: Tensor, w: Tensor): Tensor {
  const names = ["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
  const attributes: Record<string, AttributeDef> = {};
  for (const name of names) {
    const found = n.attribute(name);
    if (found) attributes[name] = found;
  }
  const [y] = n.apply("Conv", [typed(x, "int32"), typed(w, "int32")], attributes);
  return asTensorValue(y!, "Conv").tensor;
}

/** Padding is of zeros, which are zero points: those are taken off first. */
const convInteger = (n: NodeContext): Tensor => {
  const w = n.tensor(1);
  return convolved(n, centred(n.tensor(0), n.maybe(2), 1), centred(w, n.maybe(3), w.rank));
};

function qLinearConv(n: NodeContext): TensorValue {
  const w = n.tensor(3);
  const { rank } = w;
  const sums = convolved(n, centred(n.tensor(0), n.tensor(2), 1), centred(w, n.tensor(5), rank));
  const biased = n.has(8) ? sums.add(along(n.tensor(8), rank - 1)) : sums;
  const factor = rescale(
    n.tensor(1).reshape([]),
    along(n.tensor(4), rank - 1),
    n.tensor(6).reshape([]),
  );
  return saturated(widened(biased).mul(factor), n.tensor(7).reshape([]), n.type(7));
}

/** (A − a zero)·(B − b zero)·scales + bias, in floats. */
function scaledProduct(n: NodeContext, a: Tensor, b: Tensor, scale: Tensor, bias: number): Tensor {
  const y = widened(matmul(a, b)).mul(scale);
  return n.has(bias) ? y.add(n.tensor(bias)) : y;
}

function matMulIntegerToFloat(n: NodeContext): Tensor {
  const [a, b] = [centred(n.tensor(0), n.maybe(4), 2), centred(n.tensor(1), n.maybe(5), 1)];
  return scaledProduct(n, a, b, along(n.tensor(2), 2).mul(along(n.tensor(3), 1)), 6);
}

/** A is quantized by its own range first. */
function dynamicQuantizeMatMul(n: NodeContext): Tensor {
  const parts = n.apply("DynamicQuantizeLinear", [n.value(0)], {}, 3);
  const [q, scale, zero] = parts.map((v) => asTensorValue(v, "output").tensor);
  const b = centred(n.tensor(1), n.maybe(3), 1);
  return scaledProduct(n, centred(q!, zero, 2), b, scale!.mul(along(n.tensor(2), 1)), 4);
}

export const quantizedProductRows: readonly Row[] = [
  row("MatMulInteger", matMulInteger, { type: "int32" }),
  row("QLinearMatMul", qLinearMatMul),
  row("ConvInteger", convInteger, { type: "int32" }),
  row("QLinearConv", qLinearConv),
  microsoft("MatMulIntegerToFloat", matMulIntegerToFloat, { type: "float32" }),
  microsoft("DynamicQuantizeMatMul", dynamicQuantizeMatMul, { type: "float32" }),
];
