/**
 * Gradients where a slope is infinite or there is none: a zero cotangent gives zero, and norms have the slope 0 at 0. What is
 * expected is from the mathematics, and is what PyTorch gives.
 */
import { allOps, evaluate, makeNode, makeValue, opRecord } from "@kiln-ml/ir";
import { compile, grad, input, type Tensor, where, zeros } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Fn = (x: Tensor) => Tensor;

const inf = Infinity;

const cases: readonly [name: string, fn: Fn, x: readonly number[], expected: readonly number[]][] =
  [
    ["norm of zeros", (x) => x.norm(), [0, 0], [0, 0]],
    ["norm", (x) => x.norm(), [3, 4], [0.6, 0.8]],
    ["norm of order 1", (x) => x.norm(undefined, { order: 1 }), [0, -2], [0, -1]],
    ["norm of order infinity", (x) => x.norm(undefined, { order: inf }), [0, 0], [0, 0]],
    ["std of equal values", (x) => x.std(), [2, 2, 2], [0, 0, 0]],
    ["std of equal values, corrected", (x) => x.std(0, { correction: 1 }), [2, 2], [0, 0]],
    ["normalize a zero row", (x) => x.normalize().mul(0.5).sum(), [0, 0], [5e11, 5e11]],
    ["logSumExp of −∞", (x) => x.logSumExp(), [-inf, -inf], [0, 0]],
    ["logSumExp with −∞", (x) => x.logSumExp(), [-inf, 1], [0, 1]],
    ["logAddExp of −∞", (x) => x.logAddExp(x).mul(0).sum(), [0, 1], [0, 0]],
    ["abs at 0", (x) => x.abs().sum(), [0, -1], [0, -1]],
    ["prod with zeros", (x) => x.prod(), [0, 3, 2], [6, 0, 0]],
    ["0⁰", (x) => x.pow(0).sum(), [0, 2], [0, 0]],
    ["0²", (x) => x.pow(2).sum(), [0, 2], [0, 4]],
    [
      "√ where it is asked",
      (x) => where(x.greater(0), x.sqrt(), 0).sum(),
      [0, -1, 4],
      [0, 0, 0.25],
    ],
    [
      "ln where it is asked",
      (x) => where(x.greater(0), x.log(), 0).sum(),
      [0, -1, 4],
      [0, 0, 0.25],
    ],
    ["√ of 0 times 0", (x) => x.sqrt().mul(0).sum(), [0], [0]],
    ["pow where it is asked", (x) => where(x.greater(0), x.pow(0.5), 0).sum(), [0, 4], [0, 0.25]],
    ["distance of equal points", (x) => x.sub(x.stopGradient()).norm(), [1, 2], [0, 0]],
    ["a gradient's norm", (x) => grad(x.norm(), [x])[0]!.mul(x).sum(), [0, 0], [0, 0]],
    ["second order of std", (x) => grad(x.std(), [x])[0]!.square().sum(), [1, 1], [0, 0]],
    [
      "second order of an untaken root",
      (x) => grad(where(x.greater(0), x.sqrt(), 0).sum(), [x])[0]!.sum(),
      [0, 4],
      [0, -1 / 32],
    ],
  ];

for (const [name, fn, x, expected] of cases)
  for (const target of ["js", "wasm"] as const)
    for (const fusion of [true, false])
      test(`${target}, fusion ${fusion}: ${name}`, async () => {
        const f = compile((t: Tensor) => grad(fn(t), [t])[0]!, {
          target,
          fusion,
          inputs: [[x.length]],
        });
        const got = [...(await (await f([...x])).data())];
        for (const [i, want] of expected.entries())
          assert.ok(
            Object.is(got[i]! + 0, want) || Math.abs(got[i]! - want) <= 1e-5 * Math.abs(want),
            `${got}, want ${expected}`,
          );
      });

/** Whose slopes are infinite somewhere, as far as the rule holds. */
const singular = ["sqrt", "log", "log2", "log1p", "asin", "acos", "acosh", "atanh", "pow", "atan2"];

test("a zero cotangent gives zero at every special value of every op with a pole, twice over", () => {
  const points = [0, -0, 1, -1, 0.5, -0.5, 2, -2];
  for (const op of allOps().filter((r) => singular.includes(r.name))) {
    const count = op.name === "pow" || op.name === "atan2" ? 2 : 1;
    const all = points.flatMap((a) => (count === 1 ? [[a]] : points.map((b) => [a, b])));
    for (const at of all) {
      const xs = at.map((_, i) => input(`x${i}`, "f64", [1]));
      const y = makeNode({
        op: op.name,
        operands: xs,
        attrs: {},
        ...opRecord(op.name).infer(xs, {}),
      });
      const gs = grad(y, xs, { cotangent: zeros([1], "f64") });
      const feeds = new Map(xs.map((x, i) => [x, makeValue("f64", [1], [at[i]!])] as const));
      for (const v of evaluate(gs, { inputs: feeds }))
        assert.ok(v.data[0] === 0, `${op.name}(${at}): ${v.data[0]}`);
    }
  }
});

test.run();
