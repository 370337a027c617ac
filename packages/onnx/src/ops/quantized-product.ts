/**
 * Products of quantized tensors. Sums are exact in 32-bit integers; a result that is quantized again is rounded once.
 */
import { convert, type Dim, matmul, reshape, swapAxes, type Tensor } from "@kiln-ml/ir";
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

/** (a − a zero)·(b − b zero), exact; vectors of zero points are one a row of a, one a column of b. */
export const integerProduct = (
  a: Tensor,
  aZero: Tensor | undefined,
  b: Tensor,
  bZero: Tensor | undefined,
): Tensor => matmul(centred(a, aZero, 2), centred(b, bZero, 1));

const matMulInteger = (n: NodeContext): Tensor =>
  integerProduct(n.tensor(0), n.maybe(2), n.tensor(1), n.maybe(3));

/** The scale of the sums over that of the result. */
const rescale = (a: Tensor, b: Tensor, y: Tensor): Tensor =>
  widened(a).mul(widened(b)).div(widened(y));

function qLinearMatMul(n: NodeContext): TensorValue {
  const sums = integerProduct(n.tensor(0), n.tensor(2), n.tensor(3), n.tensor(5));
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

/** alpha·A′·B′ + C, the bias in units of both scales; floats where there is no scale of the result. */
function qGemm(n: NodeContext): TensorValue {
  const turned = (i: number, flag: string) =>
    n.flag(flag) ? swapAxes(n.tensor(i), 0, 1) : n.tensor(i);
  const b = turned(3, "transB");
  const sums = integerProduct(turned(0, "transA"), n.maybe(2), b, n.maybe(5));
  const scale = widened(n.tensor(1))
    .reshape([])
    .mul(along(widened(n.tensor(4)), 1));
  const product = widened(sums).mul(scale.mul(n.float("alpha", 1)));
  const y = n.has(6) ? product.add(widened(n.tensor(6)).mul(scale)) : product;
  if (!n.has(7)) return typed(y, "float32");
  const zero = n.maybe(8)?.reshape([]);
  return saturated(y.div(n.tensor(7).reshape([])), zero, n.has(8) ? n.type(8) : n.type(0));
}

export const quantizedProductRows: readonly Row[] = [
  row("MatMulInteger", matMulInteger, { type: "int32" }),
  row("QLinearMatMul", qLinearMatMul),
  row("ConvInteger", convInteger, { type: "int32" }),
  row("QLinearConv", qLinearConv),
  microsoft("MatMulIntegerToFloat", matMulIntegerToFloat, { type: "float32" }),
  microsoft("QGemm", qGemm),
  microsoft("DynamicQuantizeMatMul", dynamicQuantizeMatMul, { type: "float32" }),
];
