/**
 * Gather and scatter at the edges, on each target against the reference: indices of every dtype below, at and beyond both
 * ends, axes in any order, and axes without elements, known and symbolic.
 */

import type { TargetName } from "@kiln-ml/artifact";
import {
  type Dim,
  type Dtype,
  dim,
  evaluateDim,
  gather,
  input,
  scatter,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const far: Readonly<Partial<Record<Dtype, readonly number[]>>> = {
  i32: [0, -1, 2, 3, 2147483647, -2147483648],
  u32: [0, 1, 2, 3, 4294967295, 2147483648],
};

interface Case {
  readonly extents: readonly Dim[];
  readonly axes: readonly number[];
  readonly dtype: Dtype;
}

const N = dim("N", { min: 0 });
const cases: Case[] = [];
for (const dtype of ["i32", "u32"] as const)
  for (const axes of [[0], [1], [0, 1], [1, 0]])
    for (const extents of [
      [3, 4],
      [0, 4],
      [N, 4],
      [N, 2],
    ])
      if (!axes.some((axis) => extents[axis] === 0)) cases.push({ extents, axes, dtype });

function programOf({ extents, axes, dtype }: Case): Program {
  const x = input("x", "f32", [...extents]);
  const indices = axes.map((axis) => input(`i${axis}`, dtype, [6]));
  const y = gather(x, indices, [...axes]);
  const updates = input("updates", "f32", [...y.shape]);
  const z = scatter(x, updates, indices, [...axes], "add");
  return {
    inputs: [x, ...indices, updates],
    outputs: [y, z].map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
}

function sample(t: Tensor, dims: Readonly<Record<string, number>>): Value {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  const shift = String(t.attrs.name).length + t.id;
  const places = far[t.dtype];
  const element = (i: number) => (places ? places[(i + shift) % places.length]! : i + 1);
  return { dtype: t.dtype, shape, data: Float64Array.from({ length: size }, (_, i) => element(i)) };
}

/** An axis without elements has nothing to index: that is refused, so N is 0 only where it is not indexed. */
const extentsOf = ({ extents, axes }: Case): readonly Readonly<Record<string, number>>[] =>
  !extents.includes(N) ? [{}] : axes.includes(0) ? [{ N: 1 }, { N: 3 }] : [{ N: 0 }, { N: 3 }];

async function check(device: Device, target: TargetName): Promise<void> {
  for (const one of cases)
    for (const dims of extentsOf(one)) {
      const program = programOf(one);
      const feeds = new Map(program.inputs.map((t) => [t, sample(t, dims)]));
      const want = evaluateProgram(program, feeds, dims);
      const { values } = await runProgram(program, feeds, dims, device, { target });
      values.forEach((v, i) => {
        const what = `${one.extents} at ${one.axes}, ${one.dtype}, ${JSON.stringify(dims)}`;
        assert.ok(sameValue(v, want[i]!), `${i} of ${what}: got ${v.data}, want ${want[i]!.data}`);
      });
    }
}

test("an axis without elements is not indexed", () => {
  assert.throws(
    () => programOf({ extents: [0, 4], axes: [0], dtype: "i32" }),
    /^gather: axis 0 of \[0,4\] is empty, it has no places$/,
  );
});

test("js gathers and scatters at the edges as the reference does", () =>
  check(guardedCpuDevice(), "js"));

for (const variant of variants)
  test(`wasm gathers and scatters at the edges, ${nameOfVariant(variant)}`, () =>
    check(wasmDevice(variant), "wasm"));

gpuTest("webgpu gathers and scatters at the edges as the reference does", async () => {
  const device = await guardedGpuDevice();
  await check(device, "webgpu");
  device.destroy();
});

test.run();
