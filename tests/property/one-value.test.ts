/**
 * One tensor has one value, whatever is fused, on every target: in random programs over narrow and wide dtypes every
 * intermediate is an output too, and what its readers saw is what it is.
 */
import { convert, type Dtype, input, makeValue, roundTo, type Tensor } from "@kiln-ml/ir";
import { createCpuDevice, type Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { randomProgram } from "../support/graphs.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { hasOneValue } from "../support/one-value.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const dtypes: readonly Dtype[] = ["f16", "bf16", "u8", "i8", "bool", "i32", "f32"];

const check = (device: Device, count: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.record({ random: randomProgram({ dtypes }), fusion: fc.boolean() }),
      ({ random: { program, feeds }, fusion }) =>
        hasOneValue(program, feeds(), device, { target: device.target, fusion }),
    ),
    { numRuns: runs(count) },
  );

test("js: a tensor is what its readers see", () => check(createCpuDevice({ poison: true }), 100));

test("wasm: a tensor is what its readers see", () => check(wasmDevice(variants[0]!), 100));

/** Programs whose values do not fit their dtype before a workgroup has joined them, and who reads them. */
const narrow = (dtype: "u8" | "i8"): Program[] => {
  const [x, v] = [input("x", dtype, [37, 300]), input("v", dtype, [300])];
  const one = (value: Tensor): Program => ({
    inputs: [x, v],
    outputs: [{ name: "y", value }],
    updates: [],
  });
  const sums = [
    x.sum(1),
    x.sum(0).slice([0], [37]),
    x.transpose([1, 0]).cumsum(0).take(299),
    x.matmul(v),
    x.prod(1),
  ].map((t) => convert(t, dtype));
  return sums.flatMap((t) => [
    one(t.argSort(0)),
    one(t.maximum(3).gather([t.argSort(0)], [0])),
    one(t.greater(100)),
  ]);
};

const bytesOf = (dtype: "u8" | "i8"): number[] =>
  Array.from({ length: 37 * 300 }, (_, i) => roundTo(dtype, (i * 89 + (i >> 5) * 31) % 256));

for (const dtype of ["u8", "i8"] as const)
  gpuTest(`webgpu: ${dtype} is wrapped before it is stored, sorted and compared`, async () => {
    const gpu = await guardedGpuDevice();
    for (const p of narrow(dtype)) {
      const [x, v] = p.inputs as [Tensor, Tensor];
      const bytes = bytesOf(dtype);
      const feeds = new Map([
        [x, makeValue(dtype, [37, 300], bytes)],
        [v, makeValue(dtype, [300], bytes.slice(0, 300))],
      ]);
      const want = evaluateProgram(p, feeds);
      for (const fusion of [true, false]) {
        const { values } = await runProgram(p, feeds, {}, gpu, { target: "webgpu", fusion });
        assert.ok(sameValue(values[0]!, want[0]!), `got ${values[0]!.data}, want ${want[0]!.data}`);
      }
    }
    gpu.destroy();
  });

gpuTest("webgpu: a tensor is what its readers see", async () => {
  const device = await guardedGpuDevice();
  await check(device, 40);
  device.destroy();
});

test.run();
