/**
 * Gradients of gradients, and gradients where the value is special: zeros of a product, ties of a
 * maximum.
 */
import {
  concat,
  convolution,
  dotGeneral,
  evaluate,
  exp,
  grad,
  input,
  makeValue,
  matmul,
  max,
  maxPool,
  mul,
  prod,
  scatter,
  sum,
  type Tensor,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Builder, random } from "../ir-structural/cases.ts";
import { checkGradient } from "./differences.ts";

function second(name: string, make: (b: Builder) => Tensor): void {
  test(`the second gradient of ${name} agrees with differences`, () => {
    const b = new Builder(random(name.length));
    checkGradient(make(b), b.inputs, b.dims, 2);
  });
}

second("exp", (b) => exp(b.leaf([3])));
second("a cubic", (b) => {
  const x = b.leaf([4]);
  return mul(mul(x, x), x);
});
second("matmul", (b) => {
  const x = b.leaf([2, 3]);
  return matmul(exp(x), matmul(b.leaf([3, 2]), x));
});
second("convolution", (b) => {
  const x = b.leaf([1, 2, 5]);
  const y = convolution(mul(x, x), b.leaf([2, 1, 2]), { stride: 2, padding: 1, groups: 2 });
  return mul(y, y);
});
second("softmax", (b) => {
  const x = b.leaf([2, 3]);
  const e = exp(x.sub(max(x, -1, { keepDims: true })));
  return e.div(sum(e, -1, { keepDims: true }));
});
second("prod", (b) => prod(b.leaf([2, 3]), 1));
second("cumprod", (b) => b.leaf([2, 3]).cumprod(1, { reverse: true }));
second("cumsum and cummax", (b) => {
  const x = b.leaf([4]);
  return mul(x.cumsum(0, { exclusive: true }), mul(x, x).cummax(0));
});

second("gather and scatter", (b) => {
  const index = b.leaf([4], "i32", () => b.r.int(-1, 3));
  const x = b.leaf([3]);
  const picked = mul(x, x).gather([index], [0]);
  const placed = scatter(x, mul(picked, picked), [index], [0]);
  return mul(placed, x);
});
second("maxPool", (b) => {
  const x = b.leaf([1, 1, 6]);
  const y = maxPool(mul(x, x), { size: 3, stride: 2, padding: 1 });
  return mul(y, y);
});
second("pad, concat, slice and reverse", (b) => {
  const x = b.leaf([3]);
  const joined = concat([mul(x, x).pad(sum(x), 1, -1), exp(x)]).slice([1], [-1], [2]);
  return mul(joined.reverse(), joined);
});

const f64 = (numbers: readonly number[]) => makeValue("f64", [numbers.length], numbers);

function gradientAt(f: (x: Tensor) => Tensor, numbers: readonly number[]): number[] {
  const x = input("x", "f64", [numbers.length]);
  const [g] = grad(f(x), [x]);
  return [...evaluate([g!], { inputs: new Map([[x, f64(numbers)]]) })[0]!.data];
}

test("the gradient of a product is exact at one zero and at two", () => {
  assert.equal(gradientAt(prod, [2, 0, 3]), [0, 6, 0]);
  assert.equal(gradientAt(prod, [0, 0, 3]), [0, 0, 0]);
  const mixed = (x: Tensor) => sum(grad(prod(x), [x])[0]!);
  assert.equal(gradientAt(mixed, [0, 0, 3]), [3, 3, 0]);
});

test("the gradient of a cumulative product is exact at zeros", () => {
  const last = (x: Tensor) => x.cumprod(0).slice([2], [3]).sum();
  assert.equal(gradientAt(last, [2, 0, 3]), [0, 6, 0]);
  assert.equal(
    gradientAt((x) => x.cumprod(0).sum(), [2, 0, 3]),
    [1, 2 + 6, 0],
  );
  const back = (x: Tensor) => x.cumprod(0, { exclusive: true, reverse: true }).sum();
  assert.equal(gradientAt(back, [2, 0, 3]), [0, 3, 1]);
});

test("the gradient of a cumulative extreme goes to the first of equal elements", () => {
  const total = (x: Tensor) => x.cummax(0).sum();
  assert.equal(gradientAt(total, [1, 4, 4, 2]), [1, 3, 0, 0]);
  assert.equal(
    gradientAt((x) => x.cummin(0, { reverse: true }).sum(), [3, 1, 1, 2]),
    [0, 0, 3, 1],
  );
  assert.equal(
    gradientAt((x) => x.cummax(0, { exclusive: true }).slice([1], [4]).sum(), [1, 4, 4, 2]),
    [1, 2, 0, 0],
  );
});

test("both gradients of a matrix product are bare products, with weights either way round", () => {
  const x = input("x", "f32", ["N", 5]);
  const weights = [input("w", "f32", [5, 7]), input("v", "f32", [7, 5])];
  for (const [i, w] of weights.entries()) {
    const y = dotGeneral(x, w, { lhsContract: [1], rhsContract: [i] });
    const grads = grad(y, [x, w], { cotangent: input("g", "f32", ["N", 7]) });
    assert.equal(
      grads.map((t) => t.op),
      ["dotGeneral", "dotGeneral"],
    );
  }
});

test("the gradient of a maximum goes to the first of equal elements", () => {
  assert.equal(gradientAt(max, [1, 4, 4, 2]), [0, 1, 0, 0]);
  assert.equal(
    gradientAt((x) => x.min(), [1, 4, 1, 2]),
    [1, 0, 0, 0],
  );
});

test.run();
