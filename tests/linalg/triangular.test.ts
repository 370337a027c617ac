/**
 * Factors, solutions, inverses and determinants against plain loops: values and gradients on js and wasm, of batches, of static and symbolic
 * extents; what singular matrices give; and what is refused.
 */
import {
  evaluate,
  grad,
  input,
  jvp,
  linalg,
  makeValue,
  type Tensor,
  tensor,
  vmap,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, nd, sample } from "../tensor/check.ts";
import { choleskyOf, each, eye, flip, matricesOf, positive, solveOf, sturdy } from "./oracle.ts";

const square: readonly (readonly string[])[] = [["B", "N", "N"]];

for (const n of [1, 3, 4]) {
  test(`the inverse and the solution, ${n} rows`, async () => {
    await agrees("inv", {
      of: (x) => linalg.inv(x!),
      oracle: each((a) => solveOf(a, eye(a.length)).x),
      inputs: [sturdy(2, n)],
      symbols: square,
      gradients: [0],
      tolerance: 20,
    });
    await agrees("solve", {
      of: (a, b) => linalg.solve(a!, b!),
      oracle: each((a, b) => solveOf(a, b).x),
      inputs: [sturdy(2, n), sample([2, n, 2], 3)],
      symbols: [
        ["B", "N", "N"],
        ["B", "N", "M"],
      ],
      gradients: [0, 1],
      tolerance: 20,
    });
  });

  test(`the determinant and its logarithm, ${n} rows`, async () => {
    const dets = (x: Parameters<typeof matricesOf>[0]) =>
      matricesOf(x).map((a) => solveOf(a, a).det);
    await agrees("det", {
      of: (x) => linalg.det(x!),
      oracle: (x) => nd([2], dets(x!)),
      inputs: [sturdy(2, n)],
      symbols: square,
      gradients: [0],
      tolerance: 30,
    });
    await agrees("slogdet", {
      of: (x) => [linalg.slogdet(x!).logAbs, linalg.slogdet(x!).sign],
      oracle: (x) => [
        nd(
          [2],
          dets(x!).map((d) => Math.log(Math.abs(d))),
        ),
        nd([2], dets(x!).map(Math.sign)),
      ],
      inputs: [sturdy(2, n)],
      symbols: square,
      gradients: [0],
      tolerance: 20,
    });
  });

  test(`the factor of Cholesky, ${n} rows`, async () => {
    await agrees("cholesky", {
      of: (x) => linalg.cholesky(x!.add(x!.swapAxes(-1, -2)).mul(0.5)),
      oracle: each((a) => choleskyOf(a.map((row, i) => row.map((v, j) => (v + a[j]![i]!) / 2)))),
      inputs: [positive(2, n)],
      symbols: square,
      gradients: [0],
      tolerance: 20,
    });
    await agrees("upper cholesky", {
      of: (x) => linalg.cholesky(x!, { upper: true }),
      oracle: each((a) => flip(choleskyOf(a))),
      inputs: [positive(2, n)],
    });
  });

  test(`p·l·u is the matrix, and its factors are triangles, ${n} rows`, async () => {
    await agrees("lu", {
      of: (x) => {
        const { p, l, u } = linalg.lu(x!);
        return [p.matmul(l).matmul(u), l.triu(1), u.tril(-1)];
      },
      oracle: (x) => [
        x!,
        ...[0, 1].map(() =>
          nd(
            x!.shape,
            x!.data.map(() => 0),
          ),
        ),
      ],
      inputs: [sturdy(2, n)],
      symbols: square,
      tolerance: 20,
    });
    await agrees("a function of l and u", {
      of: (x) => {
        const { l, u } = linalg.lu(x!);
        return l
          .mul(l)
          .sum([-1, -2])
          .add(u.exp().sum([-1, -2]).log());
      },
      oracle: (x) => {
        const values = matricesOf(x!).map((a) => {
          const { l, u } = factorsOf(a);
          const squares = l.flat().reduce((s, v) => s + v * v, 0);
          return squares + Math.log(u.flat().reduce((s, v) => s + Math.exp(v), 0));
        });
        return nd([values.length], values);
      },
      inputs: [sturdy(2, n)],
      gradients: [0],
      tolerance: 30,
    });
  });
}

/** Doolittle, with rows exchanged. */
function factorsOf(a: readonly (readonly number[])[]): { l: number[][]; u: number[][] } {
  const n = a.length;
  const u = a.map((row) => [...row]);
  const l = eye(n);
  for (let k = 0; k < n; k++) {
    let p = k;
    for (let i = k; i < n; i++) if (Math.abs(u[i]![k]!) > Math.abs(u[p]![k]!)) p = i;
    [u[k], u[p]] = [u[p]!, u[k]!];
    for (let j = 0; j < k; j++) [l[k]![j], l[p]![j]] = [l[p]![j]!, l[k]![j]!];
    for (let i = k + 1; i < n; i++) {
      l[i]![k] = u[i]![k]! / u[k]![k]!;
      u[i] = u[i]!.map((v, j) => (j <= k ? 0 : v - l[i]![k]! * u[k]![j]!));
    }
  }
  return { l, u };
}

