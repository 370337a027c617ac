/**
 * One tensor has one value, whatever is fused, on every target: in random programs over narrow and wide dtypes every
 * intermediate is an output too, and what its readers saw is what it is.
 */
import type { Dtype } from "@kiln-ml/ir";
import { createCpuDevice, type Device, openWebGpu } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import { randomProgram } from "../support/graphs.ts";
import { hasOneValue } from "../support/one-value.ts";
import { runs } from "../support/setup.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

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

gpuTest("webgpu: a tensor is what its readers see", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  await check(device, 40);
  device.destroy();
});

test.run();
