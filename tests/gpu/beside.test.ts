/**
 * Few elements that the first workgroup of another kernel computes along with its own, on webgpu: how many kernels that leaves, what
 * stays apart, and that all of it is right.
 */
import { assign, evaluate, input, makeValue, param, type Tensor, tensor, trace } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { gpuTest } from "../support/webgpu.ts";

const stateOf = (name: string, ...shape: number[]): Tensor => {
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({ length: size }, (_, i) => ((i * 7) % 11) - 5);
  return param(tensor(values, { dtype: "f32", shape }), { name });
};

const stepOf = (inputs: readonly Tensor[], define: () => void): Program => {
  const { updates } = trace(define);
  return { inputs: [...inputs], outputs: [], updates: [...updates] };
};

const kernelsOf = (p: Program): number =>
  compileProgram(p, { target: "webgpu" }).artifact.plan.steps.length;

/** Parameters of some sizes, each multiplied by one number. */
function scaledBy(sizes: readonly (readonly number[])[]): { program: Program; by: Tensor } {
  const by = input("by", "f32", []);
  const params = sizes.map((shape, i) => stateOf(`p${i}`, ...shape));
  const program = stepOf([by], () => {
    for (const p of params) assign(p, p.mul(by).add(1));
  });
  return { program, by };
}

test("updates of at most 1024 elements run beside another, as far as bindings go", () => {
  assert.is(kernelsOf(scaledBy([[300, 40], [70], [1024]]).program), 1);
  assert.is(kernelsOf(scaledBy([[300, 40], [70], [1025]]).program), 1 + 1);
  const many = Array.from({ length: 12 }, (_, i) => [i + 2]);
  assert.is(kernelsOf(scaledBy([[300, 40], ...many]).program), 2);
});

test("an update runs apart from a kernel that reads what it overwrites", () => {
  const [w, b] = [stateOf("w", 40, 70), stateOf("b", 70)];
  const program = stepOf([], () => {
    assign(w, w.add(b));
    assign(b, b.mul(2));
  });
  assert.is(kernelsOf(program), 2);
});

gpuTest("what runs beside other work has the values that it would have alone", async () => {
  const device = await guardedGpuDevice();
  const check = async (sizes: readonly (readonly number[])[]): Promise<void> => {
    const { program, by } = scaledBy(sizes);
    const feeds = new Map([[by, makeValue("f32", [], [3])]]);
    for (const [p] of program.updates) feeds.set(p, evaluate([p])[0]!);
    const want = evaluate(
      program.updates.map(([, value]) => value),
      { inputs: feeds },
    );
    const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    for (const [i, value] of want.entries()) assert.equal(values[i]!.data, value.data);
  };
  await check([[300, 7], [70], [1024], [3, 5, 7], [1]]);
  const shape = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 2 });
  await fc.assert(fc.asyncProperty(fc.array(shape, { minLength: 1, maxLength: 6 }), check), {
    numRuns: runs(8),
  });
  device.destroy();
});

test.run();
