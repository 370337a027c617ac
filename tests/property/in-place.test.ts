/**
 * Updates in place: a parameter is overwritten where it lies only if no iteration or invocation can
 * still need the old value. Programs in which one element is read far from where it is overwritten,
 * on a CPU and on a software adapter.
 */

import type { TargetName } from "@kiln-ml/artifact";
import {
  dim,
  evaluateDim,
  input,
  param,
  select,
  type Tensor,
  type Value,
  zeros,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { leavesOf, type Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, parseProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const vector = (n: number): Tensor => param(zeros([n]), { name: "w" });

function programOf(inputs: Tensor[], value: Tensor, w: Tensor, next: Tensor): Program {
  return { inputs, outputs: [{ name: "y", value }], updates: [[w, next]] };
}

/** Every invocation of a row's workgroup reads an element that one of them overwrites. */
function movingMean(length: number): Program {
  const x = input("x", "f32", [4, length]);
  const w = vector(4);
  const mean = x.mean(1);
  const y = x.sub(mean.reshape([4, 1])).sub(w.reshape([4, 1]));
  return programOf([x], y, w, w.mul(0.5).add(mean));
}

/** Every tile of a product reads an element that the first one overwrites. */
function scaledProduct(k: "K" | number): Program {
  const extent = k === "K" ? dim(k) : k;
  const [a, b] = [input("a", "f32", [1, extent]), input("b", "f32", [extent, 150])];
  const w = vector(1);
  return programOf([a, b], a.matmul(b.mul(w)), w, w.add(a.sum(1)));
}

/** An element that is read and overwritten in one place: this must go on to happen in place. */
function descent(): Program {
  const x = input("x", "f32", [4, 300]);
  const w = vector(4);
  return programOf([x], x.sum(1), w, w.sub(x.mean(1).mul(0.5)));
}

/** A number that is cleared without being read, while another output needs it as it was. */
const cleared = (): Program =>
  parseProgram(`
graph f(%x: f32[], %w: param u8[] {trainable=false}, %v: param u8[] {trainable=false}) {
  %1: u8[] = convert %x
  %2: u8[] = add %1 %w
  %3: u8[] = neg %2
  %4: u8[] = sub %3 %3
  %5: u8[] = neg %4
  assign %v %1
  assign %w %4
  return %3, %5
}
`);

/** A row is set in place beside what reads the whole: only some iterations store, and all read. */
function rowBeside(shape: readonly number[], i: number): Program {
  const [w, v] = ["w", "v"].map((name) => param(zeros(shape), { name })) as [Tensor, Tensor];
  const x = input("x", "f32", shape);
  const updates = [[w, w.at(i).set(1)] as const, [v, select(v.greater(w), v, w)] as const];
  return { inputs: [x], outputs: [{ name: "y", value: v }], updates };
}

const cases: readonly [string, Program, Dims][] = [
  ["a moving mean of rows", movingMean(300), {}],
  ["a moving mean of long rows", movingMean(1100), {}],
  ["a scaled product", scaledProduct(3), {}],
  ["a scaled product over a symbol", scaledProduct("K"), { K: 3 }],
  ["a step of descent", descent(), {}],
  ["a number that is cleared", cleared(), {}],
  ["a row that is set, of a matrix that is read", rowBeside([3, 3], 0), {}],
  ["a last row that is set, of a matrix that is read", rowBeside([5, 64], 4), {}],
  ["an element that is set, of a vector that is read", rowBeside([300], 7), {}],
];

const sample = (t: Tensor, dims: Dims): Value => {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  const least = t.dtype === "u8" ? 4 : -4;
  const data = Float64Array.from({ length: size }, (_, i) => ((i * 7) % 11) + least);
  return { dtype: t.dtype, shape, data };
};

async function check(device: Device, target: TargetName): Promise<void> {
  for (const [name, program, dims] of cases) {
    const feeds = new Map(leavesOf(program).map((t) => [t, sample(t, dims)]));
    const want = evaluateProgram(program, feeds, dims);
    const { values } = await runProgram(program, feeds, dims, device, { target });
    for (const [i, v] of values.entries())
      v.data.forEach((x, j) => {
        const y = want[i]!.data[j]!;
        assert.ok(Math.abs(x - y) < 1e-4 * (1 + Math.abs(y)), `${name}: ${i}[${j}]: ${x}, ${y}`);
      });
  }
}

test("js reads an old value wherever it is asked for", () => check(guardedCpuDevice(), "js"));

for (const variant of variants)
  test(`wasm reads an old value wherever it is asked for, ${nameOfVariant(variant)}`, () =>
    check(wasmDevice(variant), "wasm"));

gpuTest("webgpu reads an old value wherever it is asked for", async () => {
  const device = await guardedGpuDevice();
  await check(device, "webgpu");
  device.destroy();
});

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: what is read only where it is overwritten is not copied`, () => {
    assert.is(compileProgram(descent(), { target }).artifact.plan.copies.length, 0);
  });

test.run();
