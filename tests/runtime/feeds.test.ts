/**
 * A run takes host arrays as they are at the call, on every target: while it waits for its turn, and while its loops
 * pause, the caller may write into them.
 */
import { input, scan, type Tensor } from "@kiln-ml/ir";
import { createCpuDevice, type Device, load, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

const x = input("x", "f32", [4]);
const n = input("n", "f32", [1]);

/** v = v / 2 + x, `trips` times from 0: 2·x, if x stays what it was. */
function program(trips: number) {
  const { carry } = scan([x.mul(0) as Tensor], [], ([v], _x, i) => ({
    carry: [v!.mul(0.5).add(x).add(i.convert("f32").mul(n).mul(0))],
    ys: [],
  }), { length: trips }); // biome-ignore format: one scan
  return { inputs: [x, n], outputs: [{ name: "y", value: carry[0]! }], updates: [] };
}

async function check(device: Device, trips: number): Promise<void> {
  const { artifact } = compileProgram(program(trips), { target: device.target });
  const exe = await load(artifact, device, { states: [] });
  const [buffer, one] = [new Float32Array(4), Float32Array.of(1)];
  const calls = [1, 2, 3].map((value) => {
    buffer.fill(value);
    return exe.run([buffer, one]);
  });
  buffer.fill(100);
  one.fill(Number.NaN);
  const results = await Promise.all(calls);
  const values = await Promise.all(results.map(async ([y]) => [...(await y!.data())]));
  assert.equal(
    values,
    [1, 2, 3].map((v) => Array(4).fill(2 * v)),
  );
}

test("a run on js takes its inputs at the call", async () => {
  const device = createCpuDevice();
  // Long enough for its loop to pause.
  await check(device, 300_000);
  device.destroy();
});

for (const variant of variants)
  test(`a run on wasm takes its inputs at the call (${nameOfVariant(variant)})`, async () => {
    await check(wasmDevice(variant), 100_000);
  });

gpuTest("a run on webgpu takes its inputs at the call", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  await check(device, 40);
  device.destroy();
});

test.run();
