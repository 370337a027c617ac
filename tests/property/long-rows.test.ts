/**
 * Rows long enough for a workgroup each on webgpu, in lengths that lanes divide and that they do not, with a
 * symbolic number of rows: against the reference.
 */
import { input, makeValue, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

const results: Record<string, (x: Tensor, w: Tensor) => Tensor[]> = {
  softmax: (x) => [x.softmax()],
  "normalisation with a weight": (x, w) => {
    const centred = x.sub(x.mean(-1, { keepDims: true }));
    const variance = centred.mul(centred).mean(-1, { keepDims: true });
    return [centred.mul(variance.add(1e-5).rsqrt()).mul(w)];
  },
  "reductions side by side": (x, w) => [
    x.sum([1]),
    x.max([1]),
    x.argMax(1),
    x.mul(w).sum([1]),
    x.sub(x.max([1], { keepDims: true })),
  ],
};

const rows = 3;
/** Teams in one workgroup, a workgroup a row, steps that do not divide, and rows that registers do not hold. */
const lengths = [33, 36, 44, 64, 100, 127, 132, 256, 257, 1000, 1024, 4097, 8196];

test("rows of every kind of team are valid WGSL, with subgroups too", async () => {
  const adapter = await (await heldGpu("backend=null")).requestAdapter();
  const device = await adapter!.requestDevice({ requiredFeatures: ["subgroups"] });
  for (const length of lengths)
    for (const define of Object.values(results))
      for (const features of [[], ["subgroups"]]) {
        const [x, w] = [input("x", "f32", ["N", length]), input("w", "f32", [length])];
        const outputs = define(x, w).map((value, i) => ({ name: `y${i}`, value }));
        const program: Program = { inputs: [x, w], outputs, updates: [] };
        const { artifact } = compileProgram(program, { target: "webgpu", features });
        for (const k of artifact.kernels)
          assert.equal(await problemsOf(device, k), [], `${length}\n${k.text}`);
      }
  device.destroy();
});

gpuTest("columns agree with the reference, split or not", async () => {
  const device = await guardedGpuDevice();
  // The last is split in two kernels.
  for (const [height, width] of [
    [5, 256],
    [7, 1023],
    [3, 260],
    [64, 9],
    [65, 8],
    [100, 1],
    [300, 33],
    [1024, 1024],
  ] as const) {
    const x = input("x", "f32", [height, width]);
    const [sum, max] = [x.sum([0]), x.max([0])];
    const values = height > 999 ? [sum] : [sum, max, x.argMax(0), x.mul(x).mean([0]).sqrt()];
    const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
    const program: Program = { inputs: [x], outputs, updates: [] };
    const { artifact } = compileProgram(program, { target: "webgpu" });
    if (height > 999) assert.is(artifact.plan.steps.length, 2);
    // Whole numbers, so that every order of additions gives the same sum.
    const numbers = Array.from({ length: height * width }, (_, i) => ((i * 7919) % 13) - 6);
    const feeds = new Map([[x, makeValue("f32", [height, width], numbers)]]);
    const want = evaluateProgram(program, feeds, {});
    const got = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    got.values.forEach((v, i) => {
      const off = v.data.findIndex((e, j) => !(Math.abs(e - want[i]!.data[j]!) <= 1e-5));
      assert.is(off, -1, `${height}×${width}, result ${i} at ${off}: ${v.data[off]}`);
    });
  }
  device.destroy();
});

gpuTest("rows with NaN and infinities agree with the reference", async () => {
  const device = await guardedGpuDevice();
  for (const length of [36, 130, 1024]) {
    const x = input("x", "f32", [5, length]);
    const outputs = [x.softmax(), x.max([1]), x.min([1]), x.argMax(1)].map((value, i) => ({
      name: `y${i}`,
      value,
    }));
    const numbers = Array.from({ length: 5 * length }, (_, i) => Math.fround(Math.sin(i + 1)));
    [Number.NaN, Infinity, -Infinity].forEach((v, row) => {
      numbers[row * length + length - 2] = v;
    });
    for (let j = 0; j < length; j++) numbers[3 * length + j] = -Infinity;
    const feeds = new Map([[x, makeValue("f32", [5, length], numbers)]]);
    const program: Program = { inputs: [x], outputs, updates: [] };
    const want = evaluateProgram(program, feeds, {});
    const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    values.forEach((v, i) => {
      const expected = want[i]!.data;
      const off = v.data.findIndex(
        (e, j) => !Object.is(e, expected[j]) && !(Math.abs(e - expected[j]!) <= 1e-5),
      );
      assert.is(off, -1, `${length}, result ${i} at ${off}: ${v.data[off]}, ${expected[off]}`);
    });
  }
  device.destroy();
});

gpuTest("long rows agree with the reference", async () => {
  const device = await guardedGpuDevice();
  for (const [name, define] of Object.entries(results))
    for (const length of lengths) {
      const [x, w] = [input("x", "f32", ["N", length]), input("w", "f32", [length])];
      const outputs = define(x, w).map((value, i) => ({ name: `y${i}`, value }));
      const program: Program = { inputs: [x, w], outputs, updates: [] };
      // Not around 0, so that sums do not cancel.
      const numbers = (n: number, by: number) =>
        Array.from({ length: n }, (_, i) => Math.fround(1 + 2 * Math.sin(by * (i + 1))));
      const feeds = new Map([
        [x, makeValue("f32", [rows, length], numbers(rows * length, 12.9898))],
        [w, makeValue("f32", [length], numbers(length, 78.233))],
      ]);
      const want = evaluateProgram(program, feeds, { N: rows });
      const { values } = await runProgram(program, feeds, { N: rows }, device, {
        target: "webgpu",
      });
      values.forEach((v, i) => {
        const expected = want[i]!.data;
        const scale = expected.reduce((m, e) => Math.max(m, Math.abs(e)), 0);
        const off = v.data.findIndex((e, j) => !(Math.abs(e - expected[j]!) <= 2e-5 * scale));
        assert.is(off, -1, `${name} of ${length}, result ${i}: ${v.data[off]}, ${expected[off]}`);
      });
    }
  device.destroy();
});

test.run();
