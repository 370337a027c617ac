/**
 * The webgpu target on a software adapter: random programs against the reference, within what f32 allows, and
 * every kernel checked by Dawn without an adapter.
 */
import { input, type Value } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, printProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";

/** A few units in the last place for every op of a short program, and cancellation in sums of small numbers. */
const close = (a: number, b: number): boolean =>
  Object.is(a, b) || a === b || Math.abs(a - b) <= 2e-4 * Math.max(1, Math.abs(a), Math.abs(b));

const agrees = (got: Value, want: Value): boolean =>
  String(got.shape) === String(want.shape) &&
  got.data.every((x, i) => {
    const y = want.data[i]!;
    return got.dtype === "f32" ? close(x, y) : x === y;
  });

test("every kernel of a random program is valid WGSL", async () => {
  const device = await nullDevice();
  await fc.assert(
    fc.asyncProperty(randomProgram({ symbolic: true }), async ({ program: random }) => {
      const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
      const { artifact } = compileProgram(program, { target: "webgpu" });
      for (const k of artifact.kernels) {
        device.pushErrorScope("validation");
        const module = device.createShaderModule({ code: k.text });
        device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
        const error = await device.popErrorScope();
        assert.is(error, null, `${error?.message}\n${k.text}\n${printProgram(program)}`);
      }
    }),
    { numRuns: runs(100) },
  );
});

gpuTest("webgpu agrees with the reference, fused and not", async () => {
  const device = await guardedGpuDevice();
  const one = fc.record({ random: randomProgram({ symbolic: true }), fusion: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(one, async ({ random: { program: random, feeds }, fusion }) => {
      const program = { ...random, inputs: [...random.inputs, input("sized", "i32", ["N"])] };
      for (const dims of sampleDims) {
        const given = feeds(dims);
        const want = evaluateProgram(program, given, dims);
        const options = { target: "webgpu", fusion } as const;
        const { values } = await runProgram(program, given, dims, device, options);
        values.forEach((v, i) => {
          assert.ok(
            agrees(v, want[i]!),
            `result ${i}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
          );
        });
      }
    }),
    { numRuns: runs(40) },
  );
  device.destroy();
});

test.run();
