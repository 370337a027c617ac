/**
 * Products of matrices: MatMul, Gemm and their fused forms, and determinants.
 */
import { det, dotGeneral, inFloat32, matmul, swapAxes, type Tensor, transpose } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { microsoft, type Row, row } from "../row.ts";
import { range } from "./operands.ts";

/** alpha·A′·B′ + beta·C with A′ and B′ transposed as the attributes say. */
function gemm(n: NodeContext): Tensor {
  const [a, b] = [n.tensor(0), n.tensor(1)];
  if (a.rank !== 2 || b.rank !== 2)
    return n.fail(`inputs have ranks ${a.rank} and ${b.rank}, not 2`);
  const [alpha, beta] = [n.float("alpha", 1), n.float("beta", 1)];
  const axes = {
    lhsContract: [n.flag("transA") ? 0 : 1],
    rhsContract: [n.flag("transB") ? 1 : 0],
  };
  const added = n.has(2) && beta !== 0 ? n.tensor(2) : undefined;
  if (alpha === 1 && !added) return dotGeneral(a, b, axes);
  return inFloat32([a, b, added], (x, y, c) => {
    const product = dotGeneral(x, y, axes);
    const scaled = alpha === 1 ? product : product.mul(alpha).convert(product.dtype);
    if (!c) return scaled;
    return scaled.add(beta === 1 ? c : c.mul(beta).convert(c.dtype));
  });
}

/**
 * A stack of matrices with axes exchanged as the attributes of one side say: `transBatch` of M matrices' rows, [M, …batch, K], is the
 * stack [...batch, M, K], before its last two axes are exchanged.
 */
function turned(n: NodeContext, i: number, side: "A" | "B"): Tensor {
  const given = n.tensor(i);
  const inner = given.rank - 1;
  const byBatch = n.flag(`transBatch${side}`) && given.rank > 2;
  const x = byBatch ? transpose(given, [...range(inner).slice(1), 0, inner]) : given;
  return n.flag(`trans${side}`) && x.rank > 1 ? swapAxes(x, -1, -2) : x;
}

function fusedMatMul(n: NodeContext): Tensor {
  const alpha = n.float("alpha", 1);
  const [a, b] = [turned(n, 0, "A"), turned(n, 1, "B")];
  if (alpha === 1) return matmul(a, b);
  return inFloat32([a, b], (x, y) => matmul(x, y).mul(alpha));
}

export const productRows: readonly Row[] = [
  row("MatMul", (n) => matmul(n.tensor(0), n.tensor(1)), { wraps: true }),
  row("Gemm", gemm, { wraps: true }),
  row("Det", (n) => det(n.tensor(0))),
  microsoft("FusedMatMul", fusedMatMul),
  microsoft("BiasAdd", (n) => n.tensor(0).add(n.tensor(1)).add(n.tensor(2))),
  microsoft("TransposeMatMul", fusedMatMul),
];
