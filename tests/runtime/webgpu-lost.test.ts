/** What goes wrong in the middle: memory that is not to be had, devices that go, arrays and executables that end too early. */
import { DeviceError } from "@kiln-ml/artifact";
import { type Device, initialStates, load, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type CountingGpu, countingGpu } from "../support/counting-gpu.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { accumulation, addition, place } from "./artifacts.ts";

const f32 = (...x: number[]) => Float32Array.from(x);

function onNull(name: string, body: (device: Device, calls: CountingGpu) => Promise<void>): void {
  test(name, async () => {
    const calls = countingGpu(await heldGpu("backend=null"));
    const device = await openWebGpu({ gpu: calls.gpu, allowSoftware: true });
    try {
      await body(device, calls);
    } finally {
      device.destroy();
    }
  });
}

/** On a device that computes. */
function onGpu(name: string, body: (device: Device) => Promise<void>): void {
  gpuTest(name, async () => {
    const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
    try {
      await body(device);
    } finally {
      device.destroy();
    }
  });
}

const retry =
  "\n  run it again from states that are known, with less at once where memory was short";
const reopen = "\n  open a device again, and load the artifact on it";
const gone = (op: string): string => `${op}: the device was destroyed${reopen}`;

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "nothing",
    (error: Error) => {
      assert.instance(error, DeviceError);
      return error.message;
    },
  );

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 5));

onNull("memory that is not to be had is named, and none of it is kept", async (device, calls) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  const x = device.upload(new Float32Array(1000), "f32", [1000]);
  calls.refuseFrom = 4000;
  const [sum] = await add.run([x, x]);
  const said = "4096 bytes for output sum are not to be had, 8192 are live";
  assert.is(await messageOf(sum!.data()), `data: ${said}${retry}`);
  sum!.dispose();
  assert.is(device.memory().live, 4096);
  assert.is(device.memory().pooled, 0);
  // It is said once, and what fits still runs.
  const small = device.upload([1, 2], "f32", [2]);
  const [other] = await add.run([small, small]);
  await other!.data();
  // A caller that reads nothing learns of it by its next call.
  await add.run([x, x]);
  await nextTask();
  const late = "4096 bytes for output sum are not to be had";
  const told = await messageOf(add.run([small, small]));
  assert.ok(told.startsWith(`run: ${late}`) && told.endsWith(retry), told);
  calls.refuseFrom = Number.POSITIVE_INFINITY;
  const [again] = await add.run([x, x]);
  assert.is((await again!.data()).length, 1000);
});

onNull("a read whose memory is not to be had says so", async (device, calls) => {
  const x = device.upload(new Float32Array(1000), "f32", [1000]);
  calls.refuseFrom = 4000;
  const said = "data: 4096 bytes for a read are not to be had, 4096 are live";
  assert.is(await messageOf(x.data()), said + retry);
  calls.refuseFrom = Number.POSITIVE_INFINITY;
  assert.is((await x.data()).length, 1000);
});

onNull("a run that waits for a flag ends with its device", async (device) => {
  const { plan, ...rest } = addition("webgpu");
  const flow = [{ if: place("input"), then: [0], else: [] }];
  const exe = await load({ ...rest, plan: { ...plan, flow } }, device, { states: [] });
  const running = exe.run([f32(1), f32(2)]);
  const next = exe.run([f32(1), f32(2)]);
  const profile = exe.profile([f32(1), f32(2)]);
  device.destroy();
  assert.is(await messageOf(running), gone("run"));
  assert.is(await messageOf(next), gone("run"));
  assert.is(await messageOf(profile), gone("run"));
  assert.is(device.memory().live, 0);
});

onNull("an output beyond a limit is refused by name, and the rest goes back", async (device) => {
  const { signature, ...rest } = addition("webgpu");
  const outputs = [{ name: "sum", dtype: "f32", shape: ["N", 2 ** 40] }] as const;
  const add = await load({ ...rest, signature: { ...signature, outputs } }, device, { states: [] });
  const limit = device.limits.maxStorageBufferBindingSize;
  const said = `run: output sum: ${2 ** 43} bytes exceed the device's maxStorageBufferBindingSize of ${limit}`;
  assert.is(await messageOf(add.run([f32(1, 2), f32(1, 2)])), said);
  assert.is(device.memory().live, 0);
});

onNull(
  "a device that is destroyed ends every run and read, called or waiting",
  async (device, calls) => {
    const add = await load(addition("webgpu"), device, { states: [] });
    const x = device.upload([1, 2], "f32", [2]);
    // Nothing was made ready before, so each is submitted alone, and all but three wait.
    const runs = Array.from({ length: 20 }, () => add.run([x, x]));
    const reads = Array.from({ length: 5 }, () => x.data());
    x.write([3, 4]);
    x.dispose();
    device.destroy();
    for (const [i, run] of runs.entries())
      assert.is(await messageOf(run), i < 3 ? "nothing" : gone("run"));
    for (const read of reads) assert.is(await messageOf(read), gone("data"));
    assert.is((await device.lost).reason, "destroyed");
    assert.is(device.memory().live, 0);
    assert.ok(calls.mostUnfinished <= 3);
  },
);

