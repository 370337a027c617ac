/** The runtime on WebGPU: numbers and profiles on the software adapter, refusals without any. */
import { type Device, initialStates, load, openWebGpu, restore } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { accumulation, addition, chain } from "./artifacts.ts";

const f32 = (...x: number[]) => Float32Array.from(x);

/** Registers a test on a device of the runtime's own, opened over the software adapter. */
function onGpu(name: string, body: (device: Device) => Promise<void>): void {
  gpuTest(name, async () => {
    const gpu = await heldGpu("backend=vulkan");
    const device = await openWebGpu({ gpu, allowSoftware: true });
    try {
      await body(device);
    } finally {
      device.destroy();
    }
  });
}

gpuTest("webgpu: without a GPU object, Node loads npm webgpu and asks for everything", async () => {
  const device = await openWebGpu({ allowSoftware: true });
  const adapter = await (await heldGpu("backend=vulkan")).requestAdapter();
  assert.is(device.kind, "webgpu");
  assert.match(device.name, /swiftshader/i);
  assert.is(device.limits.maxBufferSize, adapter!.limits.maxBufferSize);
  for (const feature of ["timestamp-query", "subgroups", "shader-f16"])
    assert.is(device.features.has(feature), adapter!.features.has(feature), feature);
  assert.equal(await device.upload([1, 2], "f32", [2]).data(), f32(1, 2));
  device.destroy();
});

onGpu("webgpu: a symbolic dim takes its value from the inputs of each run", async (device) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  for (const n of [3, 1, 200, 3]) {
    const x = Float32Array.from({ length: n }, (_, i) => i);
    const [sum] = await add.run([x, device.upload(x, "f32", [n])]);
    assert.equal(sum!.shape, [n]);
    assert.equal(
      await sum!.data(),
      x.map((v) => 2 * v),
    );
  }
});

onGpu("webgpu: slots, states and copies meet in one run", async (device) => {
  const w = device.upload([1, 2, 3, 4, 5, 6], "f32", [3, 2]);
  const program = await load(chain("webgpu"), device, { states: [w] });
  const [y] = await program.run([f32(1, 0, 0, 0, 1, 1)]);
  assert.equal(await y!.data(), f32(1, 2, 8, 10));
  const [empty] = await program.run([f32()]);
  assert.equal(empty!.shape, [0, 2]);
  assert.equal(await empty!.data(), f32());
});

onGpu("webgpu: states survive a device through a snapshot", async (device) => {
  const artifact = accumulation("webgpu");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  await program.run([f32(1, 1, 1, 1)]);
  const snapshot = await program.snapshot();
  device.destroy();
  const info = await device.lost;
  assert.is(info.reason, "destroyed");
  await program.run([f32(1, 1, 1, 1)]).then(
    () => assert.unreachable(),
    (error: Error) =>
      assert.is(
        error.message,
        "run: the device was destroyed\n  open a device again, and load the artifact on it",
      ),
  );
  const next = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  const again = await load(artifact, next, { states: await restore(snapshot, next) });
  const [later] = await again.run([f32(1, 1, 1, 1)]);
  assert.equal(await later!.data(), f32(3, 4, 5, 6));
  next.destroy();
});

onGpu("webgpu: a state passed as an input is read as it was before the run", async (device) => {
  const artifact = accumulation("webgpu");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const [after] = await program.run([program.states[0]!]);
  assert.equal(await after!.data(), f32(2, 4, 6, 8));
});

onGpu("webgpu: an input may be disposed of once run has been called", async (device) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  const results = Array.from({ length: 20 }, (_, i) => {
    const x = device.upload([i, i], "f32", [2]);
    const result = add.run([x, x]);
    x.dispose();
    return result;
  });
  for (const [i, [sum]] of (await Promise.all(results)).entries())
    assert.equal(await sum!.data(), f32(2 * i, 2 * i));
});

onGpu("webgpu: narrow dtypes come back as they went", async (device) => {
  for (const [dtype, values] of [
    ["bool", [1, 0, 1]],
    ["i8", [-128, 127, -1]],
    ["u8", [0, 255, 7]],
    ["i32", [-(2 ** 31), 1, 2]],
    ["u32", [2 ** 32 - 1, 1, 2]],
  ] as const)
    assert.equal([...(await device.upload(values, dtype, [3]).data())], [...values], dtype);
  const halves = await device.upload([1, -2, 0.5], "f16", [3]).data();
  assert.equal(halves, Uint16Array.of(0x3c00, 0xc000, 0x3800));
});

onGpu("webgpu: a profile has one row a launch", async (device) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  const [row, ...rest] = await add.profile([f32(1, 2), f32(3, 4)]);
  assert.equal(rest, []);
  assert.is(row!.name, "add");
  assert.is(row!.bytes, 24);
  assert.is(row!.flops, 2);
  assert.ok(row!.ms >= 0);
  assert.is(row!.timing, device.features.has("timestamp-query") ? "timestamp" : "submit");
});

test.run();
