/**
 * Queries that may attend to nothing give 0 on webgpu as well, where attention and its gradients are kernels that store no scores, and
 * where they are not fused.
 */
import type { Artifact } from "@kiln-ml/artifact";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { differences, kinds, maskedAttention } from "../support/masked-attention.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest, nullDevice } from "../support/webgpu.ts";

/** What runs, in order; steps whose kernels are equal share a text. */
const namesOf = ({ kernels, plan }: Artifact): string[] =>
  plan.steps.map((step) => kernels[step.kernel]!.name.replace(/_.*|\d+$/, ""));

const sizes = [
  { batch: 2, queries: 5, keys: 9, depth: 4 },
  { batch: 1, queries: 70, keys: 19, depth: 4 },
  { batch: 1, queries: 19, keys: 133, depth: 4 },
];

test("attention with any mask and its gradients store no scores: at most a kernel more than without a mask", async () => {
  const device = await nullDevice();
  for (const kind of kinds)
    for (const symbolic of [false, true]) {
      const { program } = maskedAttention(kind, sizes[1]!, symbolic);
      const plain = maskedAttention("nothing", sizes[1]!, symbolic).program;
      const { artifact } = compileProgram(program, { target: "webgpu" });
      // The gradient of a mask is summed over the batch, and so of scores that are stored.
      if (program.outputs.length === plain.outputs.length) {
        const [names, without] = [
          artifact,
          compileProgram(plain, { target: "webgpu" }).artifact,
        ].map(namesOf);
        assert.equal([...new Set(names)].sort(), ["attention", "reduceSum", "weighted"], kind);
        assert.ok(names!.length <= without!.length + 1, `${kind} ${symbolic}: ${names}`);
      }
      const forward = { ...program, outputs: program.outputs.slice(0, 1) };
      const alone = compileProgram(forward, { target: "webgpu" }).artifact;
      assert.is(namesOf(alone).at(-1), "attention");
      for (const k of [...artifact.kernels, ...alone.kernels])
        assert.equal(await problemsOf(device, k), [], k.text);
    }
  device.destroy();
});

gpuTest("rows that see nothing are 0, forward and backward, whatever masks them", async () => {
  const device = await guardedGpuDevice();
  for (const [i, kind] of kinds.entries())
    for (const [j, size] of sizes.entries()) {
      // A pipeline takes a software device a second or more, so not every pair; ends are tried at all sizes.
      if (!kind.includes("end") && i % sizes.length !== j) continue;
      const { program, feeds, dims, want } = maskedAttention(kind, size, i % 2 === 1);
      const { values } = await runProgram(program, feeds, dims, device, { target: "webgpu" });
      const found = differences(
        values.map((v) => v.data),
        want,
      );
      assert.equal(found, [], `${kind}, ${JSON.stringify(size)}`);
    }
  device.destroy();
});

gpuTest("and where nothing is fused", async () => {
  const device = await guardedGpuDevice();
  const { program, feeds, dims, want } = maskedAttention("two lowest", sizes[0]!);
  const options = { target: "webgpu", fusion: false } as const;
  const { values } = await runProgram(program, feeds, dims, device, options);
  assert.equal(
    differences(
      values.map((v) => v.data),
      want,
    ),
    [],
  );
  device.destroy();
});

test.run();
