/** The runtime on the CPU with hand-written artifacts. */
import { inspect } from "node:util";
import { createCpuDevice, initialStates, load, restore } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { accumulation, addition, chain } from "./artifacts.ts";

const f32 = (...x: number[]) => Float32Array.from(x);

test("a symbolic dim takes its value from the inputs of each run", async () => {
  const add = await load(addition("js"), createCpuDevice(), { states: [] });
  for (const n of [3, 1, 5]) {
    const x = Float32Array.from({ length: n }, (_, i) => i);
    const [sum] = await add.run([x, x]);
    assert.equal(sum!.shape, [n]);
    assert.equal(
      await sum!.data(),
      x.map((v) => 2 * v),
    );
  }
});

test("slots, states and copies meet in one run", async () => {
  const device = createCpuDevice();
  const w = device.upload([1, 2, 3, 4, 5, 6], "f32", [3, 2]);
  const program = await load(chain("js"), device, { states: [w] });
  const x = device.upload([1, 0, 0, 0, 1, 1], "f32", [2, 3]);
  const [y] = await program.run([x]);
  assert.equal(await y!.data(), f32(1, 2, 8, 10));
});

test("an extent of zero gives an empty array", async () => {
  const device = createCpuDevice();
  const program = await load(chain("js"), device, {
    states: [device.upload([1, 2, 3, 4, 5, 6], "f32", [3, 2])],
  });
  const [y] = await program.run([device.upload([], "f32", [0, 3])]);
  assert.equal(y!.shape, [0, 2]);
  assert.equal(await y!.data(), f32());
});

test("states are updated in place and survive a snapshot", async () => {
  const device = createCpuDevice();
  const artifact = accumulation("js");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  await program.run([f32(1, 1, 1, 1)]);
  const [after] = await program.run([f32(1, 1, 1, 1)]);
  assert.equal(await after!.data(), f32(3, 4, 5, 6));
  assert.equal(await program.states[0]!.data(), f32(3, 4, 5, 6));
  const snapshot = await program.snapshot();
  device.destroy();
  const next = createCpuDevice();
  const again = await load(artifact, next, { states: await restore(snapshot, next) });
  const [later] = await again.run([f32(1, 1, 1, 1)]);
  assert.equal(await later!.data(), f32(4, 5, 6, 7));
});

test("a state passed as an input is read as it was before the run", async () => {
  const device = createCpuDevice();
  const artifact = accumulation("js");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const [after] = await program.run([program.states[0]!]);
  assert.equal(await after!.data(), f32(2, 4, 6, 8));
});

test("kernels may come from a module instead of text", async () => {
  const { kernels, ...rest } = addition("js");
  const textless = { ...rest, kernels: kernels.map((k) => ({ ...k, text: "" })) };
  const add = (x: Float32Array, y: Float32Array, out: Float32Array, n: number) => {
    for (let i = 0; i < n; i++) out[i] = x[i]! + y[i]!;
  };
  const program = await load(textless, createCpuDevice(), { states: [], kernels: { add } });
  const [sum] = await program.run([f32(1, 2), f32(3, 4)]);
  assert.equal(await sum!.data(), f32(4, 6));
});

test("a host array is read through its own offset", async () => {
  const program = await load(addition("js"), createCpuDevice(), { states: [] });
  const part = f32(9, 1, 2).subarray(1);
  const [sum] = await program.run([part, { data: part, shape: [2] }]);
  assert.equal(await sum!.data(), f32(2, 4));
});

test("a profile has one row a launch, and runs the program", async () => {
  const device = createCpuDevice();
  const artifact = accumulation("js");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const [row, ...rest] = await program.profile([f32(1, 1, 1, 1)]);
  assert.equal(rest, []);
  assert.ok(row!.ms >= 0);
  assert.equal(
    { ...row, ms: 0 },
    { name: "accumulate", ms: 0, bytes: 48, flops: 4, timing: "clock" },
  );
  assert.equal(await program.states[0]!.data(), f32(2, 3, 4, 5));
});

test("write replaces the elements", async () => {
  const device = createCpuDevice();
  const x = device.upload([1, 2], "bool", [2]);
  assert.equal(await x.data(), Uint8Array.of(1, 1));
  x.write([0, 1]);
  assert.equal(await x.data(), Uint8Array.of(0, 1));
});

test("a poisoning device shows memory that nothing wrote", async () => {
  const device = createCpuDevice({ poison: true });
  const { plan, ...rest } = addition("js");
  const idle = await load({ ...rest, plan: { ...plan, steps: [] } }, device, { states: [] });
  const [sum] = await idle.run([f32(1), f32(2)]);
  assert.ok(Number.isNaN(await sum!.item()));
});

test("item decodes every dtype", async () => {
  const device = createCpuDevice();
  for (const dtype of ["f64", "f32", "f16", "bf16", "i32", "i8"] as const)
    assert.is(await device.upload([-2.0], dtype, []).item(), -2, dtype);
  for (const x of [0, 2 ** -24, 2 ** -14, 1 / 3, 65504, -65519, Infinity]) {
    const half = await device.upload([x], "f16", []).item();
    const error = Math.abs(half - Math.max(-65504, Math.min(x, Infinity)));
    assert.ok(half === x || error <= Math.max(2 ** -25, Math.abs(x) * 2 ** -11), `${x} → ${half}`);
  }
  assert.is(await device.upload([65520], "f16", []).item(), Infinity);
  assert.is(await device.upload([1 + 2 ** -8], "bf16", []).item(), 1); // a tie, to even
  assert.ok(Number.isNaN(await device.upload([NaN], "bf16", []).item()));
});

test("an array prints its dtype, its shape and, when small, its values", () => {
  const device = createCpuDevice();
  assert.is(inspect(device.upload([1, 2, 3, 4], "f32", [2, 2])), "f32[2,2] [[1,2],[3,4]]");
  assert.is(inspect(device.upload([0, 1], "bool", [2])), "bool[2] [false,true]");
  assert.is(inspect(device.upload(new Float32Array(100), "f32", [100])), "f32[100] on cpu");
  const x = device.upload([0.5], "f16", []);
  assert.is(inspect(x), "f16[] 0.5");
  x.dispose();
  assert.is(inspect(x), "f16[] (freed)");
});

test.run();
