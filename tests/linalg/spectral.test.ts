/**
 * `qr`, `eigh`, `svd` and what is made of them: by what they are (orthogonal, triangular, a product that is the matrix), and by functions of them
 * that signs do not change, with their gradients, against plain loops.
 */
import { evaluate, grad, linalg, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, type Nd, nd, sample } from "../tensor/check.ts";
import { each, flip, type Matrix, positive, solveOf, sturdy, times } from "./oracle.ts";

const zerosOf = (shape: readonly number[]): Nd =>
  nd(shape, new Array(shape.reduce((a, b) => a * b, 1)).fill(0));

const deviation = (q: Tensor): Tensor => {
  const product = q.swapAxes(-1, -2).matmul(q);
  const n = product.shape[product.rank - 1] as number;
  const one = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j)));
  return product.sub(tensor(one, { dtype: q.dtype }));
};

for (const [m, n] of [[3, 3], [5, 3], [3, 5], [1, 1], [4, 1]] as const) // biome-ignore format: extents
  test(`qr of ${m} × ${n}: orthonormal columns, an upper triangle, the product is the matrix`, async () => {
    const k = Math.min(m, n);
    await agrees("qr", {
      of: (x) => {
        const { q, r } = linalg.qr(x!);
        return [q.matmul(r), deviation(q), r.tril(-1)];
      },
      oracle: (x) => [x!, zerosOf([2, k, k]), zerosOf([2, k, n])],
      inputs: [sample([2, m, n], 5)],
      symbols: [["B", m, n]],
      tolerance: 20,
    });
  });

test("the gradient of qr: r·rᵀ and q·qᵀ are functions of x that signs do not change", async () => {
  const weights = (a: Matrix) => a.map((row, i) => row.map((v, j) => v * (1 + i + 2 * j)));
  const weighted = (t: Tensor) =>
    t.mul(tensor(weights(Array.from({ length: 3 }, () => [1, 1, 1])), { dtype: t.dtype }));
  const gram = (a: Matrix) => times(flip(a), a);
  await agrees("rᵀr", {
    of: (x) => {
      const { r } = linalg.qr(x!);
      return weighted(r.swapAxes(-1, -2).matmul(r)).exp();
    },
    oracle: each((a) => weights(gram(a)).map((row) => row.map(Math.exp))),
    inputs: [each((a) => a.map((row) => row.map((v) => v / 8)))(sample([2, 4, 3], 2))],
    gradients: [0],
    tolerance: 20,
  });
  await agrees("q·qᵀ, the projection on the columns", {
    of: (x) => {
      const { q } = linalg.qr(x!);
      return q.matmul(q.swapAxes(-1, -2));
    },
    oracle: each((a) => times(a, solveOf(gram(a), flip(a)).x)),
    inputs: [sample([2, 4, 2], 2)],
    gradients: [0],
    tolerance: 50,
  });
});

for (const n of [1, 2, 3, 6])
  test(`eigh of ${n} rows: ascending, orthonormal, the product is the matrix`, async () => {
    await agrees("eigh", {
      of: (x) => {
        const { values, vectors } = linalg.eigh(x!);
        const back = vectors.mul(values.expandDims(-2)).matmul(vectors.swapAxes(-1, -2));
        const steps = values.get(":", "1:").sub(values.get(":", ":-1"));
        return [back, deviation(vectors), steps.less(0).convert(values.dtype).sum(-1)];
      },
      oracle: (x) => [x!, zerosOf([2, n, n]), zerosOf([2])],
      inputs: [positive(2, n)],
      symbols: [["B", n, n]],
      tolerance: 60,
    });
  });

test("the gradient of eigh is that of functions of the matrix", async () => {
  const symmetric = (a: Matrix) => a.map((row, i) => row.map((v, j) => (v + a[j]![i]!) / 2));
  await agrees("the inverse, by eigenvalues", {
    of: (x) => {
      const { values, vectors } = linalg.eigh(x!);
      return vectors.div(values.expandDims(-2)).matmul(vectors.swapAxes(-1, -2));
    },
    oracle: each(
      (a) =>
        solveOf(
          symmetric(a),
          a.map((row, i) => row.map((_, j) => +(i === j))),
        ).x,
    ),
    inputs: [positive(2, 3)],
    gradients: [0],
    tolerance: 60,
  });
});

test("eigh of a diagonal and of equal values settles, and gradients of values are right", () => {
  const x = tensor([[2, 0, 0], [0, 2, 0], [0, 0, -1]], { dtype: "f64" }); // biome-ignore format: a matrix
  const { values } = linalg.eigh(x);
  const [g] = grad(values.mul(values).sum(), [x]);
  const [v, dx] = evaluate([values, g!]);
  assert.equal([...v!.data], [-1, 2, 2]);
  assert.equal(
    [...dx!.data].map((d) => Math.round(d * 1e9) / 1e9),
    [4, 0, 0, 0, 4, 0, 0, 0, -2],
  );
});

