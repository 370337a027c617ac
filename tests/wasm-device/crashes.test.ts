/** What goes wrong on a wasm device ends in an error that says so, never in a hang. */
import { spawnSync } from "node:child_process";
import { type Artifact, ArtifactError, DeviceError } from "@kiln-ml/artifact";
import { createWasmDevice, type Device, load } from "@kiln-ml/runtime";
import { buildSync } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { WasmDriver } from "../../runtime/src/devices/wasm.ts";
import { withSharedMemory } from "../../runtime/src/devices/wasm-module.ts";
import { accumulation, assemble, elementwise, modules, wasmKernel } from "./artifacts.ts";

const ramp = (n: number) => Float32Array.from({ length: n }, (_, i) => i);

async function messageOf(promise: Promise<unknown>, Class = DeviceError): Promise<string> {
  try {
    await promise;
  } catch (error) {
    assert.instance(error, Class);
    return (error as Error).message.split("\n")[0]!;
  }
  throw new Error("nothing was thrown");
}

const open = (device: Device, kernel: string) =>
  load(elementwise(wasmKernel(kernel)), device, { states: [] });

for (const threads of [1, 2]) {
  const on = `on ${threads} thread${threads > 1 ? "s" : ""}`;

  // The first element says which unit traps: on two threads, one of the caller's and one of the worker's.
  for (const unit of [0, 9])
    test(`${on}, a trap in unit ${unit} of 10 names the kernel, and the device is lost`, async () => {
      const device = createWasmDevice({ threads });
      const trap = await open(device, "trap");
      const x = device.upload([unit, ...ramp(9)], "f32", [10]);
      const why = "the device is lost: kernel trap trapped: unreachable";
      assert.is(await messageOf(trap.run([x])), `run: ${why}`);
      assert.equal(await device.lost, {
        reason: "unknown",
        message: "kernel trap trapped: unreachable",
      });
      assert.is(await messageOf(trap.run([ramp(10)])), `run: ${why}`);
      assert.is(await messageOf(x.data()), `data: ${why}`);
      assert.is(await messageOf(open(device, "add")), `load: ${why}`);
      x.dispose();
      device.destroy();
    });

  test(`${on}, nothing works after destroy`, async () => {
    const device = createWasmDevice({ threads });
    const add = await open(device, "add");
    device.destroy();
    assert.is(await messageOf(add.run([ramp(3), ramp(3)])), "run: the device was destroyed");
    assert.is((await device.lost).reason, "destroyed");
  });

  test(`${on}, destroy while a program loads is an error`, async () => {
    const device = createWasmDevice({ threads });
    const loading = messageOf(open(device, "add"));
    device.destroy();
    assert.is(await loading, "load: the device was destroyed");
  });
}

/** The workers of a device, to be killed. */
const poolOf = (device: Device) => (device.driver as WasmDriver).pool!;

/** A run that the calling thread cannot finish alone: the worker of a new device turns round `turns` times. */
async function stuckRun(device: Device, turns = 2e9) {
  const stuck = await load(elementwise(wasmKernel("stuck", 64)), device, { states: [] });
  const { from } = (device.driver as WasmDriver).stacks(64, 2);
  const running = stuck.run([Float32Array.of(from, turns)]);
  running.catch(() => {});
  // The run may have to wait for a fresh task before it begins.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  return { stuck, running };
}

test("a worker that is killed at work is an error, and the device is lost", async () => {
  const device = createWasmDevice({ threads: 2 });
  const { running } = await stuckRun(device);
  poolOf(device).threads[0]!.end();
  assert.is(
    await messageOf(running),
    "run: the device is lost: a worker ended: it exited with code 1",
  );
  assert.is((await device.lost).reason, "unknown");
});

test("a worker that is killed while idle is an error of the calls after", async () => {
  const device = createWasmDevice({ threads: 2 });
  const add = await open(device, "add");
  await add.run([ramp(4), ramp(4)]);
  poolOf(device).threads[0]!.end();
  await device.lost;
  assert.is(
    await messageOf(add.run([ramp(4), ramp(4)])),
    "run: the device is lost: a worker ended: it exited with code 1",
  );
});

test("destroy while workers are at work ends the run", async () => {
  const device = createWasmDevice({ threads: 2 });
  const { running } = await stuckRun(device);
  setTimeout(() => device.destroy(), 10);
  assert.is(await messageOf(running), "run: the device was destroyed");
});

