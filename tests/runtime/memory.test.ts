/** Memory stays flat: the pool, forgotten arrays, and the report. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createCpuDevice, type Device, load, openWebGpu } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Pressure } from "../../runtime/src/devices/pressure.ts";
import { type Buffer, Heap, sizeClass } from "../../runtime/src/heap.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { addition, chain } from "./artifacts.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const nextTask = () => new Promise((resolve) => setTimeout(resolve, 5));

async function bytesHeld(device: Device): Promise<number> {
  for (let i = 0; i < 4; i++) {
    collect();
    await nextTask();
  }
  const { live, pooled } = device.memory();
  return live + pooled;
}

const loadChain = (device: Device) =>
  load(chain(device.target), device, {
    states: [device.upload([1, 2, 3, 4, 5, 6], "f32", [3, 2])],
  });

test("10,000 runs with outputs disposed of hold the bytes of the first two", async () => {
  const device = createCpuDevice();
  const program = await loadChain(device);
  const x = device.upload(new Float32Array(12), "f32", [4, 3]);
  const once = async () => (await program.run([x]))[0]!.dispose();
  await once();
  await once();
  const before = device.memory();
  for (let i = 0; i < 10_000; i++) await once();
  assert.equal(device.memory(), before);
});

test("forgotten outputs are freed in a loop that only awaits runs", async () => {
  const device = createCpuDevice();
  const add = await load(addition("js"), device, { states: [] });
  const x = device.upload(new Float32Array(200_000), "f32", [200_000]);
  let most = 0;
  for (let i = 0; i < 1000; i++) {
    await add.run([x, x]);
    most = Math.max(most, device.memory().live);
  }
  // 800 MB of outputs were made; when they are collected is the engine's choice, and it takes its time on a busy machine.
  assert.ok(most < 400e6, `${most} bytes were live`);
});

test("pressure gets small objects that stand for much memory collected", async () => {
  const mega = 2 ** 20;
  let live = 0;
  let most = 0;
  const registry = new FinalizationRegistry<number>((bytes) => {
    live -= bytes;
  });
  const pressure = new Pressure(256 * mega);
  for (let i = 0; i < 400; i++) {
    await pressure.relieve(() => live);
    registry.register({ i }, 16 * mega);
    live += 16 * mega;
    most = Math.max(most, live);
  }
  // 6.25 GB were claimed.
  assert.ok(most < 2048 * mega, `${most / mega} MB were live`);
});

test("pressure that frees nothing becomes rare", async () => {
  const pressure = new Pressure(1000);
  let pauses = 0;
  for (let live = 0; live < 100_000; live += 100) {
    const pause = pressure.relieve(() => live);
    if (pause) pauses += 1;
    await pause;
  }
  assert.is(pauses, 7);
});

test("a forgotten array is freed once it is collected", async () => {
  const device = createCpuDevice();
  await device.upload(new Float32Array(1000), "f32", [1000]).data();
  assert.is(device.memory().live, sizeClass(4000));
  await bytesHeld(device);
  assert.is(device.memory().live, 0);
});

test("the report names owners and the peak", async () => {
  const device = createCpuDevice();
  const program = await loadChain(device);
  const [y] = await program.run([new Float32Array(12)]);
  const { live, pooled, peak, byOwner } = device.memory();
  assert.equal(byOwner, { arrays: 32 + 32 }); // w and y
  assert.is(live, 64);
  assert.is(pooled, 32); // the slot
  assert.is(peak, 96);
  y!.dispose();
  assert.is(device.memory().live, 32);
});

gpuTest("webgpu: 300 runs of changing sizes stay within the peak of live bytes", async () => {
  const gpu = await heldGpu("backend=vulkan");
  const device = await openWebGpu({ gpu, allowSoftware: true });
  const add = await load(addition("webgpu"), device, { states: [] });
  for (let i = 0; i < 300; i++) {
    const x = new Float32Array(1 + ((i * 37) % 100));
    const [sum] = await add.run([x, x]);
    if (i % 50 === 0) await sum!.data();
    sum!.dispose();
  }
  const { live, pooled, peak } = device.memory();
  assert.is(live, 0);
  assert.ok(pooled <= peak);
  device.destroy();
});

test("a heap whose device is full gives up what waits for reuse, and tries again", () => {
  let room = 1000;
  let id = 0;
  const create = (sizeBytes: number) => {
    if (sizeBytes > room) throw new RangeError("full");
    room -= sizeBytes;
    return { id: id++, sizeBytes };
  };
  const heap = new Heap<Buffer>(
    create,
    (b) => {
      room += b.sizeBytes;
    },
    2 ** 30,
  );
  heap.release(heap.acquire(640, "test"));
  assert.is(heap.report().pooled, 640);
  assert.is(heap.acquire(768, "test").sizeBytes, 768);
  assert.throws(() => heap.acquire(640, "test"), "full");
});

test("a size class holds its size and wastes at most a quarter", () =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 40 }), (bytes) => {
      const size = sizeClass(bytes);
      assert.ok(size >= bytes && size % 16 === 0);
      assert.is(sizeClass(size), size);
      if (bytes > 64) assert.ok(size <= bytes * 1.25);
    }),
  ));

test("a heap never hands out a live buffer, and holds at most twice its peak", () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -20, max: 5000 }), { maxLength: 200 }), (script) => {
      let id = 0;
      const existing = new Set<Buffer>();
      const create = (sizeBytes: number) => {
        const buffer = { id: id++, sizeBytes };
        existing.add(buffer);
        return buffer;
      };
      const heap = new Heap<Buffer>(create, (b) => existing.delete(b), 2 ** 30);
      const live: Buffer[] = [];
      for (const x of script) {
        if (x < 0 && live.length > 0) heap.release(live.splice(-x % live.length, 1)[0]!);
        if (x < 0) continue;
        const buffer = heap.acquire(x, "test");
        assert.ok(existing.has(buffer) && !live.includes(buffer) && buffer.sizeBytes >= x);
        live.push(buffer);
      }
      const report = heap.report();
      const total = [...existing].reduce((n, b) => n + b.sizeBytes, 0);
      assert.is(report.live + report.pooled, total);
      assert.is(
        report.live,
        live.reduce((n, b) => n + b.sizeBytes, 0),
      );
      assert.ok(report.pooled <= report.peak);
    }),
  ));

test.run();