for (const [m, n] of [[3, 3], [5, 3], [3, 6], [1, 1]] as const) // biome-ignore format: extents
  test(`svd of ${m} × ${n}: descending, orthonormal, the product is the matrix`, async () => {
    const k = Math.min(m, n);
    await agrees("svd", {
      of: (x) => {
        const { u, s, vt } = linalg.svd(x!);
        const steps = s.get(":", "1:").sub(s.get(":", ":-1")).greater(0).convert(s.dtype).sum(-1);
        return [
          u.mul(s.expandDims(-2)).matmul(vt),
          deviation(u),
          deviation(vt.swapAxes(-1, -2)),
          steps,
        ];
      },
      oracle: (x) => [x!, zerosOf([2, k, k]), zerosOf([2, k, k]), zerosOf([2])],
      inputs: [sample([2, m, n], 5)],
      symbols: [["B", m, n]],
      tolerance: 60,
    });
  });

test("the gradient of svd is that of functions of the matrix", async () => {
  for (const shape of [[2, 4, 3], [2, 3, 4]]) // biome-ignore format: extents
    await agrees("u·s³·vt is x·xᵀ·x", {
      of: (x) => {
        const { u, s, vt } = linalg.svd(x!);
        return u.mul(s.mul(s).mul(s).expandDims(-2)).matmul(vt);
      },
      oracle: each((a) => times(times(a, flip(a)), a)),
      inputs: [sample(shape, 3)],
      gradients: [0],
      tolerance: 100,
    });
});

test("small singular values are as exact as large ones", () => {
  const x = tensor([[1, 0], [0, 1e-7]]).matmul(tensor([[0.6, 0.8], [-0.8, 0.6]])); // biome-ignore format: matrices
  const [s] = evaluate([linalg.svd(x).s]);
  assert.ok(Math.abs(s!.data[1]! / 1e-7 - 1) < 1e-5, String(s!.data));
});

test("a NaN stays one, and an infinity is none of the values", () => {
  for (const bad of [NaN, Infinity]) {
    const x = tensor([[1, bad], [2, 3]]); // biome-ignore format: a matrix
    for (const t of [linalg.svd(x).s, linalg.eigh(x).values, linalg.pinv(x)])
      assert.ok(
        [...evaluate([t])[0]!.data].every((v) => Number.isNaN(v)),
        `${bad}`,
      );
  }
});

test("pinv and lstsq, of full and of lesser rank", async () => {
  const gramInverse = (a: Matrix) => solveOf(times(flip(a), a), flip(a)).x;
  await agrees("pinv", {
    of: (x) => linalg.pinv(x!),
    oracle: each(gramInverse),
    inputs: [sample([2, 4, 2], 2)],
    symbols: [["B", 4, 2]],
    gradients: [0],
    tolerance: 60,
  });
  await agrees("lstsq", {
    of: (a, b) => linalg.lstsq(a!, b!),
    oracle: each((a, b) => times(gramInverse(a), b)),
    inputs: [sample([2, 4, 2], 2), sample([2, 4, 1], 6)],
    gradients: [0, 1],
    tolerance: 60,
  });
  const flat = tensor([[1, 1], [1, 1]], { dtype: "f64" }); // biome-ignore format: a matrix
  const [p] = evaluate([linalg.pinv(flat)]);
  for (const v of p!.data) assert.ok(Math.abs(v - 0.25) < 1e-12);
});

test("powers and norms", async () => {
  const x = sturdy(2, 3);
  await agrees("matrixPower", {
    of: (a) => [3, -2, 0].map((n) => linalg.matrixPower(a!, n)),
    oracle: (a) => [
      each((m) => times(times(m, m), m))(a!),
      each(
        (m) =>
          solveOf(
            times(m, m),
            m.map((r, i) => r.map((_, j) => +(i === j))),
          ).x,
      )(a!),
      each((m) => m.map((r, i) => r.map((_, j) => +(i === j))))(a!),
    ],
    inputs: [x],
    symbols: [["B", "N", "N"]],
    gradients: [0],
    tolerance: 30,
  });
  const d = tensor([[3, 0], [0, -4]], { dtype: "f64" }); // biome-ignore format: a matrix
  const norms = (["fro", "nuc", 1, -1, 2, -2, Infinity, -Infinity] as const).map((order) =>
    linalg.matrixNorm(d, order),
  );
  const got = evaluate(norms).map((v) => Math.round(v.data[0]! * 1e9) / 1e9);
  assert.equal(got, [5, 7, 4, 3, 4, 3, 4, 3]);
});

test.run();
