/**
 * Sums that run along with a product's operand: of the operand, of copies of it along a new axis, of
 * its diagonal, turned and reversed, and of operands that lie in memory in another order, as heads
 * do. Every target and both fusions give the reference's values, bit for bit on js.
 */
import { dotGeneral, input, makeValue, type Tensor } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { targetNames } from "../../compiler/src/targets/index.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const sums: Readonly<Record<string, (x: Tensor, n: number) => Tensor>> = {
  "of rows": (x) => x.sum(1),
  "of columns": (x) => x.sum(0),
  "of copies of rows": (x, n) => x.broadcastInDim([3, n, n], [1, 2]).sum([0, 2]),
  "of copies of columns": (x, n) => x.broadcastInDim([n, 3, n], [0, 2]).sum([0, 1]),
  "of copies alone": (x, n) => x.broadcastInDim([3, n, n], [1, 2]).sum(0),
  "of turned rows": (x) => x.transpose([1, 0]).sum(1),
  "of reversed rows": (x) => x.reverse([1]).sum(1),
  "of all": (x) => x.sum(),
};

function programOf(name: string, n: number, right: boolean): Program {
  const [x, w] = [input("x", "f32", [n, n]), input("w", "f32", [n, n])];
  const product = right ? w.matmul(x) : x.matmul(w);
  const outputs = [product, sums[name]!(x, n).neg()].map((value, i) => ({ name: `y${i}`, value }));
  return { inputs: [x, w], outputs, updates: [] };
}

const edge = 12;

/** Matrices [12, 12] of tensors that lie otherwise. */
const views: Readonly<Record<string, readonly [shape: number[], view: (x: Tensor) => Tensor]>> = {
  heads: [[2, 3, 6, 4], (x) => x.transpose([0, 2, 1, 3])],
  tiles: [[3, 2, 4, 6], (x) => x.transpose([0, 2, 1, 3])],
  "heads, reversed": [[2, 3, 6, 4], (x) => x.reverse([1]).transpose([0, 2, 1, 3])],
  "heads last": [[2, 6, 4, 3], (x) => x.transpose([0, 1, 3, 2])],
  "a batch of rows": [[2, 6, 12], (x) => x],
};

/** A weight's gradient, of the product's left or right side, and sums of that side. */
function gradientOf(name: string, right: boolean, axis: number): Program {
  const [shape, view] = views[name]!;
  const [x, w] = [input("x", "f32", shape), input("w", "f32", [edge, edge])];
  const g = view(x).reshape([edge, edge]);
  const product = right ? w.transpose([1, 0]).matmul(g) : g.transpose([1, 0]).matmul(w);
  const outputs = [product, g.sum(axis).neg()].map((value, i) => ({ name: `y${i}`, value }));
  return { inputs: [x, w], outputs, updates: [] };
}

/** The same in rank 3, of a side that is stored as a matrix. */
function splitGradient(): Program {
  const [x, w] = [input("x", "f32", [edge, edge]), input("w", "f32", [edge, edge])];
  const [g, v] = [x, w].map((t) => t.reshape([2, 6, edge])) as [Tensor, Tensor];
  const product = dotGeneral(g, v, { lhsContract: [0, 1], rhsContract: [0, 1] });
  const outputs = [product, g.sum([0, 1])].map((value, i) => ({ name: `y${i}`, value }));
  return { inputs: [x, w], outputs, updates: [] };
}

/** Small integers: sums in any order are the same. */
const numbers = (size: number, from: number): number[] =>
  Array.from({ length: size }, (_, i) => ((i * 7 + from) % 11) - 5);

async function same(
  what: string,
  program: Program,
  device: Device,
  fusions = [true],
): Promise<void> {
  const feeds = new Map(
    program.inputs.map((t, i) => {
      const shape = t.shape as readonly number[];
      const size = shape.reduce((a, b) => a * b, 1);
      return [t, makeValue("f32", shape, numbers(size, i))] as const;
    }),
  );
  const want = evaluateProgram(program, feeds);
  for (const fusion of fusions) {
    const options = { target: device.target, fusion };
    const { values } = await runProgram(program, feeds, {}, device, options);
    for (const [i, v] of values.entries())
      assert.ok(sameValue(v, want[i]!), `${what}, fusion ${fusion}: ${v.data}`);
  }
}

async function agrees(device: Device, extents: readonly number[]): Promise<void> {
  for (const right of [false, true]) {
    for (const name of Object.keys(sums))
      for (const n of extents)
        await same(`${name}, ${n}`, programOf(name, n, right), device, [true, false]);
    for (const name of Object.keys(views)) await same(name, gradientOf(name, right, 0), device);
  }
  await same("heads along lines", gradientOf("heads", false, 1), device);
  await same("split", splitGradient(), device);
}

for (const target of targetNames)
  test(`${target}: a sum of an operand is no kernel of its own, however the operand lies`, () => {
    const kernels = (p: Program): number =>
      compileProgram(p, { target }).artifact.plan.steps.length;
    for (const name of Object.keys(views))
      for (const right of [false, true]) assert.is(kernels(gradientOf(name, right, 0)), 1, name);
    assert.is(kernels(splitGradient()), 1, "split");
    // A sum along the result's lines is not one along the product's depth.
    assert.is(kernels(gradientOf("heads", false, 1)), 2);
  });

test("js: sums beside a product take in what the reference does", () =>
  agrees(guardedCpuDevice(), [2, 7]));

test("wasm: sums beside a product take in what the reference does", () =>
  agrees(wasmDevice(variants[0]!), [2, 33]));

gpuTest("webgpu: sums beside a product take in what the reference does", async () => {
  const device = await guardedGpuDevice();
  await agrees(device, [33]);
  device.destroy();
});

test.run();
