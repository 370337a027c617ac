/**
 * Orthogonal factors by Householder reflections, `qr`, and what is least in squares: `lstsq`,
 * `pinv`, and powers. Reflections are found by one scan over the columns and put together by
 * another, which runs back.
 */
import { type Dim, isStatic, minDim, sameDim } from "../dim.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { broadcastTo } from "../ops/broadcast.ts";
import type { ClosedForm } from "../ops/call-gradient.ts";
import { widened } from "../ops/composite/in-float32.ts";
import { matmul } from "../ops/contraction.ts";
import { select } from "../ops/elementwise/compare.ts";
import { convert } from "../ops/elementwise/convert.ts";
import { concat } from "../ops/join.ts";
import { sliceAxis, squeeze } from "../ops/movement.ts";
import { sum } from "../ops/reduce.ts";
import { scan } from "../ops/scan.ts";
import { iota } from "../ops/source.ts";
import { broadcastShapes, printShape } from "../shape.ts";
import { inClosedForm } from "../transforms/custom-vjp.ts";
import { inv, triangularSolve } from "./decompositions.ts";
import { svdOf } from "./jacobi.ts";
import {
  asColumn,
  asRow,
  batchOf,
  checkMatrices,
  checkNumber,
  checkSquares,
  columnNumbers,
  identities,
  identity,
  rowAt,
  rowNumbers,
  turned,
} from "./matrices.ts";

export interface Qr {
  /** Orthonormal columns. */
  readonly q: Tensor;
  /** Upper triangular. */
  readonly r: Tensor;
}

/**
 * Q and R of matrices of no more columns than rows. A column that is zero below its diagonal is
 * left as it is; else the reflection of x onto −sign(x₀)·‖x‖ is I − τ·v·vᵀ, with v = x −
 * (−sign(x₀)·‖x‖)·e₀ and τ = 2/vᵀv (Golub & Van Loan, alg. 5.1.1).
 */
function reflected(x: Tensor): [Tensor, Tensor] {
  const [m, n] = x.shape.slice(-2) as [Dim, Dim];
  const rows = iota([m]);
  /** Columns as rows, along memory: t − (t·v)·(τ·v), for each. */
  const reflect = (t: Tensor, v: Tensor, scaled: Tensor): Tensor =>
    t.sub(sum(t.mul(asRow(v)), -1, { keepDims: true }).mul(asRow(scaled)));
  const { carry, ys } = scan(
    [turned(x)],
    [],
    ([r], _x, k) => {
      const column = rowAt(r!, k);
      const first = rowAt(asColumn(column), k);
      const below = select(rows.greater(k), column, 0);
      const rest = sum(below.mul(below), -1, { keepDims: true });
      const length = rest.add(first.mul(first)).sqrt();
      const onto = select(first.less(0), length, length.neg());
      const head = first.sub(onto);
      const norm = rest.add(head.mul(head));
      const flat = rest.equal(0);
      const scale = select(flat, 0, select(flat, 1, norm).reciprocal().mul(2));
      const v = select(rows.equal(k), head, below);
      const scaled = v.mul(scale);
      return { carry: [reflect(r!, v, scaled)], ys: [v, scaled] };
    },
    { length: n },
  );
  const thin = convert(rowNumbers(n).equal(columnNumbers(m)), x.dtype);
  const back = scan(
    [broadcastTo(thin, [...batchOf(x), n, m])],
    ys,
    ([q], [v, scaled]) => ({ carry: [reflect(q!, v!, scaled!)], ys: [] }),
    { reverse: true },
  );
  const upper = turned(sliceAxis(carry[0]!, -1, 0, n));
  const r = select(rowNumbers(n).lessEqual(columnNumbers(n)), upper, 0);
  return [turned(back.carry[0]!), r];
}

/**
 * gx = (gQ + Q·sym(M))·R⁻ᵀ, M = R·gRᵀ − gQᵀ·Q, sym its lower triangle mirrored (Walter & Lehmann
 * 2012).
 */