test("triangular systems, upper and lower, with and without their diagonal", async () => {
  for (const upper of [true, false])
    for (const unit of [true, false]) {
      const kept = (a: readonly (readonly number[])[]) =>
        a.map((row, i) => row.map((v, j) => (i === j ? (unit ? 1 : v) : upper === j > i ? v : 0)));
      const heavy = each((a) => a.map((row, i) => row.map((v, j) => (i === j ? v + 4 : v / 8))));
      await agrees(`triangularSolve ${upper} ${unit}`, {
        of: (a, b) => linalg.triangularSolve(a!, b!, { upper, unit }),
        oracle: each((a, b) => solveOf(kept(a), b).x),
        inputs: [heavy(sturdy(2, 3)), sample([2, 3, 2], 2)],
        symbols: [
          ["B", "N", "N"],
          ["B", "N", "M"],
        ],
        gradients: [0, 1],
        tolerance: 10,
      });
    }
});

const numbers = (...ts: Tensor[]): number[][] => evaluate(ts).map((v) => [...v.data]);

test("a vector is one right side, and batches broadcast", () => {
  const a = tensor([[2, 0], [0, 4]]); // biome-ignore format: a matrix
  assert.equal(numbers(linalg.solve(a, tensor([2, 4])))[0], [1, 1]);
  const many = linalg.solve(a, tensor([[[2], [4]], [[4], [8]]])); // biome-ignore format: a batch
  assert.equal(
    [many.shape, numbers(many)[0]],
    [
      [2, 2, 1],
      [1, 1, 2, 2],
    ],
  );
});

test("singular matrices have a determinant of 0, and no finite inverse", () => {
  const x = tensor([[1, 2], [2, 4]]); // biome-ignore format: a matrix
  const { sign, logAbs } = linalg.slogdet(x);
  assert.equal(numbers(linalg.det(x), sign, logAbs).flat(), [0, 0, -Infinity]);
  assert.not(numbers(linalg.inv(x))[0]!.some(Number.isFinite));
  assert.not(numbers(linalg.solve(x, tensor([1, 1])))[0]!.every(Number.isFinite));
  const zeros = tensor([[0, 0], [0, 0]]); // biome-ignore format: a matrix
  assert.equal(numbers(linalg.det(zeros))[0], [0]);
});

test("what is not positive definite has NaN for a factor, and a NaN stays one", () => {
  for (const x of [[[1, 2], [2, 1]], [[0, 0], [0, 1]], [[-1, 0], [0, 1]]]) // biome-ignore format: matrices
    assert.ok(numbers(linalg.cholesky(tensor(x)))[0]!.some(Number.isNaN), String(x));
  const odd = tensor([[1, NaN], [2, 3]]); // biome-ignore format: a matrix
  assert.ok(Number.isNaN(numbers(linalg.det(odd))[0]![0]));
});

test("gradients have gradients, and tangents: of det, by its closed form", () => {
  // det of [[a, b], [c, d]] is ad − bc: its Hessian is constant.
  const x = tensor([[2, 3], [5, 7]], { dtype: "f64" }); // biome-ignore format: a matrix
  const [g] = grad(linalg.det(x), [x]);
  const [h] = grad(g!.mul(tensor([[1, 10], [100, 1000]], { dtype: "f64" })).sum(), [x]); // biome-ignore format: weights
  const close = (got: readonly number[], want: readonly number[]) =>
    got.every((v, i) => Math.abs(v - want[i]!) < 1e-9);
  assert.ok(close(numbers(g!)[0]!, [7, -5, -3, 2]));
  assert.ok(close(numbers(h!)[0]!, [1000, -100, -10, 1]), String(numbers(h!)[0]));
  const t = jvp((m: Tensor) => linalg.det(m), x, x.onesLike()).tangent as Tensor;
  assert.ok(close(numbers(t)[0]!, [1]));
});

test("vmap of a solution is the solution of a batch", () => {
  const [a, b] = [sturdy(3, 3), sample([3, 3], 4)];
  const [x, y] = [input("a", "f64", ["B", 3, 3]), input("b", "f64", ["B", 3])];
  const each = vmap((m, v) => linalg.solve(m!, v!))(x, y);
  const inputs = new Map([
    [x, makeValue("f64", a.shape, [...a.data])],
    [y, makeValue("f64", b.shape, [...b.data])],
  ]);
  const gs = grad(each.sum(), [x, y]);
  const whole = linalg.solve(x, y.expandDims(-1)).squeeze(-1);
  const want = [whole, ...grad(whole.sum(), [x, y])];
  const values = evaluate([each, ...gs, ...want], { inputs });
  for (const i of [0, 1, 2])
    for (const [k, v] of values[i]!.data.entries())
      assert.ok(Math.abs(v - values[i + 3]!.data[k]!) < 1e-10);
});

test("halves are computed in f32", () => {
  const x = tensor([[2, 1], [1, 3]], { dtype: "f16" }); // biome-ignore format: a matrix
  assert.equal([linalg.inv(x).dtype, linalg.det(x).dtype], ["f32", "f16"]);
});

test.run();
