/** The wasm device with hand-written artifacts: the same results on any number of threads. */
import { createWasmDevice, initialStates, load, restore } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { accumulation, elementwise, wasmKernel } from "./artifacts.ts";

const f32 = (...x: number[]) => Float32Array.from(x);
const ramp = (n: number) => Float32Array.from({ length: n }, (_, i) => i);

for (const threads of [1, 2, 3]) {
  const on = `on ${threads} thread${threads > 1 ? "s" : ""}`;
  const device = createWasmDevice({ threads, poison: true });
  const open = (kernel: string, stack = 0) =>
    load(elementwise(wasmKernel(kernel, stack)), device, { states: [] });

  test(`${on}, a symbolic dim takes its value from the inputs of each run`, async () => {
    const add = await open("add");
    for (const n of [3, 1, 0, 1000]) {
      const [sum] = await add.run([ramp(n), ramp(n)]);
      assert.equal(
        await sum!.data(),
        ramp(n).map((v) => 2 * v),
      );
    }
  });

  test(`${on}, a phase sees all of the phase before`, async () => {
    const reverse = await open("increment reverse");
    for (let run = 0; run < 50; run++) {
      const [out] = await reverse.run([ramp(999)]);
      assert.equal(
        await out!.data(),
        ramp(999).map((i) => 999 - i),
      );
      out!.dispose();
    }
  });

  test(`${on}, private memory is each thread's own`, async () => {
    const remember = await open("remember", 100_000);
    const [out] = await remember.run([ramp(50_000)]);
    assert.equal(await out!.data(), ramp(50_000));
  });

  test(`${on}, kernels call the host's Math`, async () => {
    const sine = await open("sine");
    const [out] = await sine.run([ramp(100)]);
    assert.equal(await out!.data(), ramp(100).map(Math.sin));
  });

  test(`${on}, states are updated in place and survive a snapshot`, async () => {
    const artifact = accumulation();
    const program = await load(artifact, device, { states: initialStates(artifact, device) });
    await program.run([f32(1, 1, 1, 1)]);
    const [after] = await program.run([f32(1, 1, 1, 1)]);
    assert.equal(await after!.data(), f32(3, 4, 5, 6));
    const next = createWasmDevice({ threads: 1 });
    const states = await restore(await program.snapshot(), next);
    const [later] = await (await load(artifact, next, { states })).run([f32(1, 1, 1, 1)]);
    assert.equal(await later!.data(), f32(4, 5, 6, 7));
    const [mixed] = await program.run([program.states[0]!]);
    assert.equal(await mixed!.data(), f32(6, 8, 10, 12));
  });

  test(`${on}, a profile has one row a launch, and runs the program`, async () => {
    const artifact = accumulation(1e6, 2);
    const program = await load(artifact, device, { states: initialStates(artifact, device) });
    const rows = await program.profile([f32(1, 1, 1, 1)]);
    const row = { name: "accumulate", ms: 0, bytes: 48, flops: 1e6, timing: "clock" };
    assert.ok(rows.every(({ ms }) => ms > 0));
    assert.equal(
      rows.map((r) => ({ ...r, ms: 0 })),
      [row, row],
    );
    assert.equal(await program.states[0]!.data(), f32(3, 4, 5, 6));
  });

  test(`${on}, a thousand launches follow one another`, async () => {
    for (const flops of [10, 1e6]) {
      const artifact = accumulation(flops, 1000);
      const program = await load(artifact, device, { states: initialStates(artifact, device) });
      const [after] = await program.run([f32(1, 2, 3, 4)]);
      assert.equal(await after!.data(), f32(1001, 2002, 3003, 4004));
    }
  });

  test(`${on}, programs loaded and run at once do not disturb each other`, async () => {
    const sums = Array.from({ length: 6 }, async (_, i) => {
      const add = await open("add");
      const [sum] = await add.run([ramp(100), f32(...ramp(100)).fill(i)]);
      add.dispose();
      return sum!.data();
    });
    assert.equal(
      await Promise.all(sums),
      sums.map((_, i) => ramp(100).map((x) => x + i)),
    );
  });

  test(`${on}, the memory is poisoned before each use`, async () => {
    const array = device.allocate("f32", [2], "test", "test");
    assert.ok((await array.data()).every(Number.isNaN));
    device.destroy();
  });
}

test.run();
