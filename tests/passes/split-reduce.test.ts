/**
 * Long reductions on webgpu: two kernels, one answer; short, strided and symbolic ones stay whole.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import { load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { gpuTest } from "../support/webgpu.ts";

const programOf = (x: Tensor, ...values: Tensor[]): Program => ({
  inputs: [x],
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

const kernelsOf = (program: Program): number =>
  compileProgram(program, { target: "webgpu" }).artifact.plan.steps.length;

test("a long reduction over the last axes takes two kernels, its prologue and epilogue included", () => {
  const x = input("x", "f32", [1024, 1024]);
  assert.is(kernelsOf(programOf(x, x.mul(x).sum().sqrt())), 2);
});

test("a reduction that is short, strided or symbolic stays whole", () => {
  const short = input("x", "f32", [100, 100]);
  assert.is(kernelsOf(programOf(short, short.sum())), 1);
  const strided = input("x", "f32", [1 << 18, 2]);
  assert.is(kernelsOf(programOf(strided, strided.sum([0]))), 1);
  const symbolic = input("x", "f32", ["N", 1 << 20]);
  assert.is(kernelsOf(programOf(symbolic, symbolic.sum())), 1);
});

test("a long reduction down columns, or of outer and inner axes, takes two kernels", () => {
  const columns = input("x", "f32", [1 << 20, 2]);
  assert.is(kernelsOf(programOf(columns, columns.sum([0]).mul(2))), 2);
  const channels = input("x", "f32", [64, 8, 64, 64]);
  assert.is(kernelsOf(programOf(channels, channels.sum([0, 2, 3]))), 2);
  const prime = input("x", "f32", [1_000_003, 2]);
  assert.is(kernelsOf(programOf(prime, prime.sum([0]))), 1);
});

gpuTest("sums, extremes and their neighbours of a million elements are right", async () => {
  const device = await guardedGpuDevice();
  const x = input("x", "f32", [1024, 1024]);
  const program = programOf(x, x.sum(), x.max(), x.mul(x).mean(), x.min([1]));
  const { artifact } = compileProgram(program, { target: "webgpu" });
  const exe = await load(artifact, device, { states: [] });
  // Whole numbers, so that every order of additions gives the same sum.
  const values = Float32Array.from({ length: 1 << 20 }, (_, i) => ((i * 7919) % 13) - 6);
  const outputs = await exe.run([device.upload(values, "f32", [1024, 1024])]);
  const [sum, max, mean, min] = await Promise.all(outputs.map((o) => o.data()));
  assert.is(
    sum![0],
    values.reduce((a, b) => a + b, 0),
  );
  assert.is(max![0], 6);
  const square = values.reduce((a, b) => a + b * b, 0) / values.length;
  assert.ok(Math.abs(mean![0]! - square) < 1e-4 * square);
  assert.is(min!.length, 1024);
  assert.ok(min!.every((v) => v === -6));
  device.destroy();
});

test.run();
