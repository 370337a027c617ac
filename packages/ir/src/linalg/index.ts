/**
 * Linear algebra of matrices in the last two axes, with any number of batch axes before them: `linalg.solve(a, b)`. Compositions of scans and
 * products, so they run on every target; a program pays for those that it calls.
 */
export {
  type CholeskyOptions,
  cholesky,
  det,
  inv,
  type Lu,
  lu,
  slogdet,
  solve,
  type TriangularSolveOptions,
  triangularSolve,
} from "./decompositions.ts";
export { lstsq, matrixPower, pinv, type Qr, qr, type RankOptions } from "./orthogonal.ts";
export {
  type Eigenpairs,
  eigh,
  type MatrixNorm,
  type MatrixNormOptions,
  matrixNorm,
  type Svd,
  svd,
} from "./spectral.ts";
