/**
 * lgamma, digamma, erfc and erfinv: against values from integrals and sums that share nothing with their formulas, to the second gradient.
 */
import * as ir from "@kiln-ml/ir";
import { evaluate, grad, type Tensor, tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

const numbersOf = (t: Tensor): number[] => [...evaluate([t])[0]!.data].map(Number);

/** Simpson's rule on n intervals. */
function integral(f: (t: number) => number, a: number, b: number, n = 20000): number {
  const h = (b - a) / n;
  let sum = f(a) + f(b);
  for (let i = 1; i < n; i++) sum += f(a + i * h) * (i % 2 ? 4 : 2);
  return (sum * h) / 3;
}

/** Γ(x) = ∫ e^(x·u − e^u) du, for x > 0; its logarithm from a shifted x by the recurrence where it is small. */
const gammaOf = (x: number): number =>
  x < 2
    ? gammaOf(x + 2) / (x * (x + 1))
    : integral((u) => Math.exp(x * u - Math.exp(u)), -40 / x, 6);
/** By differences, of a shifted x by the recurrence. */
const digammaOf = (x: number): number => {
  if (x < 2) return digammaOf(x + 2) - 1 / x - 1 / (x + 1);
  const [a, b, c, d] = [-2, -1, 1, 2].map((k) => Math.log(gammaOf(x + k * 1e-3))) as number[];
  return (8 * (c! - b!) - (d! - a!)) / 12e-3;
};
const erfcOf = (x: number): number =>
  x < 0
    ? 2 - erfcOf(-x)
    : (2 / Math.sqrt(Math.PI)) *
      Math.exp(-x * x) *
      integral((t) => Math.exp(-t * t - 2 * x * t), 0, 7);

const close = (a: number, b: number, tolerance: number): boolean =>
  Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b));

function both(
  of: (x: Tensor) => Tensor,
  points: number[],
  want: number[],
  tolerance64: number,
): void {
  for (const [dtype, tolerance] of [["f64", tolerance64], ["f32", 4e-6]] as const) // biome-ignore format: one line
    numbersOf(of(tensor(points, { dtype }))).forEach((v, i) => {
      assert.ok(close(v, want[i]!, tolerance), `${dtype} at ${points[i]}: ${v}, want ${want[i]}`);
    });
}

const positive = [0.05, 0.3, 0.5, 0.9, 1, 1.2, 1.5, 2, 2.3, 2.5, 3, 3.4, 3.5, 5, 12, 15.9, 16, 30];

test("lgamma is ln |Γ|, by its integral and by reflection", () => {
  both(ir.lgamma, positive, positive.map((x) => Math.log(gammaOf(x))), 1e-10); // biome-ignore format: one line
  const negative = [-0.5, -1.25, -4.7];
  const want = negative.map((x) =>
    Math.log(Math.abs(Math.PI / (Math.sin(Math.PI * x) * gammaOf(1 - x)))),
  );
  both(ir.lgamma, negative, want, 1e-10);
  assert.equal(numbersOf(ir.lgamma(tensor([0, -3, Number.POSITIVE_INFINITY]))), [
    Infinity,
    Infinity,
    Infinity,
  ]);
  const [near] = numbersOf(ir.lgamma(tensor([1e-30 + 1, 2], { dtype: "f64" }))) as [number];
  assert.is(Math.abs(near), 0);
});

test("digamma is the slope of lgamma, and the gradient of lgamma is it", () => {
  both(ir.digamma, positive, positive.map(digammaOf), 1e-7); // biome-ignore format: one line
  const points = [-2.3, -0.4, ...positive];
  const x = tensor(points, { dtype: "f64" });
  const slope = numbersOf(grad(ir.lgamma(x).sum(), [x])[0]!);
  numbersOf(ir.digamma(x)).forEach((v, i) => {
    assert.ok(close(slope[i]!, v, 1e-9), `${points[i]}: ${slope[i]}, want ${v}`);
  });
  assert.equal(numbersOf(ir.digamma(tensor([0, -1]))), [-Infinity, Number.NaN]);
});

const middle = [-6, -3, -1, -0.46, -0.1, 0, 0.2, 0.46, 0.47, 1, 2, 3.9, 4.1, 5];

test("erfc keeps its digits in the tail, and has its slope", () => {
  const x = tensor(middle, { dtype: "f64" });
  numbersOf(ir.erfc(x)).forEach((v, i) => {
    assert.ok(
      Math.abs(v / erfcOf(middle[i]!) - 1) < 1e-10,
      `${middle[i]}: ${v}, want ${erfcOf(middle[i]!)}`,
    );
  });
  numbersOf(ir.erfc(tensor(middle))).forEach((v, i) => {
    assert.ok(Math.abs(v / erfcOf(Math.fround(middle[i]!)) - 1) < 6e-7, `f32 ${middle[i]}: ${v}`);
  });
  numbersOf(grad(ir.erfc(x).sum(), [x])[0]!).forEach((v, i) => {
    const want = (-2 / Math.sqrt(Math.PI)) * Math.exp(-(middle[i]! ** 2));
    assert.ok(Math.abs(v / want - 1) < 1e-9, `slope at ${middle[i]}: ${v}, want ${want}`);
  });
  assert.equal(numbersOf(ir.erfc(tensor([Infinity, -Infinity, Number.NaN]))), [0, 2, Number.NaN]);
});

test("erfinv undoes erf, with its slopes to the second", () => {
  const ys = [-2.5, -1.1, -0.3, 0, 0.01, 0.5, 1.3, 2.7];
  const xs = ys.map((y) => 1 - erfcOf(y));
  both(ir.erfinv, xs.slice(1, -1), ys.slice(1, -1), 1e-7);
  const x = tensor(xs, { dtype: "f64" });
  const [first] = grad(ir.erfinv(x).sum(), [x]) as [Tensor];
  const [second] = grad(first.sum(), [x]) as [Tensor];
  const slopes = ys.map((y) => (Math.sqrt(Math.PI) / 2) * Math.exp(y * y));
  numbersOf(first).forEach((v, i) => {
    assert.ok(Math.abs(v / slopes[i]! - 1) < 1e-6, `slope ${v}, want ${slopes[i]}`);
  });
  numbersOf(second).forEach((v, i) => {
    const want = 2 * ys[i]! * slopes[i]! ** 2;
    assert.ok(close(v, want, 1e-6), `second ${v}, want ${want}`);
  });
  assert.equal(numbersOf(ir.erfinv(tensor([1, -1, 1.5]))), [Infinity, -Infinity, Number.NaN]);
});

test.run();
