/**
 * `eigh` and `svd`, with gradients in closed form, and the norms of matrices that need them. The
 * values come from `jacobi.ts`.
 */
import type { Dim } from "../dim.ts";
import { checkOptions, GraphError, type OptionNames } from "../errors.ts";
import type { Tensor } from "../node.ts";
import type { ClosedForm } from "../ops/call-gradient.ts";
import { widened } from "../ops/composite/in-float32.ts";
import { matmul } from "../ops/contraction.ts";
import { select } from "../ops/elementwise/compare.ts";
import { max, min, sum } from "../ops/reduce.ts";
import { inClosedForm } from "../transforms/custom-vjp.ts";
import { eigenOf, svdOf } from "./jacobi.ts";
import {
  asColumn,
  asRow,
  checkMatrices,
  checkNumber,
  checkSquares,
  columnNumbers,
  diagonal,
  rowNumbers,
  turned,
} from "./matrices.ts";

/**
 * x / difference; 0 where x is 0, whatever it is divided by: what nothing asks for has no gradient.
 */
function over(x: Tensor, difference: Tensor): Tensor {
  const none = x.equal(0);
  return select(none, 0, x.div(select(none, 1, difference)));
}

/** Off the diagonal of square matrices. */
const apart = (x: Tensor): Tensor => {
  const n = x.shape[x.rank - 1] as Dim;
  return select(rowNumbers(n).equal(columnNumbers(n)), 0, x);
};

/** gx = V·(diag(gλ) + (Vᵀ·gV) / (λⱼ − λᵢ))·Vᵀ, made symmetric. */
const eigen: ClosedForm = {
  name: "eigh",
  body: (given) => {
    const x = given!;
    const half = x.add(turned(x)).mul(0.5);
    const { values, vectors } = eigenOf(half, x.shape[x.rank - 1] as number);
    return [values, vectors];
  },
  gradient: ([gl, gv], ys) => {
    const [values, v] = ys as readonly [Tensor, Tensor];
    const gaps = asRow(values).sub(asColumn(values));
    const inner = over(apart(matmul(turned(v), gv!)), gaps).add(diagonal(gl!));
    const g = matmul(matmul(v, inner), turned(v));
    return [g.add(turned(g)).mul(0.5)];
  },
};

export interface Eigenpairs {
  /** Ascending. */
  readonly values: Tensor;
  /** Column i belongs to value i; each has length 1, and a sign that nothing says. */
  readonly vectors: Tensor;
}

/**
 * Eigenvalues and orthonormal eigenvectors of symmetric matrices: x·vectors = vectors·diag(values).
 * x is taken for ½(x + xᵀ).
 *
 * x: float[…, n, n], n a number → values[…, n] ascending, vectors[…, n, n]. Halves become f32. The
 * gradient of vectors of equal values is ±∞ or NaN, that of values is right. NaN where x has one.
 * Throws ShapeError unless x is square and n known. `torch.linalg.eigh`.
 *
 * @example
 *   const { values, vectors } = linalg.eigh(tensor([[2, 1], [1, 2]]));
 *   values // [1, 3]
 *   vectors.matmul(vectors.transpose()).round() // [[1, 0], [0, 1]]
 */
export function eigh(x: Tensor): Eigenpairs {
  checkNumber("eigh", checkSquares("eigh", x));
  const [values, vectors] = inClosedForm(eigen, [widened(x)]) as [Tensor, Tensor];
  return { values, vectors };
}

/**
 * With F = 1/(sⱼ² − sᵢ²); for u and v beyond the span the parts that are orthogonal to it (Townsend
 * 2016).
 */
