/**
 * Gradients of gradients, and gradients where the value is special: zeros of a product, ties of a maximum.
 */
import {
  convolution,
  evaluate,
  exp,
  grad,
  input,
  makeValue,
  matmul,
  max,
  mul,
  prod,
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

test("the gradient of a maximum goes to the first of equal elements", () => {
  assert.equal(gradientAt(max, [1, 4, 4, 2]), [0, 1, 0, 0]);
  assert.equal(
    gradientAt((x) => x.min(), [1, 4, 1, 2]),
    [1, 0, 0, 0],
  );
});

test.run();
