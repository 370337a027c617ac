/**
 * What `grad` refuses, verbatim, and how it reads parameters that were assigned.
 */
import {
  assign,
  bitcast,
  convert,
  DtypeError,
  evaluate,
  GraphError,
  grad,
  input,
  mul,
  param,
  ShapeError,
  sum,
  tensor,
  trace,
  valueAndGrad,
  zeros,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const x = input("x", "f32", [3]);
const w = input("w", "f32", [2]);

function message(build: () => unknown, type: new (m: string) => Error): string {
  try {
    build();
  } catch (e) {
    assert.instance(e, type);
    return (e as Error).message;
  }
  return assert.unreachable("no error") as never;
}

test("a result that is not a scalar needs a cotangent", () => {
  assert.is(
    message(() => grad(x.exp(), [x]), ShapeError),
    "grad: y is [3], not a scalar\n  pass a cotangent of shape [3], or reduce y to one number",
  );
  assert.is(
    message(() => grad(x.exp(), [x], { cotangent: w }), ShapeError),
    "grad: cotangent is [2], y is [3]\n  reshape the cotangent to that of y",
  );
  assert.is(
    message(() => grad(x.exp(), [x], { cotangent: convert(x, "f64") }), DtypeError),
    "grad: cotangent is f64, y is f32\n  convert the cotangent to the dtype of y",
  );
  assert.is(grad(x.exp(), [x], { cotangent: x })[0], mul(x, x.exp()));
});

test("an x that does not reach y is an error, or zeros on request", () => {
  assert.is(
    message(() => grad(sum(x), [x, w]), GraphError),
    'grad: w (input f32[2]) does not reach y\n  leave it out, or pass { unused: "zeros" } for a gradient of zeros',
  );
  assert.is(grad(sum(x), [w], { unused: "zeros" })[0], zeros([2]));
});

test("y and x must be floats", () => {
  const i = input("i", "i32", [3]);
  assert.is(
    message(() => grad(sum(i), [x]), DtypeError),
    "grad: y is reduceSum i32[], not a float\n  convert y to f32 before what is differentiated",
  );
  assert.is(
    message(() => grad(sum(x), [i]), DtypeError),
    "grad: x is i (input i32[3]), not a float\n  only floats have gradients: leave it out, or make it f32",
  );
});

test("an op without a gradient is named with its text and the line that built it", () => {
  const y = bitcast(bitcast(x, "i32"), "f32");
  const text = message(() => grad(sum(y), [x]), GraphError);
  assert.match(
    text,
    /^grad: bitcast has no gradient: %\d+: f32\[3\] = bitcast %\d+ \(.*errors\.test\.ts:\d+:\d+\)\n {2}put stopGradient around it if it is to count as a constant$/,
  );
});

test("no gradient comes through integers, and that is no error", () => {
  const y = sum(convert(convert(x, "i32"), "f32"));
  assert.is(grad(y, [x])[0], zeros([3]));
});

test("valueAndGrad gives y beside its gradients", () => {
  const y = sum(mul(x, x));
  const both = valueAndGrad(y, [x]);
  assert.is(both.value, y);
  assert.is(both.grads[0], grad(y, [x])[0]);
});

test("a gradient reads parameters as they were when y was built", () => {
  const p = param([2], { name: "p" });
  trace(() => {
    const y = sum(mul(p, p));
    assign(p, tensor([10]));
    assert.equal([...evaluate(grad(y, [p]))[0]!.data], [4]);
  });
});

test("after an assignment, a parameter stands for the assigned value if y was computed from it", () => {
  const p = param([2], { name: "p" });
  trace(() => {
    assign(p, mul(p, 3));
    const y = sum(mul(p, p));
    assert.equal([...evaluate(grad(y, [p]))[0]!.data], [12]);
  });
});

test.run();
