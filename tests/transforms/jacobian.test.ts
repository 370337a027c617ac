/** Jacobians and Hessians against closed forms, forward and reverse, and through compiled programs; `vjp` as a pair. */
import {
  checkpoint,
  dim,
  evaluate,
  hessian,
  input,
  jacobian,
  makeValue,
  type Tensor,
  tensor,
  topologicalOrder,
  vjp,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, build, nd, sample } from "../tensor/check.ts";

const data = (ts: readonly Tensor[]): number[][] => evaluate(ts).map((v) => [...v.data]);

test("the jacobian of a product of a matrix and a vector is the matrix, either way", () => {
  const w = tensor([[1, 2, 3], [4, 5, 6]]); // biome-ignore format: a matrix
  const x = tensor([1, 1, 1]);
  for (const mode of ["forward", "reverse", "auto"] as const) {
    const j = jacobian((v) => w.matmul(v), x, { mode });
    assert.equal(
      [j.shape, data([j])[0]],
      [
        [2, 3],
        [1, 2, 3, 4, 5, 6],
      ],
    );
  }
});

test("jacobian takes as few passes as there are elements on the smaller side", () => {
  const [wide, tall] = [input("w", "f32", [2, 50]), input("t", "f32", [50, 2])];
  const j = [wide, tall].map((w) =>
    jacobian((v) => w.matmul(v.tanh()), input("x", "f32", [w.shape[1]!])),
  );
  for (const t of j)
    assert.not(topologicalOrder([t]).some((n) => n.shape[0] === 50 && n.shape[1] === 50));
});

test("an argument that is not read has a jacobian of zeros", () => {
  const [x, y] = [tensor([1, 2]), tensor([3])];
  const [jx, jy] = jacobian((a, _b) => a.mul(2), [x, y]);
  assert.equal(data([jx!, jy!]), [
    [2, 0, 0, 2],
    [0, 0],
  ]);
});

const cube = (v: Tensor): Tensor => v.mul(v).mul(v).sum();

test("jacobian and hessian on js and wasm, of static and symbolic extents", async () => {
  const x = sample([4]);
  await agrees("jacobian", {
    of: (a) => [
      jacobian((v) => v.mul(v.sum()), a!, { mode: "forward" }),
      jacobian((v) => v.mul(v.sum()), a!, { mode: "reverse" }),
    ],
    oracle: (a) => {
      const sum = a.data.reduce((s, v) => s + v, 0);
      const j = build([4, 4], (i, k) => a.data[i]! + (i === k ? sum : 0));
      return [j, j];
    },
    inputs: [x],
    symbols: [["N"]],
  });
  await agrees("hessian", {
    of: (a) => hessian(cube, a!),
    oracle: (a) => build([4, 4], (i, k) => (i === k ? 6 * a.data[i]! : 0)),
    inputs: [x],
    symbols: [["N"]],
    gradients: [0],
  });
  await agrees("hessian through a checkpoint", {
    of: (a) => hessian((v) => checkpoint(cube)(v), a!),
    oracle: (a) => build([4, 4], (i, k) => (i === k ? 6 * a.data[i]! : 0)),
    inputs: [nd([4], [1, -2, 3, 0.5])],
    symbols: [["N"]],
  });
});

test("the extents of a hessian are those of x, twice", () => {
  const x = input("x", "f32", ["N", 2]);
  assert.equal(String(hessian(cube, x).shape), String([dim("N"), 2, dim("N"), 2]));
});

test("vjp gives a value and pulls cotangents back, for as many as are asked", () => {
  const x = input("x", "f64", [2]);
  const { value, pullback } = vjp((v: Tensor) => [v.mul(v), v.sin()], [x]);
  const gs = [1, 10].map((n) => pullback([x.onesLike().mul(n), x.zerosLike()])[0]!);
  const inputs = new Map([[x, makeValue("f64", [2], [2, 3])]]);
  assert.equal(
    evaluate([value[0]!, ...gs], { inputs }).map((v) => [...v.data]),
    [[4, 9], [4, 6], [40, 60]], // biome-ignore format: by result
  );
});

test("hessian and jacobian say what they cannot do", () => {
  const x = input("x", "f32", [2]);
  assert.throws(
    () => hessian((v) => v, x),
    (e: Error) =>
      e.message ===
      "hessian: the result is [2], not a scalar\n  reduce it to one number, or take the jacobian of its gradient",
  );
  assert.throws(
    () => jacobian((v) => v.argMax(), x),
    (e: Error) =>
      e.message ===
      "jacobian: the result is i32, not a float\n  only floats have derivatives: convert it to f32",
  );
  assert.throws(
    () => vjp((v) => v, input("i", "i32", [2])),
    (e: Error) =>
      e.message ===
      "vjp: argument 0 is i32, not a float\n  only floats have cotangents: read it from outside of the function",
  );
});

test.run();