const singular: ClosedForm = {
  name: "svd",
  body: (x) => {
    const { u, s, vt } = svdOf(x!);
    return [u, s, vt];
  },
  gradient: ([gu, gs, gvt], ys) => {
    const [u, s, vt] = ys as readonly [Tensor, Tensor, Tensor];
    const [v, gv] = [turned(vt), turned(gvt!)];
    const squares = s.mul(s);
    const gaps = asRow(squares).sub(asColumn(squares));
    const skew = (m: Tensor) => over(apart(m.sub(turned(m))), gaps);
    const [ug, vg] = [matmul(turned(u), gu!), matmul(vt, gv)];
    const inner = skew(ug)
      .mul(asRow(s))
      .add(asColumn(s).mul(skew(vg)))
      .add(diagonal(gs!));
    const outerU = over(gu!.sub(matmul(u, ug)), asRow(s));
    const outerV = over(gv.sub(matmul(v, vg)), asRow(s));
    const span = matmul(matmul(u, inner), vt);
    return [span.add(matmul(outerU, vt)).add(matmul(u, turned(outerV)))];
  },
};

export interface Svd {
  readonly u: Tensor;
  /** The largest first. */
  readonly s: Tensor;
  readonly vt: Tensor;
}

/**
 * Singular values and vectors: x = u·diag(s)·vt, with k = min(m, n) of them. Small values are as
 * exact as large ones. Signs of pairs of vectors are not said; where a singular value is 0, the
 * vector of it on the longer side is zeros.
 *
 * x: float[…, m, n], m and n numbers → u[…, m, k], s[…, k] descending, vt[…, k, n]. Halves become
 * f32. The gradient of vectors of equal values is ±∞ or NaN, that of values is right. NaN where x
 * has one. Throws ShapeError for symbolic m or n. `torch.linalg.svd`, reduced.
 *
 * @example
 *   const { u, s, vt } = linalg.svd(tensor([[3, 0], [0, -4]]));
 *   s // [4, 3]
 *   u.mul(s).matmul(vt).round() // [[3, 0], [0, −4]]
 */
export function svd(x: Tensor): Svd {
  const { rows, columns } = checkMatrices("svd", x);
  for (const d of [rows, columns]) checkNumber("svd", d);
  const [u, s, vt] = inClosedForm(singular, [widened(x)]) as [Tensor, Tensor, Tensor];
  return { u, s, vt };
}

export type MatrixNorm = "fro" | "nuc" | 1 | -1 | 2 | -2 | typeof Infinity;

export interface MatrixNormOptions {
  /** Keeps the two axes, with extent 1. Default false. */
  readonly keepDims?: boolean;
}

const normOptions: OptionNames<MatrixNormOptions> = { keepDims: 1 };

/**
 * A norm of matrices. "fro": √Σx²; "nuc": Σ of the singular values; 2 and −2: the largest and the
 * least of them; 1 and −1: the largest and the least sum of |x| of a column; ∞ and −∞: of a row.
 *
 * x: float[…, m, n] → [...]. Halves become f32. Throws GraphError for another order.
 * `torch.linalg.matrix_norm`.
 *
 * @param order "fro", "nuc", 1, −1, 2, −2, Infinity or −Infinity.
 * @example
 *   linalg.matrixNorm(tensor([[3, 0], [0, 4]])) // 5; √(3² + 4²)
 *   linalg.matrixNorm(tensor([[3, 0], [0, 4]]), 2) // 4; the largest singular value
 */
export function matrixNorm(
  x: Tensor,
  order: MatrixNorm = "fro",
  options: MatrixNormOptions = {},
): Tensor {
  checkMatrices("matrixNorm", x);
  const { keepDims = false } = checkOptions("matrixNorm", options, normOptions);
  const y = normOf(widened(x), order);
  return keepDims ? asColumn(asColumn(y)) : y;
}

function normOf(x: Tensor, order: MatrixNorm): Tensor {
  switch (order) {
    case "fro":
      return sum(x.mul(x), [-1, -2]).sqrt();
    case "nuc":
      return sum(svd(x).s, -1);
    case 2:
      return max(svd(x).s, -1);
    case -2:
      return min(svd(x).s, -1);
    case 1:
      return max(sum(x.abs(), -2), -1);
    case -1:
      return min(sum(x.abs(), -2), -1);
    case Infinity:
      return max(sum(x.abs(), -1), -1);
    case -Infinity:
      return min(sum(x.abs(), -1), -1);
    default:
      throw new GraphError(
        `matrixNorm: there is no norm of order ${String(order)}\n  take "fro", "nuc", 1, 2, Infinity, or one of these negated`,
      );
  }
}