const thinQr: ClosedForm = {
  name: "qr",
  body: (x) => reflected(x!),
  gradient: ([gq, gr], ys) => {
    const [q, r] = ys as readonly [Tensor, Tensor];
    const m = matmul(r, turned(gr!)).sub(matmul(turned(gq!), q));
    const n = r.shape[r.rank - 1]!;
    const lower = select(rowNumbers(n).greater(columnNumbers(n)), m, 0);
    const same = select(rowNumbers(n).equal(columnNumbers(n)), m, 0);
    const mirrored = lower.add(turned(lower)).add(same);
    const inner = gq!.add(matmul(q, mirrored));
    return [turned(triangularSolve(r, turned(inner), { upper: true }))];
  },
};

/**
 * Orthonormal columns and an upper triangle: x = q·r. The signs are LAPACK's: a diagonal of r may
 * be negative.
 *
 * x: float[…, m, n], k = min(m, n) → q[…, m, k], r[…, k, n]. Halves become f32. The gradient takes
 * the first k columns to be independent: ±∞ or NaN where they are not. Throws DtypeError unless x
 * is float, ShapeError where the lesser of two symbols is not known. `torch.linalg.qr`, reduced.
 *
 * @example
 *   const { q, r } = linalg.qr(tensor([[3, 1], [4, 2]]));
 *   q.transpose().matmul(q).round() // [[1, 0], [0, 1]]
 *   r.abs() // [[5, 2.2], [0, 0.4]]
 */
export function qr(x: Tensor): Qr {
  const { rows, columns } = checkMatrices("qr", x);
  const least = minDim(rows, columns);
  const wide = widened(x);
  if (sameDim(least, columns)) {
    const [q, r] = inClosedForm(thinQr, [wide]) as [Tensor, Tensor];
    return { q, r };
  }
  if (!sameDim(least, rows))
    throw new ShapeError(
      `qr: x is ${printShape(x.shape)}, of which it is not known whether it is tall or wide\n  give a number for one extent, or bounds: dim("N", { max: 8 })`,
    );
  const [q, r] = inClosedForm(thinQr, [sliceAxis(wide, -1, 0, rows)]) as [Tensor, Tensor];
  const rest = matmul(turned(q), sliceAxis(wide, -1, rows));
  return { q, r: concat([r, rest], r.rank - 1) };
}

export interface RankOptions {
  /**
   * Singular values up to this share of the largest count as 0. Default max(m, n) times the spacing
   * of the dtype at 1.
   */
  readonly rtol?: number;
}

const rankOptions: OptionNames<RankOptions> = { rtol: 1 };
/** Of f64, or of f32, at 1. */
const spacingOf = (x: Tensor): number => (x.dtype === "f64" ? 2 ** -52 : 2 ** -23);

/** The share of the largest singular value below which another counts as 0. */
function shareOf(x: Tensor, rtol: number | undefined): number {
  const [m, n] = x.shape.slice(-2).map((d) => (isStatic(d) ? d : 1)) as [number, number];
  return rtol ?? Math.max(m, n) * spacingOf(x);
}

/**
 * V·Σ⁺·Uᵀ, and its gradient in closed form (Golub & Pereyra 1973), which equal singular values do
 * not disturb.
 */
const pseudoInverse = (share: number): ClosedForm => ({
  name: `pinv ${share}`,
  body: (x) => {
    const { u, s, vt } = svdOf(x!);
    const least = sliceAxis(s, -1, 0, 1).mul(share);
    const kept = s.greater(least);
    const inverse = select(s.isNan(), NaN, select(kept, select(kept, s, 1).reciprocal(), 0));
    return [matmul(turned(vt).mul(asRow(inverse)), turned(u))];
  },
  gradient: ([g], [y], x0) => {
    const [p, x] = [y!, x0!];
    const gt = turned(g!);
    const pt = turned(p);
    const [m, n] = x.shape.slice(-2) as [number, number];
    const outside = identity(m, x).sub(matmul(x, p));
    const inside = identity(n, x).sub(matmul(p, x));
    const first = matmul(matmul(pt, g!), pt).neg();
    const second = matmul(matmul(outside, gt), matmul(p, pt));
    const third = matmul(matmul(pt, p), matmul(gt, inside));
    return [first.add(second).add(third)];
  },
});