onNull("a device that the system takes away ends every run and read", async (device) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  const x = device.upload([1, 2], "f32", [2]);
  const runs = Array.from({ length: 20 }, () => add.run([x, x]));
  const read = x.data();
  // Not through the runtime, which so learns of it as of any loss.
  (device.driver as unknown as { device: GPUDevice }).device.destroy();
  await device.lost;
  const ends = await Promise.all(runs.map(messageOf));
  assert.equal(new Set(ends.slice(3)).size <= 2, true, ends.join());
  assert.match(
    ends.at(-1)!,
    /^(run: the device is lost: .*\n {2}open a device again, and load the artifact on it$|nothing$)/,
  );
  assert.match(
    await messageOf(read),
    /^data: the device is lost: .*\n {2}open a device again, and load the artifact on it$/,
  );
  assert.match(
    await messageOf(add.run([x, x])),
    /^run: the device is lost: .*\n {2}open a device again, and load the artifact on it$/,
  );
  // Nothing of it is left, and what was on it may be let go.
  assert.is(device.memory().live, 0);
  x.dispose();
  add.dispose();
});

onNull(
  "an executable that is disposed of does the runs called before, and no more",
  async (device, calls) => {
    const add = await load(addition("webgpu"), device, { states: [] });
    const x = device.upload([1, 2], "f32", [2]);
    const runs = Array.from({ length: 6 }, () => add.run([x, x]));
    add.dispose();
    const late = add.run([x, x]);
    await Promise.all(runs);
    assert.is(await messageOf(late), "run: the executable was disposed of");
    assert.is(calls.take().dispatchWorkgroups, 6);
  },
);

onNull("what was made for sizes seen long ago goes, and comes again", async (device, calls) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  const once = async (n: number) => {
    const x = device.upload(new Float32Array(n), "f32", [n]);
    for (const o of await add.run([x, x])) o.dispose();
    x.dispose();
  };
  // More sizes than are kept.
  for (let n = 1; n <= 260; n++) await once(n);
  for (let n = 1; n <= 260; n++) await once(n);
  await device.upload([1], "f32", [1]).data();
  assert.is(calls.take().dispatchWorkgroups, 520);
});

onGpu("two executables on one device take turns, and share its memory", async (device) => {
  const artifact = accumulation("webgpu");
  const open = () => load(artifact, device, { states: initialStates(artifact, device) });
  const [a, b] = [await open(), await open()];
  const results = Array.from({ length: 30 }, (_, i) => [
    a.run([f32(1, 1, 1, 1)]),
    b.run([i % 2 ? a.states[0]! : f32(0, 0, 0, 0)]),
  ]);
  let total = f32(1, 2, 3, 4);
  for (const [i, [first, second]] of results.entries()) {
    const [x] = await first!;
    assert.equal(await x!.data(), f32(2 + i, 3 + i, 4 + i, 5 + i));
    if (i % 2) total = total.map((v, k) => v + k + 2 + i);
    const [y] = await second!;
    assert.equal(await y!.data(), total);
  }
});

onGpu(
  "a write comes after the runs called before it, and before those called after",
  async (device) => {
    const add = await load(addition("webgpu"), device, { states: [] });
    const x = device.upload([0, 0], "f32", [2]);
    const results: Promise<unknown>[] = [];
    for (let i = 1; i <= 30; i++) {
      const [sum] = [add.run([x, x])];
      results.push(
        sum.then(async ([s]) => assert.equal(await s!.data(), f32(2 * i - 2, 2 * i - 2))),
      );
      x.write([i, i]);
      // Another array may be given the memory of one that is gone, but not before it was written.
      device.upload([-i, -i], "f32", [2]).dispose();
    }
    await Promise.all(results);
    assert.equal(await x.data(), f32(30, 30));
  },
);

onGpu("results that are kept stay what they were, small or not", async (device) => {
  const add = await load(addition("webgpu"), device, { states: [] });
  for (const n of [1, 3, 20_000]) {
    const y = device.upload(new Float32Array(n).fill(1), "f32", [n]);
    const results = Array.from({ length: 12 }, (_, i) => add.run([new Float32Array(n).fill(i), y]));
    for (const [i, result] of results.entries()) {
      const [sum] = await result;
      assert.equal(await sum!.data(), new Float32Array(n).fill(i + 1));
    }
  }
});

onGpu("a state that is read while runs wait has seen them all", async (device) => {
  const artifact = accumulation("webgpu");
  const program = await load(artifact, device, { states: initialStates(artifact, device) });
  const x = device.upload([1, 1, 1, 1], "f32", [4]);
  for (let i = 0; i < 40; i++) program.run([x]).then(([after]) => after!.dispose());
  assert.equal(await program.states[0]!.data(), f32(41, 42, 43, 44));
});

test.run();
