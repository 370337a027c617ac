/**
 * Composites: their values against the plain formulas in double precision, their gradients against differences, and
 * their behaviour where a careless formula overflows.
 */
import * as ir from "@kiln-ml/ir";
import { evaluate, grad, input, makeValue, type Tensor, tensor } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data];
const f64 = (x: number[]): Tensor => tensor(x, { dtype: "f64" });
const close = (a: number, b: number, tolerance: number): boolean =>
  Object.is(a, b) || Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b));

const sigma = (x: number): number => 1 / (1 + Math.exp(-x));
const ramp = (x: number): number => Math.min(6, Math.max(0, x));
const formulas: Record<string, [of: (x: Tensor) => Tensor, plain: (x: number) => number]> = {
  relu: [ir.relu, (x) => Math.max(0, x)],
  relu6: [ir.relu6, ramp],
  leakyRelu: [(x) => ir.leakyRelu(x, 0.1), (x) => (x > 0 ? x : 0.1 * x)],
  elu: [(x) => ir.elu(x, 2), (x) => (x > 0 ? x : 2 * (Math.exp(x) - 1))],
  celu: [(x) => ir.celu(x, 2), (x) => (x > 0 ? x : 2 * (Math.exp(x / 2) - 1))],
  selu: [ir.selu, (x) => 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (Math.exp(x) - 1))],
  gelu: [ir.gelu, (x) => 0.5 * x * (1 + ir.erfOf(x / Math.SQRT2))],
  geluTanh: [
    ir.geluTanh,
    (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  ],
  silu: [ir.silu, (x) => x * sigma(x)],
  mish: [ir.mish, (x) => x * Math.tanh(Math.log(1 + Math.exp(x)))],
  softplus: [ir.softplus, (x) => Math.log(1 + Math.exp(x))],
  logSigmoid: [ir.logSigmoid, (x) => Math.log(sigma(x))],
  softsign: [ir.softsign, (x) => x / (1 + Math.abs(x))],
  hardSigmoid: [ir.hardSigmoid, (x) => ramp(x + 3) / 6],
  hardSwish: [ir.hardSwish, (x) => (x * ramp(x + 3)) / 6],
  hardTanh: [ir.hardTanh, (x) => Math.min(1, Math.max(-1, x))],
  square: [ir.square, (x) => x * x],
  lerp: [(x) => ir.lerp(x, 3, 0.25), (x) => x + 0.25 * (3 - x)],
  clamp: [(x) => ir.clamp(x, -0.5, 2), (x) => Math.min(2, Math.max(-0.5, x))],
  logAddExp: [(x) => ir.logAddExp(x, 0.5), (x) => Math.log(Math.exp(x) + Math.exp(0.5))],
};
// Where a formula has a corner, differences say nothing.
const corners = [-3, -1, -0.5, 0, 1, 2, 3, 6];

for (const [name, [of, plain]] of Object.entries(formulas))
  test(`${name} and its gradient follow the formula`, () => {
    const x = input("x", "f64", []);
    const y = of(x);
    const [dx] = grad(y, [x]) as [Tensor];
    const point = fc
      .double({ min: -7, max: 7, noNaN: true })
      .filter((v) => corners.every((c) => Math.abs(v - c) > 0.01));
    fc.assert(
      fc.property(point, (v) => {
        const inputs = new Map([[x, makeValue("f64", [], [v])]]);
        const [value, slope] = evaluate([y, dx], { inputs }).map((r) => r.data[0]!);
        const h = 1e-3;
        const [a, b, c, d] = [-2, -1, 1, 2].map((k) => plain(v + k * h)) as [
          number,
          number,
          number,
          number,
        ];
        assert.ok(close(value!, plain(v), 1e-12), `${name}(${v}) = ${value}`);
        assert.ok(close(slope!, (8 * (c - b) - (d - a)) / (12 * h), 1e-7), `slope ${v} ${slope}`);
      }),
      { numRuns: runs(40) },
    );
  });

test("activations and their gradients are finite far from 0", () => {
  const x = tensor([-1e4, -200, -90, 0, 90, 200, 1e4]);
  for (const [name, [of]] of Object.entries(formulas)) {
    const y = of(x);
    const values = [...numbersOf(y), ...numbersOf(grad(y.sum(), [x])[0]!)];
    assert.ok(values.every(Number.isFinite), `${name}: ${values}`);
  }
});

