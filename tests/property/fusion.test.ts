/** What fusion may and may not do: it never adds kernels, and what kernels compute stays the same on a GPU. */
import { input, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { printProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { gpuTest } from "../support/webgpu.ts";

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: a fused program has no more kernels than one of a kernel a node`, () => {
    fc.assert(
      fc.property(randomProgram({ symbolic: true }), ({ program: random }) => {
        const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
        const count = (fusion: boolean) =>
          compileProgram(program, { target, fusion }).artifact.plan.steps.length;
        const [fused, unfused] = [count(true), count(false)];
        assert.ok(fused <= unfused, `${fused} kernels, ${unfused} without fusion`);
      }),
      { numRuns: runs(150) },
    );
  });

/** Fusion changes the order of sums and where a driver may contract a product and a sum; nothing else. */
function near(a: Value, b: Value): boolean {
  return a.data.every((x, i) => {
    const y = b.data[i]!;
    if (Object.is(x, y) || a.dtype !== "f32") return x === y || Object.is(x, y);
    return Math.abs(x - y) <= 2e-4 * Math.max(1, Math.abs(x), Math.abs(y));
  });
}

gpuTest("webgpu: fused and unfused programs agree", async () => {
  const device = await guardedGpuDevice();
  await fc.assert(
    fc.asyncProperty(randomProgram({ symbolic: true }), async ({ program: random, feeds }) => {
      const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
      const dims = sampleDims[1]!;
      const given = feeds(dims);
      const run = (fusion: boolean) =>
        runProgram(program, given, dims, device, { target: "webgpu", fusion });
      const [fused, unfused] = [await run(true), await run(false)];
      fused.values.forEach((v, i) => {
        const w = unfused.values[i]!;
        assert.ok(near(v, w), `result ${i}: ${v.data} and ${w.data}\n${printProgram(program)}`);
      });
    }),
    { numRuns: runs(25) },
  );
  device.destroy();
});

test.run();
