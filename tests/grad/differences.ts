/**
 * Gradients against fourth-order central differences of the reference evaluator, all in f64.
 */
import {
  evaluate,
  grad,
  input,
  isFloat,
  makeValue,
  mul,
  sum,
  type Tensor,
  type Value,
  verifyGraph,
} from "@kiln-ml/ir";
import * as assert from "uvu/assert";

export type Inputs = ReadonlyMap<Tensor, Value>;
type Dims = Readonly<Record<string, number>>;

/** h⁴ truncation and ε/h rounding meet near h = 1e-3. */
const step = 1e-3;

function scalarAt(y: Tensor, inputs: Inputs, dims: Dims): number {
  return evaluate([y], { inputs, dims })[0]!.data[0]!;
}

/** ∂y/∂x at element i: (8(f₊₁ − f₋₁) − (f₊₂ − f₋₂)) / 12h. */
function difference(y: Tensor, x: Tensor, i: number, inputs: Inputs, dims: Dims, h = step): number {
  const at = (steps: number) => {
    const value = inputs.get(x)!;
    const data = Float64Array.from(value.data);
    data[i]! += steps * h;
    return scalarAt(y, new Map([...inputs, [x, { ...value, data }]]), dims);
  };
  return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
}

/** Richardson's step on two differences: the h⁴ term cancels, which steep functions need. */
function refined(y: Tensor, x: Tensor, i: number, inputs: Inputs, dims: Dims): number {
  const [coarse, fine] = [step, step / 2].map((h) => difference(y, x, i, inputs, dims, h));
  return (16 * fine! - coarse!) / 15;
}

/**
 * Whether y is smooth around these inputs, as far as differences tell: a wide and a narrow one agree in every element. A branch or a
 * maximum that changes within a step has no difference to compare with.
 */
export function isSmooth(y: Tensor, inputs: Inputs, dims: Dims = {}): boolean {
  return [...inputs].every(([x, { data }]) =>
    Array.from(data).every((_, i) => {
      const [wide, narrow] = [step, step / 8].map((h) => difference(y, x, i, inputs, dims, h));
      return Math.abs(wide! - narrow!) <= 1e-3 * Math.max(1, Math.abs(narrow!));
    }),
  );
}

/** `noise` is what the rounding of two values that are subtracted may come to. */
const agree = (got: number, expected: number, noise: number): boolean =>
  Math.abs(got - expected) <= 1e-8 * Math.max(1, Math.abs(expected)) + noise;

/** Weights with no symmetry, so that no gradient cancels. */
const weight = (i: number): number => 0.3 + ((i * 7 + 3) % 11) / 7;

/**
 * Asserts that `grad` of Σ weight · y agrees with differences, in every element of every float
 * input; `order` 2 checks the gradient of that gradient as well.
 */
export function checkGradient(y: Tensor, inputs: Inputs, dims: Dims = {}, order = 1): void {
  const value = evaluate([y], { inputs, dims })[0]!;
  const weights = input("weights", y.dtype, y.shape);
  const given = new Map(inputs);
  given.set(
    weights,
    makeValue(
      y.dtype,
      value.shape,
      Array.from(value.data, (_, i) => weight(i)),
    ),
  );
  const total = sum(mul(y, weights));
  const terms = value.data.reduce((all, v, i) => all + Math.abs(v * weight(i)), 0);
  const noise = (4 * Number.EPSILON * terms) / step;
  const xs = [...inputs.keys()].filter((x) => isFloat(x.dtype));
  const grads = grad(total, xs, { unused: "zeros" });
  verifyGraph({ params: [...given.keys()], results: grads });
  const values = evaluate(grads, { inputs: given, dims });
  for (const [k, x] of xs.entries()) {
    assert.equal(values[k]!.shape, inputs.get(x)!.shape);
    for (let i = 0; i < values[k]!.data.length; i++) {
      const got = values[k]!.data[i]!;
      let expected = difference(total, x, i, given, dims);
      if (!agree(got, expected, noise)) expected = refined(total, x, i, given, dims);
      assert.ok(
        agree(got, expected, noise),
        `∂${y.op}/∂${String(x.attrs.name)}[${i}] is ${got}, differences give ${expected}`,
      );
    }
    if (order > 1) checkGradient(grads[k]!, given, dims, order - 1);
  }
}
