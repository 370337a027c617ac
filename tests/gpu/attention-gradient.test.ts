/**
 * Training steps of attention on webgpu, in which nothing of the shape of the scores is stored: against the reference for shapes that
 * fill tiles and do not, masked and not, with heads that share keys; kernels and memory of steps too large to run; and what is
 * stored after all, because something else needs it.
 */
import { grad, input, makeValue, random, select, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { transformerBlock } from "../../bench/cases.ts";
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

const swapped = (x: Tensor): Tensor => {
  const axes = x.shape.map((_, i) => i);
  return x.transpose([...axes.slice(0, -2), x.rank - 1, x.rank - 2]);
};

const builds: Record<string, Build> = {
  plain: (q, k, v) => nn.attention(q, k, v),
  causal: (q, k, v) => nn.attention(q, k, v, { causal: true }),
  "with a bias and a factor": (q, k, v, mask) =>
    q.matmul(swapped(k)).mul(0.3).add(mask).softmax(-1).matmul(v),
  "with a mask": (q, k, v, mask) => nn.attention(q, k, v, { mask: mask.less(0.5), causal: true }),
  "with capped scores": (q, k, v) => q.matmul(swapped(k)).tanh().mul(3).softmax(-1).matmul(v),
  "with what comes before and after": (q, k, v) =>
    nn.attention(q.mul(2).add(1), k.tanh(), v).mul(0.5).relu(),
};

const sizes: readonly Sizes[] = [
  { batch: [2], queries: 1, keys: 1, depth: 1, columns: 1 },
  { batch: [1, 2], queries: 5, keys: 3, depth: 4, columns: 7 },
  { batch: [1], queries: 33, keys: 65, depth: 17, columns: 17 },
  { batch: [2], queries: 70, keys: 19, depth: 16, columns: 8 },
];

/** Heads so wide that fewer terms are between barriers. */
const wide: Sizes = { batch: [1], queries: 9, keys: 70, depth: 20, columns: 140 };

/** The result and the gradients of its products with g. */
function programOf(build: Build, { batch, queries, keys, depth, columns }: Sizes) {
  const q = input("q", "f32", [...batch, queries, depth]);
  const k = input("k", "f32", [...batch, keys, depth]);
  const v = input("v", "f32", [...batch, keys, columns]);
  const mask = input("mask", "f32", [queries, keys]);
  return stepOf([q, k, v, mask], build(q, k, v, mask), [q, k, v]);
}

function stepOf(inputs: readonly Tensor[], y: Tensor, of: readonly Tensor[]): Program {
  const g = input("g", "f32", y.shape);
  const values = [y, ...grad(y.mul(g).sum(), of)];
  return {
    inputs: [...inputs, g],
    outputs: values.map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
}

const valuesFor = (inputs: readonly Tensor[]) =>
  new Map(
    inputs.map((t, at) => {
      const shape = t.shape as number[];
      const size = shape.reduce((a, b) => a * b, 1);
      const numbers = Array.from({ length: size }, (_, i) =>
        t.dtype === "u32" ? i + 7 : Math.fround(Math.sin(12.9898 * (i + 1) + at)),
      );
      return [t, makeValue(t.dtype, shape, numbers)] as const;
    }),
  );

const kernelsOf = (program: Program): string[] => {
  const { artifact } = compileProgram(program, { target: "webgpu" });
  return artifact.plan.steps.map((s) => artifact.kernels[(s as { kernel: number }).kernel]!.name);
};

async function agrees(program: Program, name: string): Promise<void> {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  const feeds = valuesFor(program.inputs);
  const want = evaluateProgram(program, feeds, {});
  const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
  for (const [i, { data: got }] of values.entries()) {
    const expected = want[i]!.data;
    const most = expected.reduce((m, e) => Math.max(m, Math.abs(e)), 1);
    const off = got.findIndex((e, j) => !(Math.abs(e - expected[j]!) <= 2e-5 * most));
    assert.is(
      off,
      -1,
      `${name} ${program.outputs[i]!.name} at ${off}: ${got[off]}, ${expected[off]}`,
    );
  }
  device.destroy();
}

/** Bytes of all temporary buffers. */
function peakOf(program: Program): number {
  const { artifact } = compileProgram(program, { target: "webgpu" });
  return artifact.plan.slots.reduce((sum, { sizes }) => sum + Math.max(...(sizes as number[])), 0);
}

/** As many heads of keys and values as there are sets of queries' heads. */
function sharedKeys(): Program {
  const q = input("q", "f32", [2, 4, 9, 8]);
  const [k, v] = ["k", "v"].map((name) => input(name, "f32", [2, 2, 9, 8])) as [Tensor, Tensor];
  const spread = (x: Tensor) =>
    x.reshape([2, 2, 1, 9, 8]).broadcastTo([2, 2, 2, 9, 8]).reshape([2, 4, 9, 8]);
  return stepOf([q, k, v], nn.attention(q, spread(k), spread(v), { causal: true }), [q, k, v]);
}

/** Weights dropped with a chance of a half. */
function dropped({ batch, queries, keys, depth, columns }: Sizes): Program {
  const q = input("q", "f32", [...batch, queries, depth]);
  const k = input("k", "f32", [...batch, keys, depth]);
  const v = input("v", "f32", [...batch, keys, columns]);
  const key = input("key", "u32", [2]);
  const weights = q.matmul(swapped(k)).softmax(-1);
  const kept = random.bernoulli(key, 0.5, weights.shape);
  return stepOf([q, k, v, key], select(kept, weights.mul(2), 0).matmul(v), [q, k, v]);
}

const large: Sizes = { batch: [4, 16], queries: 2048, keys: 2048, depth: 64, columns: 64 };

test("a step of attention is four kernels and stores no scores", () => {
  for (const [name, build] of Object.entries(builds).slice(0, 5)) {
    const program = programOf(build, large);
    const kernels = kernelsOf(program);
    // A mask is one tensor more than the gradients of keys and values together may bind.
    const most = name.includes("mask") || name.includes("bias") ? 5 : 4;
    assert.is(kernels.length, most, `${name}: ${kernels}`);
    const bytes = 4 * 16 * 2048 * 64 * 4;
    assert.ok(peakOf(program) <= 2 * bytes, `${name}: ${peakOf(program)}`);
  }
});

test("weights that are dropped are not stored, nor is the chance", () => {
  const program = dropped(large);
  assert.is(kernelsOf(program).length, 5);
  assert.ok(peakOf(program) <= 2 * 4 * 16 * 2048 * 64 * 4);
});

test("a step of attention at a batch of one stores no scores", () => {
  const program = programOf(builds.causal!, { ...large, batch: [1, 1] });
  assert.is(kernelsOf(program).length, 4);
  assert.ok(peakOf(program) <= 2 * 2048 * 64 * 4);
});

test("a step of a transformer block reaches it", () => {
  const kernels = kernelsOf(transformerBlock(2, 512, 64, "sgd"));
  assert.is(kernels.filter((k) => k.startsWith("attention")).length, 1, `${kernels}`);
  assert.is(kernels.filter((k) => k.startsWith("weighted")).length, 2, `${kernels}`);
  // Less than the scores of two sequences of 512 and eight heads.
  assert.ok(peakOf(transformerBlock(2, 512, 64, "sgd")) < 2 * 8 * 512 * 512 * 4);
});

test("kernels of a step are valid within the default limits", async () => {
  const device = await nullDevice();
  for (const build of Object.values(builds))
    for (const size of [sizes[2]!, { ...sizes[2]!, depth: 256, columns: 256 }]) {
      const { artifact } = compileProgram(programOf(build, size), { target: "webgpu" });
      for (const k of artifact.kernels) {
        assert.equal(await problemsOf(device, k), [], k.text);
        assert.ok(k.bindings.length <= 8);
      }
    }
  device.destroy();
});

test("the gradient of a bias stores what it sums", () => {
  const program = programOf(builds["with a bias and a factor"]!, sizes[2]!);
  const [q, k, v, mask] = program.inputs as [Tensor, Tensor, Tensor, Tensor];
  const y = program.outputs[0]!.value;
  const kernels = kernelsOf(stepOf([q, k, v, mask], y, [q, mask]));
  assert.not.ok(kernels.some((name) => name.startsWith("weighted")));
});

gpuTest("gradients of attention agree with the reference", async () => {
  // A pipeline takes a software device a second or more, so not every pair.
  const pairs: [string, number][] = [
    ["plain", 0],
    ["with a bias and a factor", 1],
    ["causal", 2],
    ["with a mask", 3],
    ["with what comes before and after", 1],
  ];
  for (const [name, s] of pairs)
    await agrees(programOf(builds[name]!, sizes[s]!), `${name} ${JSON.stringify(sizes[s])}`);
});

gpuTest("gradients of weights that are dropped agree with the reference", () =>
  agrees(dropped(sizes[1]!), "dropped"),
);

gpuTest("gradients of wide heads agree with the reference", () =>
  agrees(programOf(builds.plain!, wide), "wide"),
);

gpuTest("gradients of heads that share keys agree with the reference", () =>
  agrees(sharedKeys(), "shared"),
);

test.run();
