/**
 * Attention as one kernel on webgpu: against the reference for shapes that fill tiles and do not, masked and not, with what comes
 * before and after; and in several kernels where something else needs the weights.
 */
import { makeValue } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";
import { builds, forwardOf, type Sizes, sizes, valuesFor } from "./attention-programs.ts";

test("attention is one kernel, valid within the default limits", async () => {
  const device = await nullDevice();
  for (const [name, build] of Object.entries(builds))
    for (const size of [sizes.odd, sizes.wide, sizes.widest, sizes.full]) {
      const { artifact } = compileProgram(forwardOf(build, size), { target: "webgpu" });
      assert.is(artifact.plan.steps.length, name.includes("before") ? 2 : 1, name);
      for (const k of artifact.kernels) assert.equal(await problemsOf(device, k), [], k.text);
    }
  device.destroy();
});

test("attention whose weights are needed elsewhere stores them", () => {
  const program = forwardOf(builds.plain, sizes.few);
  const weights = program.outputs[0]!.value.operands[0]!;
  const both = { ...program, outputs: [...program.outputs, { name: "weights", value: weights }] };
  const { artifact } = compileProgram(both, { target: "webgpu" });
  assert.not.ok(artifact.kernels.some((k) => k.name.startsWith("attention")));
});

gpuTest("attention agrees with the reference", async () => {
  const device = await guardedGpuDevice();
  // A pipeline takes a software device a second or more, so not every pair.
  for (const [s, size] of [sizes.ones, sizes.few, sizes.odd, sizes.even].entries())
    for (const [b, [name, build]] of Object.entries(builds).entries()) {
      if (s !== 2 && (s + b) % 2 === 1) continue;
      const program = forwardOf(build, size);
      const feeds = valuesFor(program.inputs);
      const want = evaluateProgram(program, feeds, {})[0]!.data;
      const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
      const got = values[0]!.data;
      const off = got.findIndex((e, j) => !(Math.abs(e - want[j]!) <= 2e-5));
      assert.is(off, -1, `${name} ${JSON.stringify(size)} at ${off}: ${got[off]}, ${want[off]}`);
    }
  device.destroy();
});

gpuTest("attention treats NaN and infinities as the reference does", async () => {
  const device = await guardedGpuDevice();
  const size: Sizes = { batch: [1], queries: 6, keys: 70, depth: 4, columns: 4 };
  const program = forwardOf(builds["with a bias and a factor"], size);
  const feeds = valuesFor(program.inputs);
  const mask = [...feeds.get(program.inputs[3]!)!.data];
  for (let j = 0; j < 70; j++) {
    mask[j] = -Infinity; // Nothing counts.
    if (j < 65) mask[70 + j] = -Infinity; // Nothing of the first tile counts.
  }
  mask[2 * 70 + 5] = Number.NaN;
  mask[3 * 70 + 69] = Infinity;
  mask[4 * 70 + 3] = -3e38;
  feeds.set(program.inputs[3]!, makeValue("f32", [6, 70], mask));
  const want = evaluateProgram(program, feeds, {})[0]!.data;
  const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
  const got = values[0]!.data;
  const off = got.findIndex((e, j) => !Object.is(e, want[j]) && !(Math.abs(e - want[j]!) <= 2e-5));
  assert.is(off, -1, `at ${off}: ${got[off]}, ${want[off]}`);
  device.destroy();
});

test.run();