test("gradients at a corner are the documented ones", () => {
  const slopeAt = (of: (x: Tensor) => Tensor, v: number): number => {
    const x = f64([v]);
    return numbersOf(grad(of(x).sum(), [x])[0]!)[0]!;
  };
  assert.is(slopeAt(ir.relu, 0), 0);
  assert.is(slopeAt(ir.relu6, 6), 0);
  assert.is(slopeAt(ir.softplus, 0), 0.5);
  assert.is(
    slopeAt((x) => ir.logAddExp(x, 2), 2),
    0.5,
  );
  assert.is(
    slopeAt((x) => ir.clamp(x, -1, 1), 1),
    1,
  );
});

test("the softmax family is stable, sums to one and agrees with itself", () => {
  const x = f64([1000, 1001, 999]);
  const p = numbersOf(ir.softmax(x));
  assert.ok(close(p.reduce((a, b) => a + b) as number, 1, 1e-15));
  for (const [i, l] of numbersOf(ir.logSoftmax(x)).entries())
    assert.ok(close(Math.exp(l), p[i]!, 1e-14));
  const expected = 1001 + Math.log(1 + Math.exp(-1) + Math.exp(-2));
  assert.ok(close(numbersOf(ir.logSumExp(x))[0]!, expected, 1e-15));
  assert.equal(numbersOf(ir.logSumExp(f64([-Infinity, -Infinity]))), [-Infinity]);
  assert.equal(numbersOf(ir.logSumExp(f64([Infinity, 0]))), [Infinity]);
  assert.equal(numbersOf(ir.logAddExp(f64([-Infinity, Infinity]), f64([-Infinity, 1]))), [
    -Infinity,
    Infinity,
  ]);
});

test("the gradient of logSumExp is softmax", () => {
  const x = f64([0.3, -1, 2]);
  const slope = numbersOf(grad(ir.logSumExp(x), [x])[0]!);
  const p = numbersOf(ir.softmax(x));
  slope.forEach((s, i) => {
    assert.ok(close(s, p[i]!, 1e-14));
  });
});

test("statistics agree with two-pass sums, over a symbolic axis too", () => {
  const x = input("x", "f64", ["N", 2]);
  const rows = [
    [1, 10],
    [2, 20],
    [4, 60],
  ];
  const inputs = new Map([[x, makeValue("f64", [3, 2], rows.flat())]]);
  const roots = [x.mean(0), x.variance(0), x.std(0, { correction: 1 }), x.norm(0), x.mean()];
  const [mean, variance, std, norm, all] = evaluate(roots, { inputs }).map((v) => [...v.data]);
  for (const c of [0, 1]) {
    const column = rows.map((r) => r[c]!);
    const m = column.reduce((a, b) => a + b) / 3;
    const squares = column.reduce((a, b) => a + (b - m) ** 2, 0);
    assert.ok(close(mean![c]!, m, 1e-14));
    assert.ok(close(variance![c]!, squares / 3, 1e-14));
    assert.ok(close(std![c]!, Math.sqrt(squares / 2), 1e-14));
    assert.ok(close(norm![c]!, Math.hypot(...column), 1e-14));
  }
  assert.ok(close(all![0]!, 97 / 6, 1e-14));
});

test("norms of order 1 and infinity", () => {
  assert.equal(numbersOf(f64([3, -4]).norm(0, { order: 1 })), [7]);
  assert.equal(numbersOf(f64([3, -4]).norm(0, { order: Infinity })), [4]);
  assert.equal(numbersOf(f64([3, -4]).normalize()), [0.6, -0.8]);
});

test("integers are averaged in f32", () => {
  const t = tensor([1, 2], { dtype: "i32" }).mean();
  assert.is(t.dtype, "f32");
  assert.equal(numbersOf(t), [1.5]);
});

test("products and codes", () => {
  assert.equal(numbersOf(ir.dot(f64([1, 2]), f64([3, 4]))), [11]);
  assert.equal(numbersOf(ir.outer(f64([1, 2]), f64([3, 4]))), [3, 4, 6, 8]);
  const labels = tensor([2, 0, -2], { dtype: "i32" });
  assert.equal(numbersOf(ir.oneHot(labels, 3)), [0, 0, 1, 1, 0, 0, 0, 1, 0]);
  assert.equal(numbersOf(ir.eye(2, 3)), [1, 0, 0, 0, 1, 0]);
  assert.equal(numbersOf(ir.linspace(0, 1, 5)), [0, 0.25, 0.5, 0.75, 1]);
  assert.equal(numbersOf(ir.arange(3)), [0, 1, 2]);
});

test.run();