test("while workers are at work, writes and reads keep their place", async () => {
  const device = createWasmDevice({ threads: 2 });
  const add = await open(device, "add");
  const x = device.upload([1, 2, 3], "f32", [3]);
  const { running } = await stuckRun(device, 3e8);
  const before = add.run([x, x]);
  x.write([4, 5, 6]);
  const after = add.run([x, x]);
  const read = x.data();
  const late = device.upload([7, 8, 9], "f32", [3]).data();
  await running;
  assert.equal(await (await before)[0]!.data(), Float32Array.of(2, 4, 6));
  assert.equal(await (await after)[0]!.data(), Float32Array.of(8, 10, 12));
  assert.equal(await read, Float32Array.of(4, 5, 6));
  assert.equal(await late, Float32Array.of(7, 8, 9));
  device.destroy();
});

test("runs called before dispose still come, and none after", async () => {
  const device = createWasmDevice({ threads: 2 });
  const add = await open(device, "add");
  const { stuck, running: first } = await stuckRun(device, 3e8);
  const second = add.run([ramp(1), ramp(1)]);
  const sum = add.run([ramp(3), ramp(3)]);
  stuck.dispose();
  add.dispose();
  await Promise.all([first, second]);
  assert.equal(await (await sum)[0]!.data(), Float32Array.of(0, 2, 4));
  const message = await messageOf(add.run([ramp(3), ramp(3)]));
  assert.is(message, "run: the executable was disposed of");
  const again = await open(device, "add");
  assert.equal(await (await again.run([ramp(3), ramp(3)]))[0]!.data(), Float32Array.of(0, 2, 4));
  device.destroy();
});

test("a process with idle workers ends by itself", () => {
  const { outputFiles } = buildSync({
    stdin: {
      contents: `
import { createWasmDevice, load } from "@kiln-ml/runtime";
import { elementwise, wasmKernel } from "./tests/wasm-device/artifacts.ts";
const device = createWasmDevice({ threads: 3 });
const add = await load(elementwise(wasmKernel("add")), device, { states: [] });
const [sum] = await add.run([new Float32Array(9).fill(1), new Float32Array(9).fill(2)]);
console.log(...(await sum.data()));`,
      resolveDir: process.cwd(),
      loader: "ts",
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    external: ["wabt"],
    conditions: ["@kiln-ml/source"],
  });
  const args = ["--input-type=module", "--eval", outputFiles[0]!.text];
  // Long enough for a machine that is busy; one that is kept alive never ends.
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { timeout: 90_000 });
  assert.is(`${stderr}`, "");
  assert.is(`${stdout}`, "3 3 3 3 3 3 3 3 3\n");
  assert.is(status, 0);
});

test("options that make no sense are refused", () => {
  for (const threads of [0, 1.5])
    assert.throws(
      () => createWasmDevice({ threads }),
      (e: Error) =>
        e.message === `createWasmDevice: threads must be 1 or more, or "auto", got ${threads}`,
    );
});

test("artifacts whose module does not fit are refused", async () => {
  const device = createWasmDevice({ threads: 1 });
  const add = elementwise(wasmKernel("add"));
  const { modules: _, ...bare } = add;
  const refuse = (artifact: Artifact, message: string) =>
    messageOf(load(artifact, device, { states: [] }), ArtifactError).then((m) =>
      assert.is(m, message),
    );
  const { phases: __, ...phaseless } = wasmKernel("add");
  await refuse(bare, "load: a wasm artifact needs modules, this one has none");
  await refuse(
    { ...add, kernels: [phaseless] },
    "load: kernel add has no phases, a wasm kernel needs one",
  );
  await refuse(
    { ...add, modules: accumulation().modules! },
    "load: kernel add names add, which the module lacks",
  );
  const broken = modules.plain.slice(0, 40);
  assert.match(
    await messageOf(
      load({ ...add, modules: { plain: broken, relaxed: broken } }, device, { states: [] }),
      ArtifactError,
    ),
    /^load: the module does not compile: /,
  );
});

test("a module whose memory cannot be shared is refused", () => {
  const shared = withSharedMemory(modules.plain);
  assert.is(shared.length, modules.plain.length);
  assert.ok(WebAssembly.validate(shared as Uint8Array<ArrayBuffer>));
  const texts = [
    "(module)",
    `(module (import "env" "memory" (memory 1)))`,
    `(module (import "Math" "sin" (func)) (import "env" "memory" (memory 1 2)))`,
  ];
  for (const text of texts)
    assert.throws(
      () => withSharedMemory(assemble(text)),
      (e: Error) =>
        e.message ===
        "load: the module's first import must be memory env.memory with a maximum\n  compile it again",
    );
});

test.run();
