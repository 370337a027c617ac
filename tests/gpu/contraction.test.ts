/**
 * Products and convolutions on webgpu, on a software adapter: awkward shapes, operands that lie either way, what is fused
 * before and after, sums beside, all against the reference in double precision.
 */
import {
  convolution,
  type Dim,
  type Dtype,
  dotGeneral,
  evaluateDim,
  grad,
  input,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { type Device, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

const x = (name: string, shape: Dim[], dtype: Dtype = "f32"): Tensor => input(name, dtype, shape);

const programOf = (inputs: Tensor[], ...values: Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** Small whole numbers, whose products are exact. */
function sample(t: Tensor, dims: Dims, salt: number): Value {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  const data = Float64Array.from({ length: size }, (_, i) => ((i * 7 + salt * 5) % 13) - 6);
  return { dtype: t.dtype, shape, data };
}

async function agrees(device: Device, name: string, program: Program, dims: Dims = {}) {
  const feeds = new Map(program.inputs.map((t, i) => [t, sample(t, dims, i)]));
  const want = evaluateProgram(program, feeds, dims);
  const { limits } = device;
  const { values } = await runProgram(program, feeds, dims, device, { target: "webgpu", limits });
  for (const [i, v] of values.entries())
    v.data.forEach((got, j) => {
      const y = want[i]!.data[j]!;
      assert.ok(Math.abs(got - y) <= 1e-4 * (1 + Math.abs(y)), `${name}: ${i}[${j}]: ${got}, ${y}`);
    });
}

const open = async () => openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });

/** a·b with each operand lying either way. */
function product(m: Dim, n: Dim, k: Dim, aTurned: boolean, bTurned: boolean): Program {
  const a = x("a", aTurned ? [k, m] : [m, k]);
  const b = x("b", bTurned ? [n, k] : [k, n]);
  const lhsContract = [aTurned ? 0 : 1];
  const rhsContract = [bTurned ? 1 : 0];
  return programOf([a, b], dotGeneral(a, b, { lhsContract, rhsContract }));
}

const sizes: readonly [number, number, number][] = [
  [1, 33, 17],
  [33, 1, 5],
  [12, 8, 20],
  [65, 36, 33],
  [128, 128, 40],
];
for (const [m, n, k] of sizes)
  gpuTest(
    `a product of ${m} by ${n} over ${k} is right, whichever way its operands lie`,
    async () => {
      const device = await open();
      for (const [s, t] of [
        [false, false],
        [false, true],
        [true, false],
        [true, true],
      ] as const)
        await agrees(device, `${s} ${t}`, product(m, n, k, s, t));
      device.destroy();
    },
  );

gpuTest("a product of symbolic extents is right in large tiles", async () => {
  const device = await open();
  for (const turned of [false, true]) {
    const all = product("M" as never, "N" as never, "K" as never, turned, !turned);
    await agrees(device, "all", all, { M: 5, N: 131, K: 18 });
    await agrees(device, "rows", product("M" as never, 512, 20, turned, turned), { M: 130 });
  }
  device.destroy();
});

gpuTest("what is fused into a product, before, after and beside, is right", async () => {
  const device = await open();
  const [a, b, bias] = [x("a", [2, 35, 24]), x("b", [24, 40]), x("bias", [40])];
  const y = a.add(1).matmul(b.mul(0.5)).add(bias);
  await agrees(device, "bias", programOf([a, b, bias], y.maximum(0), y));
  await agrees(device, "sums", programOf([a, b], a.matmul(b), a.sum(2), b.sum(0)));
  const turned = dotGeneral(b, a, { lhsContract: [0], rhsContract: [2] });
  await agrees(device, "turned", programOf([a, b, bias], turned.transpose([1, 2, 0]).add(bias)));
  const [p, q] = [x("p", [3, 20, 16]), x("q", [3, 16, 12])];
  await agrees(device, "batched", programOf([p, q], p.matmul(q)));
  const [i, j] = [x("i", [19, 20], "i32"), x("j", [20, 24], "i32")];
  await agrees(device, "integers", programOf([i, j], i.matmul(j)));
  device.destroy();
});

gpuTest("long sums in parts are right", async () => {
  const device = await open();
  await agrees(device, "product", product(7, 12, 2048, false, false));
  const [a, b] = [x("a", [2, 3, 8, 130]), x("b", [8, 130, 3, 2])];
  const both = dotGeneral(a, b, {
    lhsBatch: [0],
    rhsBatch: [3],
    lhsContract: [2, 3],
    rhsContract: [0, 1],
  });
  await agrees(device, "two axes and a batch", programOf([a, b], both));
  const [c, w] = [x("c", [3, 4, 21, 20]), x("w", [5, 4, 3, 3])];
  const y = convolution(c, w);
  await agrees(device, "weights", programOf([c, w], grad(y.mul(y).sum(), [w])[0]!));
  device.destroy();
});

const windows: readonly [string, number[], number[], Parameters<typeof convolution>[2]][] = [
  ["plain", [2, 16, 9, 9], [20, 16, 3, 3], {}],
  ["padded", [2, 16, 8, 8], [33, 16, 3, 3], { padding: 1 }],
  ["strided", [1, 3, 11, 10], [5, 3, 3, 2], { stride: 2, padding: 1 }],
  ["dilated", [1, 20, 9, 9], [4, 20, 2, 2], { dilation: 2 }],
  ["grouped", [2, 8, 6, 6], [12, 4, 3, 3], { groups: 2 }],
  ["depthwise", [2, 6, 7, 7], [6, 1, 3, 3], { groups: 6, padding: 1 }],
  ["of one place", [2, 17, 5, 4], [9, 17, 1, 1], {}],
];
for (const [name, xs, ws, options] of windows)
  gpuTest(`a ${name} convolution and its gradients are right`, async () => {
    const device = await open();
    const [a, w] = [x("a", xs), x("w", ws)];
    const y = convolution(a, w, options);
    const [da, dw] = grad(y.mul(y).sum(), [a, w]) as [Tensor, Tensor];
    await agrees(device, name, programOf([a, w], y.maximum(0), da, dw));
    device.destroy();
  });

test.run();
