/**
 * Attention as one kernel on webgpu: against the reference for shapes that fill tiles and do not, masked and not, with what comes
 * before and after; and in several kernels where something else needs the weights.
 */
import { input, makeValue, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/compile.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest, heldGpu, nullDevice } from "../support/webgpu.ts";

interface Sizes {
  readonly batch: readonly number[];
  readonly queries: number;
  readonly keys: number;
  readonly depth: number;
  readonly columns: number;
}

type Build = (q: Tensor, k: Tensor, v: Tensor, mask: Tensor) => Tensor;

const plain: Build = (q, k, v) => nn.attention(q, k, v);
const builds: Record<string, Build> = {
  plain,
  causal: (q, k, v) => nn.attention(q, k, v, { causal: true }),
  "with a bias and a factor": (q, k, v, mask) =>
    q
      .matmul(k.transpose(swapped(k)))
      .mul(0.3)
      .add(mask)
      .softmax(-1)
      .matmul(v),
  "with a mask": (q, k, v, mask) => nn.attention(q, k, v, { mask: mask.less(0.5) }),
  "with what comes before and after": (q, k, v) =>
    nn.attention(q.mul(2).add(1), k.tanh(), v).mul(0.5).relu(),
};

const swapped = (x: Tensor): number[] => {
  const order = x.shape.map((_, i) => i);
  return [...order.slice(0, -2), x.rank - 1, x.rank - 2];
};

const sizes: readonly Sizes[] = [
  { batch: [2], queries: 1, keys: 1, depth: 1, columns: 1 },
  { batch: [1, 2], queries: 5, keys: 3, depth: 4, columns: 7 },
  { batch: [1], queries: 33, keys: 65, depth: 17, columns: 33 },
  { batch: [2], queries: 17, keys: 64, depth: 16, columns: 8 },
];

/** Heads so wide that an invocation has fewer rows. */
const wide: Sizes = { batch: [1], queries: 33, keys: 129, depth: 40, columns: 128 };
/** Enough workgroups for the largest blocks. */
const full: Sizes = { batch: [128], queries: 200, keys: 70, depth: 64, columns: 64 };

function programOf(build: Build, { batch, queries, keys, depth, columns }: Sizes) {
  const q = input("q", "f32", [...batch, queries, depth]);
  const k = input("k", "f32", [...batch, keys, depth]);
  const v = input("v", "f32", [...batch, keys, columns]);
  const mask = input("mask", "f32", [queries, keys]);
  const inputs = [q, k, v, mask];
  const program: Program = {
    inputs,
    outputs: [{ name: "y", value: build(q, k, v, mask) }],
    updates: [],
  };
  return { program, inputs };
}

const valuesFor = (inputs: readonly Tensor[]) =>
  new Map(
    inputs.map((t, at) => {
      const shape = t.shape as number[];
      const size = shape.reduce((a, b) => a * b, 1);
      const numbers = Array.from({ length: size }, (_, i) =>
        Math.fround(Math.sin(12.9898 * (i + 1) + at)),
      );
      return [t, makeValue("f32", shape, numbers)] as const;
    }),
  );

test("attention is one kernel, valid within the default limits", async () => {
  const device = await nullDevice();
  for (const [name, build] of Object.entries(builds))
    for (const size of [sizes[2]!, wide, full]) {
      const { artifact } = compileProgram(programOf(build, size).program, { target: "webgpu" });
      assert.is(artifact.plan.steps.length, name.includes("before") ? 2 : 1, name);
      for (const k of artifact.kernels) assert.equal(await problemsOf(device, k), [], k.text);
    }
  device.destroy();
});

test("attention whose weights are needed elsewhere stores them", () => {
  const { program } = programOf(plain, sizes[1]!);
  const weights = program.outputs[0]!.value.operands[0]!;
  const both = { ...program, outputs: [...program.outputs, { name: "weights", value: weights }] };
  const { artifact } = compileProgram(both, { target: "webgpu" });
  assert.not.ok(artifact.kernels.some((k) => k.name.startsWith("attention")));
});

gpuTest("attention agrees with the reference", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  // A pipeline takes a software device a second or more, so not every pair.
  for (const [s, size] of sizes.entries())
    for (const [b, [name, build]] of Object.entries(builds).entries()) {
      if (s !== 2 && (s + b) % 2 === 1) continue;
      const { program, inputs } = programOf(build, size);
      const feeds = valuesFor(inputs);
      const want = evaluateProgram(program, feeds, {})[0]!.data;
      const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
      const got = values[0]!.data;
      const off = got.findIndex((e, j) => !(Math.abs(e - want[j]!) <= 2e-5));
      assert.is(off, -1, `${name} ${JSON.stringify(size)} at ${off}: ${got[off]}, ${want[off]}`);
    }
  device.destroy();
});

gpuTest("attention treats NaN and infinities as the reference does", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  const size: Sizes = { batch: [1], queries: 6, keys: 70, depth: 4, columns: 4 };
  const { program, inputs } = programOf(builds["with a bias and a factor"]!, size);
  const feeds = valuesFor(inputs);
  const mask = [...feeds.get(inputs[3]!)!.data];
  for (let j = 0; j < 70; j++) {
    mask[j] = -Infinity; // Nothing counts.
    if (j < 65) mask[70 + j] = -Infinity; // Nothing of the first tile counts.
  }
  mask[2 * 70 + 5] = Number.NaN;
  mask[3 * 70 + 69] = Infinity;
  mask[4 * 70 + 3] = -3e38;
  feeds.set(inputs[3]!, makeValue("f32", [6, 70], mask));
  const want = evaluateProgram(program, feeds, {})[0]!.data;
  const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
  const got = values[0]!.data;
  const off = got.findIndex((e, j) => !Object.is(e, want[j]) && !(Math.abs(e - want[j]!) <= 2e-5));
  assert.is(off, -1, `at ${off}: ${got[off]}, ${want[off]}`);
  device.destroy();
});

test.run();
