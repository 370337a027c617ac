/** What a run asks of WebGPU, call by call, on the null device: nothing is made twice, and short runs share what they can. */
import { type Device, type DeviceArray, type Executable, load, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { deepMlp, mlp, step } from "../../bench/cases.ts";
import { stateValues } from "../../bench/session.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import { type CountingGpu, countingGpu } from "../support/counting-gpu.ts";
import { heldGpu } from "../support/webgpu.ts";
import { accumulation, addition, artifact } from "./artifacts.ts";

function onCounted(name: string, body: (device: Device, calls: CountingGpu) => Promise<void>) {
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

/** A training step of a small network, with its batch on the device. */
async function training(device: Device, program = step(mlp([6, 8, 3]), [4, 6], "sgd")) {
  const { artifact, states } = compileProgram(program, { target: "webgpu" });
  const held = states.map((t, i) => device.upload(stateValues(t, i), t.dtype, t.shape as number[]));
  const exe = await load(artifact, device, { states: held });
  const inputs = artifact.signature.inputs.map(({ dtype, shape }) => {
    const size = (shape as number[]).reduce((a, b) => a * b, 1);
    const numbers = new Array<number>(size).fill(0);
    return device.upload(numbers, dtype, shape as number[]);
  });
  return { exe, inputs, launches: artifact.plan.steps.length };
}

const made = [
  "createBuffer",
  "createBindGroup",
  "createShaderModule",
  "createComputePipelineAsync",
  "writeBuffer",
  "pushErrorScope",
];

const free = (outputs: readonly DeviceArray[]) => {
  for (const o of outputs) o.dispose();
};

/** Runs called in one go, their results freed once all are called, and the last one read. */
async function runs(exe: Executable, inputs: readonly DeviceArray[], count: number) {
  const results = await Promise.all(Array.from({ length: count }, () => exe.run(inputs)));
  await results.at(-1)![0]!.data();
  for (const outputs of results) free(outputs);
}

/** So often that results in use at one time are known to come back. */
async function warm(exe: Executable, inputs: readonly DeviceArray[], count: number) {
  for (let i = 0; i < 3; i++) await runs(exe, inputs, count);
}

onCounted(
  "after the first step, a step is one pass and one submit, and makes nothing",
  async (device, calls) => {
    const { exe, inputs, launches } = await training(device);
    await runs(exe, inputs, 1);
    for (let i = 0; i < 3; i++) {
      calls.take();
      const results = await exe.run(inputs);
      const { setPipeline, ...of } = calls.take();
      assert.ok(setPipeline! <= launches);
      assert.equal(of, {
        createCommandEncoder: 1,
        beginComputePass: 1,
        setBindGroup: launches,
        dispatchWorkgroups: launches,
        end: 1,
        finish: 1,
        submit: 1,
      });
      // Or the next may find the device busy.
      await results[0]!.data();
      free(results);
    }
  },
);

onCounted(
  "a step of hundreds of launches is one pass and one submit, and makes nothing",
  async (device, calls) => {
    const { exe, inputs, launches } = await training(device, deepMlp(80, 8));
    assert.ok(launches > 200, `${launches}`);
    await runs(exe, inputs, 1);
    calls.take();
    const results = await exe.run(inputs);
    const of = calls.take();
    for (const name of made) assert.is(of[name], undefined, name);
    const { beginComputePass, submit, dispatchWorkgroups } = of;
    assert.equal([beginComputePass, submit, dispatchWorkgroups], [1, 1, launches]);
    free(results);
  },
);

onCounted(
  "a result that is read costs a copy and a submit, and nothing that is made",
  async (device, calls) => {
    const { exe, inputs } = await training(device);
    await runs(exe, inputs, 1);
    calls.take();
    await runs(exe, inputs, 1);
    const of = calls.take();
    for (const name of made) assert.is(of[name], undefined, name);
    assert.is(of.copyBufferToBuffer, 1);
    assert.is(of.mapAsync, undefined);
    assert.is(of.submit, 2);
    assert.is(of.onSubmittedWorkDone, undefined);
  },
);

onCounted(
  "of ten runs, the first two are submitted at once and the others together",
  async (device, calls) => {
    const { exe, inputs, launches } = await training(device);
    await warm(exe, inputs, 10);
    calls.take();
    await runs(exe, inputs, 10);
    const of = calls.take();
    for (const name of made) assert.is(of[name], undefined, name);
    assert.is(of.dispatchWorkgroups, 10 * launches);
    // The third is full before the read comes, which has one of its own.
    assert.is(of.beginComputePass, 3);
    assert.is(of.submit, 4);
  },
);

onCounted("a read submits what waits, in one submit with its copy", async (device, calls) => {
  const { exe, inputs } = await training(device);
  await warm(exe, inputs, 5);
  calls.take();
  await runs(exe, inputs, 5);
  const of = calls.take();
  assert.is(of.beginComputePass, 3);
  assert.is(of.submit, 3);
});

onCounted("runs on a copy of a state that they write share a submit too", async (device, calls) => {
  const total = device.upload([1, 2, 3, 4], "f32", [4]);
  const exe = await load(accumulation("webgpu"), device, { states: [total] });
  await warm(exe, [total], 4);
  calls.take();
  const results: DeviceArray[][] = [];
  for (let i = 0; i < 4; i++) results.push(await exe.run([total]));
  const of = calls.take();
  assert.is(of.dispatchWorkgroups, 4);
  assert.is(of.submit, 2);
  results.forEach(free);
});

onCounted("runs that wait to be submitted do so no longer than a task", async (device, calls) => {
  const { exe, inputs } = await training(device);
  await warm(exe, inputs, 4);
  calls.take();
  const results = Array.from({ length: 4 }, () => exe.run(inputs));
  assert.is(calls.take().submit, 2);
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.is(calls.take().submit, 1);
  for (const r of results) free(await r);
});

onCounted(
  "a device that has finished is known to be idle, though nothing was read",
  async (device, calls) => {
    const { exe, inputs } = await training(device);
    await warm(exe, inputs, 2);
    for (let round = 0; round < 3; round++) {
      calls.take();
      const results = [exe.run(inputs), exe.run(inputs)];
      assert.is(calls.take().submit, 2);
      for (const r of results) free(await r);
      while (calls.unfinished > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
);

onCounted("a run for which something is bound is submitted alone", async (device, calls) => {
  const { exe, inputs } = await training(device);
  await runs(exe, inputs, 1);
  calls.take();
  const results = Array.from({ length: 3 }, () => exe.run(inputs));
  const of = calls.take();
  assert.is(of.submit, 3);
  // Two more results, and what stands in for the third.
  assert.is(of.createBuffer, 3);
  for (const r of results) free(await r);
});

onCounted(
  "results that are kept are buffers of their own, and nothing is bound for them",
  async (device, calls) => {
    const { exe, inputs, launches } = await training(device);
    const kept = [];
    for (let i = 0; i < 10; i++) {
      const [loss] = await exe.run(inputs);
      await loss!.data();
      kept.push(loss);
      if (i < 3) calls.take();
    }
    const of = calls.take();
    assert.is(of.createBuffer, 7);
    assert.is(of.createBindGroup, undefined);
    assert.is(of.dispatchWorkgroups, 7 * launches);
    // Each is copied out of the run, and then for the read.
    assert.is(of.copyBufferToBuffer, 14);
    assert.is(of.submit, 14);
    for (const loss of kept) loss!.dispose();
  },
);

onCounted(
  "long runs are submitted alone, and a fourth waits for the first",
  async (device, calls) => {
    const { plan, ...rest } = addition("webgpu");
    const long = { ...plan, steps: plan.steps.map((s) => ({ ...s, flops: 2 ** 36 })) };
    const exe = await load({ ...rest, plan: long }, device, { states: [] });
    const x = device.upload([1, 2], "f32", [2]);
    await warm(exe, [x, x], 4);
    calls.take();
    const results = Array.from({ length: 4 }, () => exe.run([x, x]));
    assert.is(calls.take().submit, 3);
    for (const r of results) free(await r);
    assert.is(calls.take().submit, 1);
  },
);

onCounted(
  "hundreds of runs are never more than three unfinished submits",
  async (device, calls) => {
    const exe = await load(addition("webgpu"), device, { states: [] });
    const x = device.upload([1, 2], "f32", [2]);
    const results = Array.from({ length: 300 }, async () => free(await exe.run([x, x])));
    await Promise.all(results);
    assert.ok(calls.mostUnfinished <= 3, `${calls.mostUnfinished}`);
    assert.is(calls.take().dispatchWorkgroups, 300);
  },
);

onCounted("runsInFlight 1: one submit at a time", async (_, calls) => {
  const device = await openWebGpu({ gpu: calls.gpu, allowSoftware: true, runsInFlight: 1 });
  const before = calls.mostUnfinished;
  const exe = await load(addition("webgpu"), device, { states: [] });
  const x = device.upload([1, 2], "f32", [2]);
  for (const r of Array.from({ length: 20 }, () => exe.run([x, x]))) free(await r);
  assert.ok(calls.mostUnfinished <= Math.max(before, 1));
  device.destroy();
});

onCounted(
  "host inputs are one write each, and their runs are submitted one by one",
  async (device, calls) => {
    const exe = await load(addition("webgpu"), device, { states: [] });
    const x = Float32Array.of(1, 2, 3);
    for (let i = 0; i < 3; i++) free(await exe.run([x, x]));
    const settled = device.upload([0], "f32", [1]);
    await settled.data();
    settled.dispose();
    calls.take();
    for (let i = 0; i < 2; i++) free(await exe.run([x, x]));
    const [last] = await exe.run([x, x]);
    await last!.data();
    const of = calls.take();
    assert.is(of.writeBuffer, 6);
    assert.is(of.submit, 3);
    assert.is(of.createBuffer, undefined);
  },
);

onCounted("reads that are asked for together are one submit", async (device, calls) => {
  const arrays = [1, 2, 3].map((x) => device.upload([x], "f32", [1]));
  await Promise.all(arrays.map((a) => a.data()));
  calls.take();
  await Promise.all(arrays.map((a) => a.data()));
  const of = calls.take();
  assert.equal(of, { createCommandEncoder: 1, copyBufferToBuffer: 3, finish: 1, submit: 1 });
});

onCounted("what has no elements costs no call", async (device, calls) => {
  const exe = await load(addition("webgpu"), device, { states: [] });
  const none = device.upload(new Float32Array(), "f32", [0]);
  free(await exe.run([none, none]));
  calls.take();
  const [sum] = await exe.run([none, none]);
  assert.equal(await sum!.data(), new Float32Array());
  assert.equal(calls.take(), {});
});

onCounted("thousands of launches are several submits", async (device, calls) => {
  const { plan, ...rest } = addition("webgpu");
  const steps = Array.from({ length: 5000 }, () => plan.steps[0]!);
  const exe = await load(artifact({ ...rest, plan: { ...plan, steps } }), device, { states: [] });
  const x = device.upload([1], "f32", [1]);
  free(await exe.run([x, x]));
  const of = calls.take();
  assert.is(of.submit, 3);
  // Neither pipeline nor group changes within a pass.
  assert.is(of.setPipeline, 3);
  assert.is(of.setBindGroup, 3);
  assert.is(of.dispatchWorkgroups, 5000);
});

test.run();
