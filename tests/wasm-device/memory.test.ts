/** The linear memory: ranges, growth under live arrays, and what is said when it is full. */
import { DeviceError } from "@kiln-ml/artifact";
import { createWasmDevice, load } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { LinearMemory } from "../../runtime/src/devices/linear-memory.ts";
import { runs } from "../support/setup.ts";
import { elementwise, wasmKernel } from "./artifacts.ts";

const ramp = (n: number) => Float32Array.from({ length: n }, (_, i) => i);
const page = 65536;

test("ranges are aligned, apart from each other and from the memory's ends, and join again", () =>
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -30, max: 90_000 }), { maxLength: 80 }), (script) => {
      const memory = new LinearMemory(false, 2 ** 27);
      const live: { address: number; size: number }[] = [];
      for (const x of script) {
        if (x < 0 && live.length > 0) {
          const { address, size } = live.splice(-x % live.length, 1)[0]!;
          memory.release(address, size);
        }
        if (x < 0) continue;
        const address = memory.reserve(x);
        assert.is(address % 64, 0);
        assert.ok(address >= 1024 && address + x + 64 <= memory.bytes.length);
        for (const other of live)
          assert.ok(address + x <= other.address || other.address + other.size <= address);
        live.push({ address, size: x });
      }
      const pages = memory.bytes.length / page;
      for (const { address, size } of live) memory.release(address, size);
      // All of it is one range again, so that the largest possible request needs no growth.
      assert.is(memory.reserve(pages * page - 1024 - 64), 1024);
      assert.is(memory.bytes.length, pages * page);
    }),
    { numRuns: runs(50) },
  ));

for (const threads of [1, 2]) {
  const on = `on ${threads} thread${threads > 1 ? "s" : ""}`;

  test(`${on}, arrays keep their values while the memory grows`, async () => {
    const device = createWasmDevice({ threads });
    const add = await load(elementwise(wasmKernel("add")), device, { states: [] });
    const kept = [];
    for (const n of [10, 20_000, 30, 300_000, 50]) {
      const [sum] = await add.run([ramp(n), ramp(n)]);
      kept.push(device.upload(ramp(n), "f32", [n]), sum!);
    }
    for (const [i, array] of kept.entries())
      assert.equal(
        await array.data(),
        ramp(array.shape[0]!).map((x) => x * (1 + (i % 2))),
      );
    const [again] = await add.run([kept[1]!, kept[1]!]);
    assert.equal(
      await again!.data(),
      ramp(10).map((x) => 4 * x),
    );
    device.destroy();
  });

  test(`${on}, a full memory names the tensor, what it asks and what is live`, async () => {
    const device = createWasmDevice({ threads, maxBytes: 4 * page });
    const add = await load(elementwise(wasmKernel("add")), device, { states: [] });
    const x = device.upload(ramp(10_000), "f32", [10_000]);
    const y = device.upload(ramp(10_000), "f32", [10_000]);
    const { live } = device.memory();
    const message = (tensor: string, bytes: number, held: number) =>
      `${tensor}: ${bytes} bytes are not to be had, ${held} are live: the memory ends at 262144 bytes\n  dispose of arrays that are done with, or make the batch smaller`;
    assert.throws(
      () => device.upload(ramp(50_000), "f32", [50_000]),
      (e: Error) => e instanceof DeviceError && e.message === message("upload", 200_000, live),
    );
    const sums = [];
    try {
      for (;;) sums.push((await add.run([x, y]))[0]!);
    } catch (error) {
      const { live: held } = device.memory();
      assert.instance(error, DeviceError);
      assert.is((error as Error).message, message("run: output out", 40_000, held));
    }
    for (const sum of sums) sum.dispose();
    const [sum] = await add.run([x, y]);
    assert.equal(
      await sum!.data(),
      ramp(10_000).map((v) => 2 * v),
    );
    device.destroy();
  });
}

test("10,000 runs with outputs disposed of hold the bytes of the first two", async () => {
  const device = createWasmDevice({ threads: 1 });
  const add = await load(elementwise(wasmKernel("add")), device, { states: [] });
  const x = device.upload(ramp(12), "f32", [12]);
  const once = async () => (await add.run([x, x]))[0]!.dispose();
  await once();
  await once();
  const before = device.memory();
  for (let i = 0; i < 10_000; i++) await once();
  assert.equal(device.memory(), before);
});

test("bytes of every dtype come back as they went in", async () => {
  const device = createWasmDevice({ threads: 1 });
  for (const dtype of ["f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"] as const) {
    const x = device.upload([1, 0, 1], dtype, [3]);
    assert.is(x.sizeBytes, 3 * (await x.data()).BYTES_PER_ELEMENT);
    assert.equal(await device.upload(await x.data(), dtype, [3]).data(), await x.data());
  }
  assert.equal(await device.upload([], "f32", [0]).data(), new Float32Array(0));
});

test("a memory that the engine cannot reserve in full ends earlier", () => {
  const { Memory } = WebAssembly;
  // An engine that reserves at once, and has 1 GiB.
  const Small = function (this: unknown, descriptor: WebAssembly.MemoryDescriptor) {
    if (descriptor.maximum! > 16384) throw new RangeError("could not allocate memory");
    return new Memory(descriptor);
  };
  Object.assign(WebAssembly, { Memory: Small });
  try {
    assert.is(createWasmDevice({ threads: 1 }).limits.maxBufferSize, 2 ** 30 - 1024 - 64);
  } finally {
    Object.assign(WebAssembly, { Memory });
  }
});

test.run();
