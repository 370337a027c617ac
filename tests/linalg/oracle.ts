/** Matrices in plain loops of double precision, for comparison: a list of rows each. */
import { type Nd, nd } from "../tensor/check.ts";

export type Matrix = readonly (readonly number[])[];

const count = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

export const times = (a: Matrix, b: Matrix): number[][] =>
  a.map((row) => b[0]!.map((_, j) => row.reduce((s, v, k) => s + v * b[k]![j]!, 0)));
export const flip = (a: Matrix): number[][] => a[0]!.map((_, j) => a.map((row) => row[j]!));
export const eye = (n: number): number[][] => count(n).map((i) => count(n).map((j) => +(i === j)));

/** The matrices of a stack. */
export function matricesOf({ shape, data }: Nd): Matrix[] {
  const [m, n] = shape.slice(-2) as [number, number];
  const each = m * n;
  return count(each ? data.length / each : shape.slice(0, -2).reduce((a, b) => a * b, 1)).map((b) =>
    count(m).map((i) => data.slice(b * each + i * n, b * each + (i + 1) * n)),
  );
}

export const stackOf = (batch: readonly number[], list: readonly Matrix[]): Nd => {
  const first = list[0]!;
  return nd([...batch, first.length, first[0]?.length ?? 0], list.flat(2));
};

/** A function of one matrix, or of matrices that belong together, over stacks. */
export const each =
  (f: (...m: Matrix[]) => Matrix) =>
  (...xs: Nd[]): Nd => {
    const lists = xs.map(matricesOf);
    const batch = xs[0]!.shape.slice(0, -2);
    return stackOf(
      batch,
      lists[0]!.map((_, i) => f(...lists.map((l) => l[i]!))),
    );
  };

/** Gauss-Jordan with partial pivoting, and the determinant on the way. */
export function solveOf(a: Matrix, b: Matrix): { x: number[][]; det: number } {
  const n = a.length;
  const m = a.map((row, i) => [...row, ...b[i]!]);
  let det = 1;
  for (const k of count(n)) {
    let p = k;
    for (let i = k; i < n; i++) if (Math.abs(m[i]![k]!) > Math.abs(m[p]![k]!)) p = i;
    if (p !== k) det = -det;
    [m[k], m[p]] = [m[p]!, m[k]!];
    det *= m[k]![k]!;
    for (const i of count(n)) {
      if (i === k) continue;
      const f = m[i]![k]! / m[k]![k]!;
      m[i] = m[i]!.map((v, j) => v - f * m[k]![j]!);
    }
  }
  return { x: m.map((row, i) => row.slice(n).map((v) => v / row[i]!)), det };
}

/** Row by row (Cholesky-Banachiewicz). */
export function choleskyOf(a: Matrix): number[][] {
  const l = a.map((row) => row.map(() => 0));
  for (const i of count(a.length))
    for (let j = 0; j <= i; j++) {
      let s = a[i]![j]!;
      for (let k = 0; k < j; k++) s -= l[i]![k]! * l[j]![k]!;
      l[i]![j] = i === j ? Math.sqrt(s) : s / l[j]![j]!;
    }
  return l;
}

/** Well conditioned, with no symmetry: a wave, and a heavy diagonal whose entries differ. */
export const sturdy = (batch: number, n: number, seed = 1): Nd => ({
  shape: [batch, n, n],
  data: count(batch * n * n).map((k) => {
    const [i, j] = [Math.floor(k / n) % n, k % n];
    return Math.sin(1.7 * k + seed) + ((i + 1) % n === j ? 3 + i : 0);
  }),
});

/** Symmetric and positive definite. */
export const positive = (batch: number, n: number, seed = 1): Nd =>
  each((a) => times(a, flip(a)).map((row, i) => row.map((v, j) => v / 4 + +(i === j))))(
    sturdy(batch, n, seed),
  );
