/** Products of matrices, and what is fused with them. */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row } from "@kiln-ml/onnx";
import { epilogue } from "./convolution.ts";
import { alike, tf } from "./row.ts";

const turned = (x: Tensor, turn: boolean): Tensor => (turn ? ir.swapAxes(x, -1, -2) : x);

const product =
  (a: string, b: string) =>
  (n: NodeContext): Tensor =>
    ir.matmul(turned(n.tensor(0), n.flag(a)), turned(n.tensor(1), n.flag(b)));

const matMul = product("transpose_a", "transpose_b");

export const productRows: readonly Row[] = [
  tf("MatMul", "transpose_a transpose_b grad_a grad_b", matMul),
  ...alike(
    "BatchMatMul BatchMatMulV2 BatchMatMulV3",
    "adj_x adj_y grad_x grad_y",
    product("adj_x", "adj_y"),
  ),
  tf("_FusedMatMul", "transpose_a transpose_b fused_ops epsilon leakyrelu_alpha", (n) =>
    epilogue(n, matMul(n), false),
  ),
  tf("Einsum", "equation", (n) =>
    ir.einsum(n.string("equation").replace(/\s/g, ""), ...n.tensors()),
  ),
  tf("Cross", "", (n) => ir.cross(n.tensor(0), n.tensor(1))),
];
