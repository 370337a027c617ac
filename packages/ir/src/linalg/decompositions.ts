/**
 * Triangular factors and what follows from them: `lu`, `cholesky`, `triangularSolve`, `solve`, `inv`, determinants. Each is one scan over the
 * columns, with the gradient in closed form, of which every part is one of these functions again: so gradients have gradients.
 */
import { sameDim } from "../dim.ts";
import { checkOptions, DtypeError, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { broadcastTo } from "../ops/broadcast.ts";
import type { ClosedForm } from "../ops/call-gradient.ts";
import { inFloat32, widened } from "../ops/composite/in-float32.ts";
import { matmul } from "../ops/contraction.ts";
import { select } from "../ops/elementwise/compare.ts";
import { convert } from "../ops/elementwise/convert.ts";
import { squeeze } from "../ops/movement.ts";
import { prod, sum } from "../ops/reduce.ts";
import { broadcastShapes, printShape } from "../shape.ts";
import { inClosedForm } from "../transforms/custom-vjp.ts";
import { choleskyFactor, eliminated, substituted } from "./blocks.ts";
import { signOf, type Triangle } from "./factor.ts";
import {
  asColumn,
  asRow,
  batchOf,
  checkSquares,
  columnNumbers,
  diagonalOf,
  identities,
  rowNumbers,
  rowsInOrder,
  turned,
} from "./matrices.ts";

/** The part of square matrices on and below the diagonal, or on and above it; without the diagonal where that is `strict`. */
function triangle(x: Tensor, upper: boolean, strict = false): Tensor {
  const n = x.shape[x.rank - 1]!;
  const [i, j] = upper ? [rowNumbers(n), columnNumbers(n)] : [columnNumbers(n), rowNumbers(n)];
  return select(strict ? i.less(j) : i.lessEqual(j), x, 0);
}

/** P with P·M = the rows of M brought back from their order. */
const permutation = (order: Tensor, like: Tensor): Tensor =>
  convert(rowNumbers(order.shape[order.rank - 1]!).equal(asRow(order)), like.dtype);

/** L and U; gx = P·L⁻ᵀ·(tril₋₁(Lᵀ·gL) + triu(gU·Uᵀ))·U⁻ᵀ. */
const triangles: ClosedForm = {
  name: "lu",
  body: (x) => {
    const { lower, upper } = eliminated(x!);
    return [lower, upper];
  },
  gradient: ([gl, gu], _ys, x) => {
    const { p, l, u } = luOf(x!);
    const inner = triangle(matmul(turned(l), gl!), false, true).add(
      triangle(matmul(gu!, turned(u)), true),
    );
    const left = solved(turned(l), inner, { upper: true, unit: true });
    return [matmul(p, turned(solved(u, turned(left), { upper: true, unit: false })))];
  },
};

export interface Lu {
  /** The permutation as a matrix. */
  readonly p: Tensor;
  /** Lower triangular, with ones on the diagonal. */
  readonly l: Tensor;
  /** Upper triangular. */
  readonly u: Tensor;
}

function luOf(x: Tensor): Lu {
  const [l, u] = inClosedForm(triangles, [x]) as [Tensor, Tensor];
  return { p: permutation(eliminated(x).order, x), l, u };
}

/**
 * Triangular factors of square matrices, with partial pivoting: x = p·l·u. Of a singular matrix a pivot is 0, on the diagonal of u.
 *
 * x: float[…, n, n] → three of that shape. Halves become f32. Throws ShapeError unless x is square, DtypeError unless it is float.
 * `torch.linalg.lu`. Golub & Van Loan, Matrix Computations, alg. 3.4.1.
 *
 *   const { p, l, u } = linalg.lu(x);
 */
export function lu(x: Tensor): Lu {
  checkSquares("lu", x);
  return luOf(widened(x));
}

export interface CholeskyOptions {
  /** Gives Lᵀ. Default false. */
  readonly upper?: boolean;
}

const choleskyOptions: OptionNames<CholeskyOptions> = { upper: 1 };

/** L; gx = ½(S + Sᵀ) with S = L⁻ᵀ·Φ(Lᵀ·g)·L⁻¹, Φ the lower triangle with half of the diagonal (Murray 2016, eq. 10). */
const choleskyForm: ClosedForm = {
  name: "cholesky",
  body: (x) => [choleskyFactor(x!)],
  gradient: ([g], [y]) => {
    const l = y!;
    const product = matmul(turned(l), g!);
    const phi = triangle(product, false, true).add(triangle(product, false)).mul(0.5);
    const left = solved(turned(l), phi, { upper: true, unit: false });
    const s = turned(solved(turned(l), turned(left), { upper: true, unit: false }));
    return [s.add(turned(s)).mul(0.5)];
  },
};

/**
 * The lower triangular L with L·Lᵀ = x, for symmetric positive definite matrices. Only the lower triangle of x is read; the gradient is that
 * of a symmetric x. NaN from the column on at which x is found not to be positive definite.
 *
 * x: float[…, n, n] → the same; `upper` gives Lᵀ. Halves become f32. Errors as `lu`. `torch.linalg.cholesky`.
 *
 *   linalg.cholesky(tensor([[4, 2], [2, 3]])) // [[2, 0], [1, √2]]
 */
export function cholesky(x: Tensor, options: CholeskyOptions = {}): Tensor {
  checkSquares("cholesky", x);
  const { upper = false } = checkOptions("cholesky", options, choleskyOptions);
  const l = inClosedForm(choleskyForm, [widened(x)])[0]!;
  return upper ? turned(l) : l;
}

/** `substituted`, with gb = A⁻ᵀ·g and ga = −gb·Xᵀ where A is read. */
const substitution = (kind: Triangle): ClosedForm => ({
  name: `triangularSolve ${kind.upper ? "upper" : "lower"}${kind.unit ? " unit" : ""}`,
  body: (a, b) => [substituted(a!, b!, kind)],
  gradient: ([g], [x], a) => {
    const gb = solved(turned(a!), g!, { ...kind, upper: !kind.upper });
    return [triangle(matmul(gb, turned(x!)).neg(), kind.upper, kind.unit), gb];
  },
});

const solved = (a: Tensor, b: Tensor, kind: Triangle): Tensor =>
  inClosedForm(substitution(kind), [a, b])[0]!;

/** A and B with one batch, B as matrices, and whether it was vectors. */
function sidesOf(op: string, a: Tensor, b: Tensor): { a: Tensor; b: Tensor; vector: boolean } {
  const n = checkSquares(op, a);
  if (a.dtype !== b.dtype)
    throw new DtypeError(
      `${op}: dtypes differ: a is ${a.dtype}, b is ${b.dtype}\n  convert one to the dtype of the other: x.convert("f32")`,
    );
  const vector = b.rank === 1 || b.rank === a.rank - 1;
  const right = vector ? asColumn(b) : b;
  if (b.rank === 0 || !sameDim(right.shape[right.rank - 2]!, n))
    throw new ShapeError(
      `${op}: a is ${printShape(a.shape)}, b ${printShape(b.shape)} has not as many rows\n  give b[..., n, m], or b[..., n] for one right side`,
    );
  const batch = broadcastShapes(op, batchOf(a), batchOf(right));
  const whole = (t: Tensor) => broadcastTo(t, [...batch, ...t.shape.slice(-2)], op);
  return { a: widened(whole(a)), b: widened(whole(right)), vector };
}

export interface TriangularSolveOptions {
  /** Which triangle of a is read. */
  readonly upper: boolean;
  /** Takes the diagonal of a for ones. Default false. */
  readonly unit?: boolean;
}

const triangularOptions: OptionNames<TriangularSolveOptions> = { upper: 1, unit: 1 };

/**
 * X with a·X = b, for triangular a, of which the other triangle is not read. Where the diagonal has a zero, ±∞ or NaN.
 *
 * a: float[…, n, n], b: float[…, n, m] or […, n], batches broadcast → like b. Halves become f32.
 * Throws ShapeError unless the rows are as many, DtypeError where dtypes differ. `torch.linalg.solve_triangular`.
 *
 *   linalg.triangularSolve(l, b, { upper: false });
 */
export function triangularSolve(a: Tensor, b: Tensor, options: TriangularSolveOptions): Tensor {
  const { upper, unit = false } = checkOptions("triangularSolve", options, triangularOptions);
  const sides = sidesOf("triangularSolve", a, b);
  const x = solved(sides.a, sides.b, { upper, unit });
  return sides.vector ? squeeze(x, -1) : x;
}

/** U⁻¹·L⁻¹·Pᵀ·B; gb = A⁻ᵀ·g by the same factors, ga = −gb·Xᵀ. */
const solution: ClosedForm = {
  name: "solve",
  body: (a, b) => {
    const { order, lower, upper } = eliminated(a!);
    const y = substituted(lower, rowsInOrder(b!, order), { upper: false, unit: true });
    return [substituted(upper, y, { upper: true, unit: false })];
  },
  gradient: ([g], [x], a) => {
    const { p, l, u } = luOf(a!);
    const z = solved(turned(u), g!, { upper: false, unit: false });
    const gb = matmul(p, solved(turned(l), z, { upper: true, unit: true }));
    return [matmul(gb, turned(x!)).neg(), gb];
  },
};

/**
 * X with a·X = b, by elimination with partial pivoting. Where a is singular, ±∞ or NaN.
 *
 * a: float[…, n, n], b: float[…, n, m] or […, n], batches broadcast → like b. Halves become f32. Errors as `triangularSolve`.
 * `torch.linalg.solve`.
 *
 *   linalg.solve(tensor([[2, 0], [0, 4]]), tensor([2, 4])) // [1, 1]
 */
export function solve(a: Tensor, b: Tensor): Tensor {
  const sides = sidesOf("solve", a, b);
  const x = inClosedForm(solution, [sides.a, sides.b])[0]!;
  return sides.vector ? squeeze(x, -1) : x;
}

/**
 * The inverse of square matrices: `solve` of the identity, which is what to call where the inverse is only multiplied with. Where x is
 * singular, ±∞ or NaN.
 *
 * x: float[…, n, n] → the same. Halves become f32. Errors as `lu`. `torch.linalg.inv`.
 *
 *   linalg.inv(tensor([[2, 0], [0, 4]])) // [[½, 0], [0, ¼]]
 */
export function inv(x: Tensor): Tensor {
  const n = checkSquares("inv", x);
  const wide = widened(x);
  return inClosedForm(solution, [wide, identities(wide, n)])[0]!;
}

/** The diagonal of u, and the sign of the permutation. */
function pivotsOf(x: Tensor): { pivots: Tensor; sign: Tensor } {
  const u = inClosedForm(triangles, [x])[1]!;
  return { pivots: diagonalOf(u), sign: signOf(eliminated(x).order, x) };
}

/**
 * The determinant of square matrices: the product of the pivots of elimination with partial pivoting; 1 of an empty one.
 *
 * x: float[…, n, n] → [...]. The gradient is det·x⁻ᵀ, so ±∞ or NaN where x is singular. Throws ShapeError unless the matrices are square,
 * DtypeError unless they are float. `torch.linalg.det`.
 *
 *   det(tensor([[1, 2], [3, 4]])) // −2
 */
export function det(x: Tensor): Tensor {
  checkSquares("det", x);
  return inFloat32([x], (wide) => {
    const { pivots, sign } = pivotsOf(wide);
    return prod(pivots, -1).mul(sign);
  });
}

/**
 * The sign of the determinant and ln |det|, which does not overflow: Σ ln |pivot|. Of singular matrices 0 and −∞.
 *
 * x: float[…, n, n] → two of [...]. Errors as `det`. `torch.linalg.slogdet`.
 *
 *   const { sign, logAbs } = slogdet(covariance);
 */
export function slogdet(x: Tensor): { readonly sign: Tensor; readonly logAbs: Tensor } {
  checkSquares("slogdet", x);
  return {
    sign: inFloat32([x], (wide) => {
      const { pivots, sign } = pivotsOf(wide);
      return prod(pivots.sign(), -1).mul(sign).stopGradient();
    }),
    logAbs: inFloat32([x], (wide) => sum(pivotsOf(wide).pivots.abs().log(), -1)),
  };
}
