/**
 * Sums of whole tensors that are added up, on webgpu: few kernels whatever their number, and the sum that it was.
 */
import { input, makeValue, param, type Tensor, tensor } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { joinSums } from "../../compiler/src/passes/join-sums.ts";
import { type Program, sameProgram } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { gpuTest } from "../support/webgpu.ts";

const programOf = (inputs: readonly Tensor[], ...values: Tensor[]): Program => ({
  inputs: [...inputs],
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

const total = (terms: readonly Tensor[]): Tensor => terms.reduce((a, b) => a.add(b));
const inputsOf = (shapes: readonly (readonly number[])[]): Tensor[] =>
  shapes.map((shape, i) => input(`x${i}`, "f32", shape));
const kernelsOf = (p: Program): number =>
  compileProgram(p, { target: "webgpu" }).artifact.plan.steps.length;

test("the sum of sums of a few tensors is one kernel, of long ones two, and of many one for six of them", () => {
  const few = inputsOf([[7], [3, 5], [11], [2, 2, 2]]);
  assert.is(kernelsOf(programOf(few, total(few.map((x) => x.sum())))), 1);
  const long = inputsOf([[1021, 509], [31], [300, 1000]]);
  assert.is(kernelsOf(programOf(long, total(long.map((x) => x.mul(x).sum())).sqrt())), 2);
  const many = inputsOf(Array.from({ length: 18 }, (_, i) => [i + 1, 3]));
  assert.is(kernelsOf(programOf(many, total(many.map((x) => x.sum())).mul(2))), 4);
});

test("two sums, sums that are read elsewhere, and sums over symbolic extents stay as they are", () => {
  const same = (p: Program): void => assert.ok(sameProgram(joinSums.run(p), p));
  const [a, b, c] = inputsOf([[4], [5], [6]]) as [Tensor, Tensor, Tensor];
  same(programOf([a, b], a.sum().add(b.sum())));
  const sums = [a, b, c].map((x) => x.sum());
  same(programOf([a, b, c], total(sums), ...sums));
  const n = input("n", "f32", ["N", 2]);
  same(programOf([a, b, n], total([a, b, n].map((x) => x.sum()))));
  const parts = total(sums.slice(0, 2));
  same(programOf([a, b, c], parts, parts.add(sums[2]!)));
});

test("a sum of sums that another one adds is found once", () => {
  const xs = inputsOf([[4], [3], [2, 2], [5], [6], [7]]);
  const sums = xs.map((x) => x.sum());
  const part = total(sums.slice(0, 3));
  assert.is(kernelsOf(programOf(xs, part.mul(2), total([part, ...sums.slice(3)]))), 2);
});

test("what else is added stays a term", () => {
  const xs = inputsOf([[4], [5], [6]]);
  const bias = param(tensor([2]), { name: "bias" });
  const sum = total([...xs.map((x) => x.sum()), bias.reshape([])]);
  const joined = joinSums.run(programOf(xs, sum));
  assert.is(joined.outputs[0]!.value.op, "add");
  assert.is(joined.outputs[0]!.value.operands[0]!.op, "reduceSum");
});

gpuTest("the sum is that of all elements, whatever the shapes", async () => {
  const device = await guardedGpuDevice();
  const check = async (shapes: readonly (readonly number[])[]): Promise<void> => {
    const xs = inputsOf(shapes);
    // Whole numbers, so that every order of additions gives the same sum.
    const values = xs.map((x, k) => {
      const size = (x.shape as number[]).reduce((p, q) => p * q, 1);
      return Array.from({ length: size }, (_, i) => ((i * 7919 + k) % 13) - 5);
    });
    const feeds = new Map(
      xs.map((x, k) => [x, makeValue("f32", x.shape as number[], values[k]!)] as const),
    );
    const program = programOf(xs, total(xs.map((x) => x.transpose().sum())));
    const got = await runProgram(program, feeds, {}, device, { target: "webgpu" });
    assert.is(
      got.values[0]!.data[0],
      values.flat().reduce((p, q) => p + q, 0),
    );
  };
  await check([[1021, 257], [31], [77, 3], [1, 5], [2, 3, 4], [9], [64], [5, 5]]);
  const shape = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 });
  await fc.assert(fc.asyncProperty(fc.array(shape, { minLength: 3, maxLength: 15 }), check), {
    numRuns: runs(8),
  });
  device.destroy();
});

gpuTest("parts of a sum of halves may be larger than a half", async () => {
  const device = await guardedGpuDevice();
  const check = async (shape: readonly number[], of: (x: Tensor) => Tensor): Promise<void> => {
    const x = input("x", "f16", shape);
    const size = shape.reduce((p, q) => p * q);
    const data = Array.from({ length: size }, (_, i) => (i < size / 2 ? 800 : -800));
    const feeds = new Map([[x, makeValue("f16", shape, data)]]);
    const { values } = await runProgram(programOf([x], of(x)), feeds, {}, device, {
      target: "webgpu",
    });
    assert.ok(
      [...values[0]!.data].every((v) => v === 0),
      `${shape}`,
    );
  };
  await check([1 << 18], (x) => x.sum());
  await check([1 << 18, 4], (x) => x.sum(0));
  await check([1 << 18], (x) =>
    total([x.sum(), x.slice([0], [3]).sum(), x.slice([0], [5]).sum()]).sub(6400),
  );
  device.destroy();
});

test.run();
