/**
 * What steps of attention compile to on webgpu, without running them: kernels and memory at sizes at which the scores are far more
 * than what they are made of, texts that every device takes, and what is stored after all, because something else needs it.
 */
import { dim, input, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { transformerBlock } from "../../bench/cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { webgpu } from "../../compiler/src/targets/wgsl/target.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { nullDevice } from "../support/webgpu.ts";
import {
  builds,
  droppedStep,
  inputsOf,
  sizes,
  stepOf,
  withGradients,
} from "./attention-programs.ts";

/** The kernels of a program in order, and the bytes of all temporary buffers. */
function compiled(program: Program): { kernels: string[]; peak: number } {
  const { artifact } = compileProgram(program, { target: "webgpu" });
  const kernels = artifact.plan.steps.map((s) => {
    assert.ok("kernel" in s);
    return artifact.kernels[s.kernel]!.name;
  });
  const peak = artifact.plan.slots.reduce((n, s) => n + Math.max(...(s.sizes as number[])), 0);
  return { kernels, peak };
}

/** Lengths are known when it runs. */
function lengthsOfRun(): Program {
  const length = dim("length", { max: 512 });
  const inputs = ["q", "k", "v"].map((name) => input(name, "f32", [2, length, 8]));
  const [q, k, v] = inputs as [Tensor, Tensor, Tensor];
  return withGradients(inputs, nn.attention(q, k, v, { causal: true }), inputs);
}

/** Bytes of q, k, v and the like at the large size. */
const one = 4 * 16 * 2048 * 64 * 4;

test("a step of attention is four kernels and stores no scores", () => {
  for (const [name, build] of Object.entries(builds).slice(0, 5)) {
    const { kernels, peak } = compiled(stepOf(build, sizes.large));
    // A mask is one tensor more than the gradients of keys and values together may bind.
    const most = name.includes("mask") || name.includes("bias") ? 5 : 4;
    assert.is(kernels.length, most, `${name}: ${kernels}`);
    assert.ok(peak <= 2 * one, `${name}: ${peak}`);
  }
});

test("weights that are dropped are not stored, nor is the chance", () => {
  const { kernels, peak } = compiled(droppedStep(sizes.large));
  assert.is(kernels.length, 5);
  assert.ok(peak <= 2 * one);
});

test("a step of attention at a batch of one stores no scores", () => {
  const { kernels, peak } = compiled(stepOf(builds.causal, { ...sizes.large, batch: [1, 1] }));
  assert.is(kernels.length, 4);
  assert.ok(peak <= (2 * one) / 64);
});

test("a step of attention of any length is four kernels", () => {
  assert.is(compiled(lengthsOfRun()).kernels.length, 4);
});

test("a step of a transformer block reaches it", () => {
  const { kernels, peak } = compiled(transformerBlock(2, 512, 64, "sgd"));
  assert.is(kernels.filter((k) => k.startsWith("attention")).length, 1, `${kernels}`);
  assert.is(kernels.filter((k) => k.startsWith("weighted")).length, 2, `${kernels}`);
  // Less than the scores of two sequences of 512 and eight heads.
  assert.ok(peak < 2 * 8 * 512 * 512 * 4);
});

test("kernels of a step are valid within the default limits", async () => {
  const device = await nullDevice();
  const programs = [
    ...Object.values(builds).flatMap((b) => [sizes.odd, sizes.widest].map((s) => stepOf(b, s))),
    stepOf(builds.plain, sizes.full),
    droppedStep(sizes.full),
    lengthsOfRun(),
  ];
  for (const program of programs)
    for (const k of compileProgram(program, { target: "webgpu" }).artifact.kernels) {
      assert.equal(await problemsOf(device, k), [], k.text);
      assert.ok(k.bindings.length <= 8);
    }
  device.destroy();
});

test("the gradient of a bias stores what it sums", () => {
  const program = stepOf(builds["with a bias and a factor"], sizes.odd);
  const inputs = program.inputs.slice(0, 4);
  const [q, , , mask] = inputs as [Tensor, Tensor, Tensor, Tensor];
  const { kernels } = compiled(withGradients(inputs, program.outputs[0]!.value, [q, mask]));
  assert.not.ok(kernels.some((name) => name.startsWith("weighted")));
});

test("a step whose kernels would bind more than a device allows stores weights", () => {
  const { q, k, v, mask } = inputsOf({ ...sizes.odd, columns: 17 });
  const more = ["a", "b"].map((name) => input(name, "f32", mask.shape));
  const scores = [mask, ...more].reduce((x, y) => x.add(y), q.matmul(k.transpose([0, 2, 1])));
  const program = withGradients([q, k, v, mask, ...more], scores.softmax(-1).matmul(v), [q, k, v]);
  assert.not.ok(compiled(program).kernels.some((name) => name.startsWith("weighted")));
  const limits = { ...webgpu.defaultLimits, maxStorageBuffersPerShaderStage: 12 };
  const { artifact } = compileProgram(program, { target: "webgpu", limits });
  assert.is(artifact.plan.steps.length, 4);
});

test.run();
