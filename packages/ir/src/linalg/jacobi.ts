/**
 * Singular and eigenvalues by rotations of pairs of rows (one-sided Jacobi, Hestenes 1958). A step
 * rotates n/2 disjoint pairs until they are orthogonal, n − 1 steps, in which every pair meets, are
 * a sweep, and sweeps go on until nothing is left to rotate. A row that is rotated is read and
 * written once, along memory. Vectors come out orthogonal to the precision of the dtype, and small
 * singular values as exact as large ones (Demmel & Veselić 1992). What does not settle is NaN.
 */
import type { Tensor } from "../node.ts";
import { broadcastTo } from "../ops/broadcast.ts";
import { matmul } from "../ops/contraction.ts";
import { select } from "../ops/elementwise/compare.ts";
import { concat } from "../ops/join.ts";
import { pad, sliceAxis } from "../ops/movement.ts";
import { any, max, sum } from "../ops/reduce.ts";
import { scan } from "../ops/scan.ts";
import { argSort } from "../ops/sort.ts";
import { constant, iota } from "../ops/source.ts";
import { whileLoop } from "../ops/while.ts";
import { asColumn, batchOf, identities, identity, rowsInOrder, turned } from "./matrices.ts";

/** No more sweeps than this; about log₂ n + 4 are needed. */
const mostSweeps = 24;

const spacingOf = (x: Tensor): number => (x.dtype === "f64" ? 2 ** -52 : 2 ** -23);

/** cos and sin of the rotation that makes [[α, γ], [γ, β]] diagonal, by the smaller angle. */
function angle(alpha: Tensor, beta: Tensor, gamma: Tensor): { cos: Tensor; sin: Tensor } {
  const still = gamma.equal(0);
  const zeta = beta.sub(alpha).div(select(still, 1, gamma).mul(2));
  const size = zeta.abs();
  // √(1 + ζ²) overflows where ζ² does, and t is 1/(2ζ) then.
  const slope = select(size.greater(1e9), size.mul(2), size.add(zeta.mul(zeta).add(1).sqrt()));
  const t = select(zeta.less(0), -1, 1).div(slope);
  const cos = t.mul(t).add(1).rsqrt();
  return { cos: select(still, 1, cos), sin: select(still, 0, t.mul(cos)) };
}

/** Of pairs of rows, how far they are from orthogonal: |p·q| / ‖p‖‖q‖, NaN where one has a NaN. */
function skewOf(alpha: Tensor, beta: Tensor, gamma: Tensor): Tensor {
  const scale = alpha.sqrt().mul(beta.sqrt());
  const none = gamma.equal(0);
  return select(none, 0, gamma.abs().div(select(scale.equal(0), 1, scale)));
}

/** Two halves of the rows, whose rows of one number are a pair. */
type Halves = readonly [Tensor, Tensor];

/**
 * Cosines and sines [..., h, 1] as factors of p and q, for the rows of each half after the step.
 */
interface Factors {
  readonly first: readonly [ofP: Tensor, ofQ: Tensor];
  readonly second: readonly [ofP: Tensor, ofQ: Tensor];
}

/**
 * The first row of the first half stays, the others go round: in as many steps as there are others
 * each meets each. Of the rotated rows P = cos·p − sin·q and Q = sin·p + cos·q the halves become P₀
 * Q₀ P₁ P₂ … and Q₁ Q₂ … P_last, which are factors of rows of p and q that stand one place up, or
 * down.
 */
function factorsOf(cos: Tensor, sin: Tensor, h: number): Factors {
  const minus = sin.neg();
  if (h === 1) return { first: [cos, minus], second: [sin, cos] };
  const rows = (x: Tensor, from: number, to: number) => sliceAxis(x, -2, from, to);
  const around = (head: Tensor, second: Tensor, others: Tensor) =>
    concat([rows(head, 0, 1), rows(second, 0, 1), ...(h > 2 ? [rows(others, 1, h - 1)] : [])], -2);
  const along = (others: Tensor, last: Tensor) =>
    concat([rows(others, 1, h), rows(last, h - 1, h)], -2);
  return {
    first: [around(cos, sin, cos), around(minus, cos, minus)],
    second: [along(sin, cos), along(cos, minus)],
  };
}

/** Rows one place down, the first twice, and one place up, the last twice: a gather clamps. */
function shifted(x: Tensor, by: 1 | -1, h: number): Tensor {
  if (h === 1) return x;
  return rowsInOrder(x, broadcastTo(iota([h]).sub(by), [...batchOf(x), h]));
}

/** One step; only the first `length` numbers of a row say by what angle it is rotated. */
function stepOf([p, q]: Halves, h: number, length: number): { next: Halves; skew: Tensor } {
  const [a, b] = [sliceAxis(p, -1, 0, length), sliceAxis(q, -1, 0, length)];
  const dot = (x: Tensor, y: Tensor) => sum(x.mul(y), -1, { keepDims: true });
  const [alpha, beta, gamma] = [dot(a, a), dot(b, b), dot(a, b)];
  const { cos, sin } = angle(alpha, beta, gamma);
  const { first, second } = factorsOf(cos, sin, h);
  const turnedTo = (by: 1 | -1, [ofP, ofQ]: readonly [Tensor, Tensor]) =>
    shifted(p, by, h)
      .mul(ofP)
      .add(shifted(q, by, h).mul(ofQ));
  return {
    next: [turnedTo(1, first), turnedTo(-1, second)],
    skew: max(skewOf(alpha, beta, gamma), [-1, -2]),
  };
}

