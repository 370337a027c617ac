/**
 * On js a program has the same bits whether an extent of it is known or a symbol: a short loop is written out, a long one
 * has its sums in an array, and both round in the same places. An extent that is known to be 1 is left out: a sum of one
 * element is no sum then, and what was stored may be fused. Wasm adds up short rows in another order than long ones.
 */
import { type Dim, type Dtype, dim, input, makeValue, type Tensor, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";

const device = guardedCpuDevice();

/** What is made of a matrix, which has as many rows and columns before as after, or is turned. */
const steps: readonly ((x: Tensor, axis: 0 | 1, w: Tensor) => Tensor)[] = [
  (x, axis) => x.sub(x.sum(axis, { keepDims: true }).mul(0.1)),
  (x, axis) => x.mul(x.mean(axis, { keepDims: true })),
  (x, axis) => x.sub(x.max(axis, { keepDims: true })).exp(),
  (x, axis) => x.cumsum(axis).mul(0.3),
  (x) => x.swapAxes(0, 1),
  (x) => x.mul(0.7).add(x.sin()),
  (x, _, w) => (x.shape[1] === w.shape[0] ? x.matmul(w).relu() : w.matmul(x).add(0.3)),
  (x) => x.matmul(x.swapAxes(0, 1).matmul(x).mul(0.01)),
  (x, axis) => x.softmax(axis),
];

interface Plan {
  readonly width: number;
  readonly dtype: Dtype;
  readonly steps: readonly (readonly [step: number, axis: 0 | 1])[];
}

const anyPlan: fc.Arbitrary<Plan> = fc.record({
  width: fc.constantFrom(4, 5, 12, 40),
  dtype: fc.constantFrom<Dtype>("f32", "f32", "f16"),
  steps: fc.array(fc.tuple(fc.nat(steps.length - 1), fc.constantFrom<0 | 1>(0, 1)), {
    minLength: 1,
    maxLength: 5,
  }),
});

const noise = (dtype: Dtype, shape: readonly number[], seed: number): Value => {
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, (_, i) =>
    Math.fround(Math.sin(12.9898 * (i + 1) + 78.233 * seed)),
  );
  return makeValue(
    dtype,
    shape,
    dtype === "f16" ? values.map((v) => Math.round(v * 64) / 64) : values,
  );
};

function programOf({ width, dtype, steps: plan }: Plan, rows: Dim, n: number) {
  const x = input("x", dtype, [rows, width]);
  const w = input("w", dtype, [width, width]);
  const value = plan.reduce((t, [step, axis]) => steps[step]!(t, axis, w), x as Tensor);
  const outputs = [value, value.sum(0).mul(0.3), value.sum(1).mul(0.3)];
  const program: Program = {
    inputs: [x, w],
    outputs: outputs.map((t, i) => ({ name: `y${i}`, value: t })),
    updates: [],
  };
  const feeds = new Map([
    [x, noise(dtype, [n, width], 1)],
    [w, noise(dtype, [width, width], 2)],
  ] as const);
  return { program, feeds };
}

const js = { target: "js" } as const;
/** Loops that are written out, and longer ones; no width of a plan, which products would take for their own. */
const extents = [2, 3, 6, 11, 41];

test("js: a fixed extent has the bits of a symbol", async () => {
  await fc.assert(
    fc.asyncProperty(anyPlan, fc.constantFrom(...extents), async (plan, n) => {
      const fixed = programOf(plan, n, n);
      const any = programOf(plan, dim("N"), n);
      const want = await runProgram(any.program, any.feeds, { N: n }, device, js);
      const { values } = await runProgram(fixed.program, fixed.feeds, {}, device, js);
      values.forEach((v, i) => {
        assert.ok(
          sameValue(v, want.values[i]!),
          `result ${i} of ${n} rows: got ${v.data}, of a symbol ${want.values[i]!.data}\n${printProgram(any.program)}`,
        );
      });
    }),
    { numRuns: runs(100) },
  );
});

test.run();
