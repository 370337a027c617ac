/**
 * Axes of no elements, known and symbolic: loops that never run are printed, and what stands in them
 * must still be a text that a device accepts. Every target gives what the reference gives.
 */

import { concat, type Dim, type Dtype, dim, input, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, parseProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { wasmDevice } from "../support/wasm.ts";
import { nullDevice } from "../support/webgpu.ts";

const builds: Readonly<Record<string, (x: Tensor) => Tensor[]>> = {
  "elementwise ops": (x) => [x.add(1).mul(x), x.neg()],
  sums: (x) => [x.sum(), x.sum(0), x.sum(-1, { keepDims: true }).add(x)],
  "running sums": (x) => [x.cumsum(0), x.cumsum(-1).add(x)],
  "running sums from the end": (x) => [
    x.cumsum(0, { reverse: true }),
    x.cummax(-1, { reverse: true }).maximum(x),
    x.cumsum(-1, { reverse: true, exclusive: true }),
  ],
  movement: (x) => [x.reverse([0]), concat([x, x], 0), x.transpose(), x.reshape([-1])],
  "sorted values": (x) => [x.sort(-1)],
  "quotients from the end": (x) => [x.div(x.add(1)).reverse([-1]).neg()],
  rows: (x) => [x.sub(x.sum(-1, { keepDims: true }))],
};

function programOf(dtype: Dtype, shape: readonly Dim[], name: string): Program {
  const x = input("x", dtype, shape);
  const outputs = builds[name]!(x).map((value, i) => ({ name: `y${i}`, value }));
  return { inputs: [x], outputs, updates: [] };
}

const shapes = [[0], [0, 3], [3, 0], [2, 0, 4], [2, 2, 0, 2]];
const N = dim("N", { min: 0 });
const dtypes = ["f32", "f16", "bf16", "i32"] as const;
const all = dtypes.flatMap((dtype) =>
  shapes.flatMap((shape) => [
    { dtype, shape, extents: shape },
    { dtype, shape, extents: shape.map((n) => (n === 0 ? N : n)) },
  ]),
);

for (const name of Object.keys(builds)) {
  test(`webgpu: ${name} over no elements are valid`, async () => {
    const device = await nullDevice();
    for (const { dtype, extents } of all) {
      const program = programOf(dtype, extents, name);
      for (const k of compileProgram(program, { target: "webgpu" }).artifact.kernels)
        assert.equal(await problemsOf(device, k), [], `${printProgram(program)}\n${k.text}`);
    }
    device.destroy();
  });

  for (const target of ["js", "wasm"] as const)
    test(`${target}: ${name} over no elements are the reference's`, async () => {
      const device =
        target === "js" ? guardedCpuDevice() : wasmDevice({ threads: 2, relaxed: false });
      for (const { dtype, shape, extents } of all) {
        const program = programOf(dtype, extents, name);
        const dims = extents === shape ? {} : { N: 0 };
        const feeds = new Map(
          program.inputs.map((x) => [x, { dtype, shape, data: new Float64Array() }]),
        );
        const want = evaluateProgram(program, feeds, dims);
        for (const fusion of [true, false]) {
          const { values } = await runProgram(program, feeds, dims, device, { target, fusion });
          for (const [i, v] of values.entries())
            assert.ok(sameValue(v, want[i]!), `${i}\n${printProgram(program)}`);
        }
      }
    });
}

// A softmax over no rows, of which what is sorted and scattered is made, which the last quotient reads nothing of.
const waiting = `
graph f(%a: f32[1,0,2], %b: f32[1,2]) {
  %1: f32[1,0] = reduceMax %a {axes=[2]}
  %2: f32[1,0,2] = broadcastInDim %1 {dims=[0, 1]}
  %3: f32[1,0,2] = sub %a %2
  %4: f32[1,0,2] = exp %3
  %5: f32[1,0] = reduceSum %4 {axes=[2]}
  %6: f32[1,0,2] = broadcastInDim %5 {dims=[0, 1]}
  %7: f32[1,0,2] = div %4 %6
  %8: f32[] = constant {value=0}
  %9: f32[3,1,2] = pad %7 %8 {low=[1, 1, 0], high=[1, 0, 0], interior=[0, 0, 0]}
  %10: f32[3,1,2] = broadcastInDim %b {dims=[1, 2]}
  %11: f32[3,2,2] = concat %9 %10 {axis=1}
  %12: i32[3,2,2] = iota {axis=0}
  %13: i32[3,2,2] = argSort %11 {axis=1, count=2, descending=true}
  %14: i32[3,2,2] = iota {axis=2}
  %15: f32[3,2,2] = gather %11 %12 %13 %14 {axes=[0, 1, 2]}
  %16: f32[3,2,2] = broadcastInDim %8 {dims=[]}
  %17: f32[3,2,2] = scatter %16 %15 %12 %13 %14 {axes=[0, 1, 2], mode="add"}
  %18: f32[3,1,2] = slice %17 {start=[0, 0, 0], limit=[3, 1, 2], stride=[1, 1, 1]}
  %19: f32[1,0,2] = pad %18 %8 {low=[-1, -1, 0], high=[-1, 0, 0], interior=[0, 0, 0]}
  %20: f32[1,0,2] = div %19 %6
  return %15, %20
}
`;

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: kernels of which nothing is read come in an order too`, () => {
    compileProgram(parseProgram(waiting), { target });
  });

test.run();