/** Some steps one after the other, and the greater of the skew so far and theirs. */
function stepsOf(held: readonly Tensor[], h: number, length: number, count: number): Tensor[] {
  let [p, q, worst] = held as readonly [Tensor, Tensor, Tensor];
  for (let i = 0; i < count; i++) {
    const { next, skew } = stepOf([p, q], h, length);
    [p, q] = next;
    worst = worst.maximum(skew);
  }
  return [p, q, worst];
}

interface Rotated {
  /** The rows, whose first numbers are orthogonal to those of each other. */
  readonly rows: Tensor;
  /** Of each matrix, whether they are. */
  readonly settled: Tensor;
}

/** Rows of [..., n, m] rotated in pairs. */
function rotated(x: Tensor, length: number): Rotated {
  const count = x.shape[x.rank - 2] as number;
  const batch = batchOf(x);
  const n = count + (count % 2);
  const even = n === count ? x : pad(x, 0, 0, [...batch.map(() => 0), 1, 0]);
  const h = n / 2;
  const most = 16 * spacingOf(x);
  // Of two steps the second writes where the first has read; the n − 1 of a sweep are odd. Where
  // whole rows are read, its sums would be taken in the kernel that writes the rows, row by row.
  const together = length === x.shape[x.rank - 1] ? 1 : 2;
  const worst = broadcastTo(constant(1, x.dtype), batch);
  const out = whileLoop(
    [sliceAxis(even, -2, 0, h), sliceAxis(even, -2, h, n), worst, constant(0, "i32")],
    (_p, _q, skew, sweep) => any(skew!.greater(most)).and(sweep!.less(mostSweeps)),
    (p, q, skew, sweep) => {
      const [a, b, before] = stepsOf([p!, q!, skew!.mul(0)], h, length, (n - 1) % together);
      const { carry } = scan(
        [a!, b!, before!],
        [],
        (held) => ({ carry: stepsOf(held, h, length, together), ys: [] }),
        { length: Math.floor((n - 1) / together) },
      );
      return [...carry, sweep!.add(1)];
    },
  );
  const whole = concat([out[0]!, out[1]!], x.rank - 2);
  const finite = sum(x, [-1, -2]).isFinite();
  return {
    rows: n === count ? whole : sliceAxis(whole, -2, 0, count),
    settled: out[2]!.lessEqual(100 * most).and(finite),
  };
}

/**
 * The largest |x| of each matrix: squares of what is divided by it are in range. 1 where that is 0,
 * or no number.
 */
function unitOf(x: Tensor): Tensor {
  const size = max(x.abs(), [-1, -2], { keepDims: true, empty: "identity" });
  return select(size.greater(0).and(size.isFinite()), size, 1);
}

const lengthsOf = (rows: Tensor): Tensor => sum(rows.mul(rows), -1).sqrt();

const inOrder = (v: Tensor, order: Tensor): Tensor => rowsInOrder(asColumn(v), order).squeeze(-1);

export interface Eigen {
  readonly values: Tensor;
  readonly vectors: Tensor;
}

/**
 * Of symmetric matrices, ascending. With twice its norm added to the diagonal x is positive, and
 * well conditioned: the rotated rows are then multiples of the eigenvectors, and values are vᵀ·x·v.
 */
export function eigenOf(x: Tensor, n: number): Eigen {
  const unit = unitOf(x);
  const scaled = x.div(unit);
  const shift = lengthsOf(scaled.reshape([...batchOf(x), n * n])).mul(2);
  const shifted = scaled.add(identity(n, x).mul(asColumn(asColumn(shift))));
  const { rows, settled } = rotated(shifted, n);
  const lengths = asColumn(lengthsOf(rows));
  const found = rows.div(select(lengths.equal(0), 1, lengths));
  // Of a matrix of zeros every basis is one.
  const vectors = select(lengths.equal(0), identities(x, n), found);
  const values = sum(matmul(vectors, scaled).mul(vectors), -1);
  const order = argSort(values, -1);
  const flag = asColumn(settled);
  return {
    values: select(flag, inOrder(values, order).mul(unit.squeeze(-1)), NaN),
    vectors: select(asColumn(flag), turned(rowsInOrder(vectors, order)), NaN),
  };
}

export interface Singular {
  readonly u: Tensor;
  readonly s: Tensor;
  readonly vt: Tensor;
}

/**
 * Of matrices of no more rows than columns, the largest first: x = v·diag(s)·u. Of a singular value
 * of 0 the row of u is zeros.
 */
function wideSingular(x: Tensor, n: number, m: number): { u: Tensor; s: Tensor; v: Tensor } {
  const unit = unitOf(x);
  const both = concat([x.div(unit), identities(x, n)], x.rank - 1);
  const { rows, settled } = rotated(both, m);
  const [left, right] = [sliceAxis(rows, -1, 0, m), sliceAxis(rows, -1, m, m + n)];
  const lengths = lengthsOf(left);
  const order = argSort(lengths, -1, { descending: true });
  const s = inOrder(lengths, order);
  const flag = asColumn(settled);
  const orNan = (t: Tensor) => select(asColumn(flag), t, NaN);
  return {
    u: orNan(rowsInOrder(left, order).div(asColumn(select(s.equal(0), 1, s)))),
    s: select(flag, s.mul(unit.squeeze(-1)), NaN),
    v: orNan(turned(rowsInOrder(right, order))),
  };
}

/** x = u·diag(s)·vt, with min(m, n) singular values; both extents are numbers. */
export function svdOf(x: Tensor): Singular {
  const [m, n] = x.shape.slice(-2) as [number, number];
  if (m <= n) {
    const { u, s, v } = wideSingular(x, m, n);
    return { u: v, s, vt: u };
  }
  const { u, s, v } = wideSingular(turned(x), n, m);
  return { u: turned(u), s, vt: turned(v) };
}
