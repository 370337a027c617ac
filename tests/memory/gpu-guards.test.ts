/**
 * A kernel that writes beyond a tensor on webgpu is found though the buffer has room, and so is one that writes outside of the
 * buffer; both are tried with a kernel that is made wrong.
 */
import type { Artifact } from "@kiln-ml/artifact";
import { input } from "@kiln-ml/ir";
import { load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { gpuTest } from "../support/webgpu.ts";

const x = input("x", "f32", ["N"]);

/** −x, stored so many elements further on. */
function negated(further: number): Artifact {
  const program = { inputs: [x], outputs: [{ name: "y", value: x.neg() }], updates: [] };
  const { artifact } = compileProgram(program, { target: "webgpu", name: "negated" });
  const kernels = artifact.kernels.map((k) => {
    const moved = k.text.replace(/neg\[(.+?)\] = /, `neg[($1) + ${further}] = `);
    assert.is.not(moved, k.text, k.text);
    return { ...k, text: moved };
  });
  return { ...artifact, kernels };
}

async function run(further: number): Promise<number[]> {
  const device = await guardedGpuDevice();
  try {
    const exe = await load(negated(further), device);
    const values = Float32Array.from({ length: 5 }, (_, i) => i);
    const [y] = await exe.run([device.upload(values, "f32", [5])]);
    return [...((await y!.data()) as Float32Array)];
  } finally {
    device.destroy();
  }
}

const found = (further: number): Promise<string> =>
  run(further).then(
    (values) => `not found: ${values}`,
    (error: Error) => error.message,
  );

gpuTest("a kernel that stays inside is not accused", async () => {
  assert.equal(await run(0), [-0, -1, -2, -3, -4]);
});

gpuTest("one element too far, inside of the buffer, is found", async () => {
  const text = "a run of negated wrote 0 bytes behind y, which has 20 (kernel neg)";
  assert.is(await found(1), text);
});

gpuTest("a gap behind the tensor is measured", async () => {
  const text = "a run of negated wrote 40 bytes behind y, which has 20 (kernel neg)";
  assert.is(await found(15), text);
});

gpuTest("what lies outside of the buffer is not written at all, or is found", async () => {
  const result = await found(100_000);
  assert.match(result, /^(a run of negated wrote \d+ bytes behind y|not found: NaN)/, result);
});

test.run();
