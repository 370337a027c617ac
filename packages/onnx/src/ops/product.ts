/**
 * Products of matrices: MatMul, Gemm and their fused forms, and determinants.
 */
import {
  argMax,
  type Dim,
  dotGeneral,
  inFloat32,
  iota,
  isStatic,
  matmul,
  select,
  swapAxes,
  type Tensor,
  transpose,
} from "@kiln-ml/ir";
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

/** Row `i` of stacks of matrices, kept as an axis of extent 1. */
const rowAt = (m: Tensor, i: number): Tensor => m.sliceAxis(-2, i, i + 1);

/**
 * One step of elimination: the pivot of column k, and the matrices with the pivot's row taken to place k and the column cleared
 * below it.
 */
function eliminate(m: Tensor, k: number): { readonly pivot: Tensor; readonly rest: Tensor } {
  const rows = iota(m.shape, m.rank - 2);
  const column = m.sliceAxis(-1, k, k + 1);
  const candidates = select(rows.sliceAxis(-1, 0, 1).less(k), -1, column.abs());
  const chosen = argMax(candidates, -2, { keepDims: true, empty: "identity" });
  const first = rowAt(m, k);
  const picked = select(rows.equal(chosen), m, 0).sum(-2, { keepDims: true });
  const swapped = select(rows.equal(k), picked, select(rows.equal(chosen), first, m));
  const pivot = picked.sliceAxis(-1, k, k + 1);
  const factor = swapped.sliceAxis(-1, k, k + 1).div(select(pivot.equal(0), 1, pivot));
  const rest = select(rows.greater(k), swapped.sub(factor.mul(picked)), swapped);
  const sign = select(chosen.equal(k), 1, -1).convert(m.dtype);
  return { pivot: pivot.mul(sign), rest };
}

/** The product of the pivots of Gaussian elimination, largest first in each column. x[…, M, M] → [...]. */
function det(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const size = x.shape[x.rank - 1] as Dim;
  if (!isStatic(size)) return n.fail("the extent of the matrices must be a number");
  if (size > largest) return n.fail(`matrices of ${size} rows are too large, at most ${largest}`);
  let result: Tensor | undefined;
  let m = x;
  for (let k = 0; k < size; k++) {
    const { pivot, rest } = eliminate(m, k);
    result = result ? result.mul(pivot) : pivot;
    m = rest;
  }
  return result ? result.squeeze([-2, -1]) : n.fail("the matrices are empty");
}

/** Each row is a few kernels. */
const largest = 64;

export const productRows: readonly Row[] = [
  row("MatMul", (n) => matmul(n.tensor(0), n.tensor(1)), { wraps: true }),
  row("Gemm", gemm, { wraps: true }),
  row("Det", det, { note: "Up to 64 rows." }),
  microsoft("FusedMatMul", fusedMatMul),
  microsoft("BiasAdd", (n) => n.tensor(0).add(n.tensor(1)).add(n.tensor(2))),
  microsoft("TransposeMatMul", fusedMatMul),
];
