/** Which products of long sums are split on webgpu: those that would leave a device idle. */
import { dotGeneral, input } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";

/** Kernels of m×n sums of k products each; the right operand's memory runs along the sum, or along the n. */
function kernelsOf(m: number, n: number, k: number, alongSum = false): number {
  const [a, b] = [input("a", "f32", [m, k]), input("b", "f32", alongSum ? [n, k] : [k, n])];
  const value = dotGeneral(a, b, { lhsContract: [1], rhsContract: [alongSum ? 1 : 0] });
  const program = { inputs: [a, b], outputs: [{ name: "y", value }], updates: [] };
  return compileProgram(program, { target: "webgpu" }).artifact.plan.steps.length;
}

test("a long sum with few results is split, a short one or one of many results is not", () => {
  assert.is(kernelsOf(64, 64, 4096), 2);
  assert.is(kernelsOf(64, 64, 512), 1);
  assert.is(kernelsOf(2048, 2048, 4096), 1);
  // Where every unit has work, so that the waits of one workgroup hide behind others.
  assert.is(kernelsOf(1024, 1024, 4096), 2);
  assert.is(kernelsOf(1024, 1024, 1024), 1);
});

test("a sum along which memory runs is not split where each of enough lines is a workgroup's", () => {
  assert.is(kernelsOf(1, 4096, 4096), 2);
  assert.is(kernelsOf(1, 4096, 4096, true), 1);
  assert.is(kernelsOf(8, 4096, 4096, true), 1);
  assert.is(kernelsOf(9, 4096, 4096, true), 2);
  assert.is(kernelsOf(1, 16, 1 << 16, true), 2);
});

test.run();
