/**
 * Sums that run along with a product's operand: of the operand, of copies of it along a new axis, of
 * its diagonal, turned and reversed. Every target and both fusions give the reference's values,
 * bit for bit on js.
 */
import { input, makeValue, type Tensor } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
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

/** Small integers: sums in any order are the same. */
const numbers = (n: number, from: number): number[] =>
  Array.from({ length: n * n }, (_, i) => ((i * 7 + from) % 11) - 5);

async function agrees(device: Device, extents: readonly number[]): Promise<void> {
  for (const name of Object.keys(sums))
    for (const n of extents)
      for (const right of [false, true])
        for (const fusion of [true, false]) {
          const program = programOf(name, n, right);
          const feeds = new Map(
            program.inputs.map((t, i) => [t, makeValue("f32", [n, n], numbers(n, i))]),
          );
          const want = evaluateProgram(program, feeds);
          const options = { target: device.target, fusion };
          const { values } = await runProgram(program, feeds, {}, device, options);
          for (const [i, v] of values.entries())
            assert.ok(sameValue(v, want[i]!), `${name}, ${n}, fusion ${fusion}: ${v.data}`);
        }
}

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