/**
 * The Moore-Penrose inverse, by singular values: those that count as 0 are left out.
 *
 * x: float[…, m, n], m and n numbers → [..., n, m]. Halves become f32. `torch.linalg.pinv`.
 *
 * @example
 *   linalg.pinv(tensor([[2, 0, 0], [0, 4, 0]])) // [[½, 0], [0, ¼], [0, 0]]
 */
export function pinv(x: Tensor, options: RankOptions = {}): Tensor {
  const { rows, columns } = checkMatrices("pinv", x);
  const { rtol } = checkOptions("pinv", options, rankOptions);
  for (const d of [rows, columns]) checkNumber("pinv", d);
  const wide = widened(x);
  return inClosedForm(pseudoInverse(shareOf(wide, rtol)), [wide])[0]!;
}

/**
 * X that makes ‖a·X − b‖ least, and itself the shortest of such: pinv(a)·b.
 *
 * a: float[…, m, n], b: float[…, m, k] or […, m] → [..., n, k] or [..., n]; m and n numbers. Any
 * rank. Halves become f32. Throws ShapeError unless b has m rows, DtypeError where dtypes differ.
 * `torch.linalg.lstsq`.
 *
 * @example
 *   const [x, y] = [tensor([1, 2, 3]), tensor([3, 5, 7])];
 *   linalg.lstsq(stack([x, onesLike(x)], 1), y) // [2, 1]; y = 2·x + 1
 */
export function lstsq(a: Tensor, b: Tensor, options: RankOptions = {}): Tensor {
  const { rows } = checkMatrices("lstsq", a);
  if (a.dtype !== b.dtype)
    throw new DtypeError(
      `lstsq: dtypes differ: a is ${a.dtype}, b is ${b.dtype}\n  convert one to the dtype of the other: x.convert("f32")`,
    );
  const vector = b.rank === 1 || b.rank === a.rank - 1;
  const right = vector ? asColumn(b) : b;
  if (b.rank === 0 || !sameDim(right.shape[right.rank - 2]!, rows))
    throw new ShapeError(
      `lstsq: a is ${printShape(a.shape)}, b ${printShape(b.shape)} has not as many rows\n  give b[..., m, k], or b[..., m] for one right side`,
    );
  broadcastShapes("lstsq", batchOf(a), batchOf(right));
  const x = matmul(pinv(a, options), widened(right));
  return vector ? squeeze(x, -1) : x;
}

/**
 * x·x·…·x, n times, by repeated squaring: 0 gives the identity, −n the power of the inverse.
 *
 * x: float[…, n, n] → the same. Halves become f32. Throws GraphError unless the power is a whole
 * number, and as `lu`. `torch.linalg.matrix_power`.
 *
 * @param power A whole number.
 * @example
 *   linalg.matrixPower(tensor([[1, 1], [0, 1]]), 8) // [[1, 8], [0, 1]]; three products
 */
export function matrixPower(x: Tensor, power: number): Tensor {
  const n = checkSquares("matrixPower", x);
  if (!Number.isSafeInteger(power))
    throw new GraphError(
      `matrixPower: the power is ${String(power)}, not a whole number\n  take a decomposition for others: linalg.eigh`,
    );
  const wide = widened(x);
  let square = power < 0 ? inv(wide) : wide;
  let result: Tensor | undefined;
  for (let left = Math.abs(power); left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = result ? matmul(result, square) : square;
    if (left > 1) square = matmul(square, square);
  }
  return result ?? identities(wide, n);
}
