/** Rows of products of matrices, einsum among them, and what tfjs fuses with them. */
import {
  type _FusedMatMulAttrs,
  type BatchMatMulAttrs,
  backend_util,
  type EinsumAttrs,
} from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { prelu } from "./elementwise.ts";

interface Epilogue {
  readonly activation?: string;
  readonly leakyreluAlpha?: number;
}

/** x plus the bias, under the activation; undefined for an activation that is unknown. */
export function withEpilogue(
  x: Tensor,
  { bias, preluActivationWeights: weights }: Operands,
  { activation = "linear", leakyreluAlpha = 0.2 }: Epilogue,
): Tensor | undefined {
  const y = bias ? ir.add(x, bias) : x;
  switch (activation) {
    case "linear":
      return y;
    case "relu":
      return ir.relu(y);
    case "relu6":
      return ir.relu6(y);
    case "elu":
      return ir.elu(y);
    case "sigmoid":
      return ir.sigmoid(y);
    case "leakyrelu":
      return ir.leakyRelu(y, leakyreluAlpha);
    case "prelu":
      return prelu(y, weights!);
    default:
      return undefined;
  }
}

const turned = (x: Tensor, turn: boolean): Tensor => (turn ? ir.swapAxes(x, -1, -2) : x);

function matMul(
  { a, b }: Operands,
  { transposeA, transposeB }: BatchMatMulAttrs,
): Tensor | undefined {
  if (a!.rank < 2 || b!.rank < 2) return undefined;
  return ir.matmul(turned(a!, transposeA), turned(b!, transposeB));
}

/** What tfjs refuses is refused as it does. */
function einsum(operands: Operands, { equation }: EinsumAttrs): Tensor {
  const list = Object.values(operands);
  const { idDims, allDims } = backend_util.decodeEinsumEquation(equation, list.length);
  backend_util.checkEinsumDimSizes(allDims.length, idDims, list as never);
  return ir.einsum(equation.replace(/\s/g, ""), ...list);
}

export const product: Rows = {
  BatchMatMul: matMul,
  _FusedMatMul: (operands: Operands, attrs: _FusedMatMulAttrs) => {
    const y = matMul(operands, attrs);
    return y && withEpilogue(y, operands, attrs);
  },
  Einsum: einsum,
};
