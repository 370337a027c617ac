/** Loops with a shape of their own on every target: carries that change places, none to do, profiles, runs at once. */

import { dim, grad, input, makeValue, scan, type Tensor, tensor, whileLoop } from "@kiln-ml/ir";
import { type Device, load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

const x = input("x", "f32", [dim("T", { min: 0 }), 3]);
const [a, b, c] = [
  [1, 2, 3],
  [4, 5, 6],
  [7, 8, 9],
].map((v) => tensor(v));

const cases: Record<string, () => readonly Tensor[]> = {
  "two carries change places": () => {
    const { carry, ys } = scan([a!, b!], [x], ([p, q]) => ({ carry: [q!, p!], ys: [p!] }));
    return [...carry, ...ys];
  },
  "three carries go round, one of them changed": () => {
    const { carry, ys } = scan([a!, b!, c!], [x], ([p, q, r], [e]) => ({
      carry: [q!, r!.add(e!), p!],
      ys: [q!, e!],
    }));
    return [...carry, ...ys];
  },
  "a carry is overwritten by what another one still needs": () => {
    const { carry } = scan([a!, b!], [x], ([p, q]) => ({
      carry: [p!.add(q!.reverse([0])), q!.sub(p!).mul(0.5)],
      ys: [],
    }));
    return carry;
  },
  "what begins is read afterwards too": () => {
    const start = a!.mul(2);
    const { carry } = scan([start, start], [x], ([p, q], [e]) => ({
      carry: [p!.add(e!), q!.mul(0.5).add(start)],
      ys: [],
    }));
    return [...carry, start.add(carry[0]!)];
  },
  "from the end": () =>
    scan([a!], [x], ([p], [e], i) => ({ carry: [p!.mul(0.5).add(e!)], ys: [p!.add(i)] }), {
      reverse: true,
    }).ys,
  "the gradient of a loop": () => {
    const { carry } = scan([a!.mul(0.1)], [x], ([p], [e]) => ({
      carry: [p!.mul(e!).sin()],
      ys: [],
    }));
    return grad(carry[0]!.sum(), [x]);
  },
  "a loop that stops": () =>
    whileLoop(
      [a!, x.sum()],
      (p, s) => p.sum().less(s.add(20)),
      (p, s) => [p.mul(1.5), s],
    ),
};

function programOf(build: () => readonly Tensor[]): Program {
  return {
    inputs: [x],
    outputs: build().map((value, i) => ({ name: `y${i}`, value })),
    updates: [],
  };
}

async function check(device: Device): Promise<void> {
  for (const [name, build] of Object.entries(cases)) {
    const program = programOf(build);
    for (const T of [0, 1, 2, 5]) {
      const numbers = Array.from({ length: 3 * T }, (_, i) => Math.sin(i + 1));
      const feeds = new Map([[x, makeValue("f32", [T, 3], numbers)]]);
      const want = evaluateProgram(program, feeds, { T });
      for (const fusion of [true, false]) {
        const options = { target: device.target, fusion };
        const { values } = await runProgram(program, feeds, { T }, device, options);
        for (const [i, v] of values.entries())
          for (const [k, e] of want[i]!.data.entries())
            assert.ok(
              Math.abs(v.data[k]! - e) <= 1e-5 * Math.max(1, Math.abs(e)),
              `${name}, T=${T}, result ${i}: got ${v.data}, want ${want[i]!.data}`,
            );
      }
    }
  }
}

test("js: loops agree with the reference", () => check(guardedCpuDevice()));
for (const variant of variants)
  test(`wasm: loops agree with the reference, ${nameOfVariant(variant)}`, () =>
    check(wasmDevice(variant)));
gpuTest("webgpu: loops agree with the reference", async () => {
  const device = await guardedGpuDevice();
  await check(device);
  device.destroy();
});

/** The one state of the programs below: where the loop begins. */
const statesOf = (device: Device) => device.upload([1, 2, 3], "f32", [3]);

async function profiled(device: Device): Promise<void> {
  const program = programOf(cases["a loop that stops"]!);
  const { artifact, states } = compileProgram(program, { target: device.target });
  assert.is(states.length, 1);
  const exe = await load(artifact, device, { states: [statesOf(device)] });
  const { outputs, timings } = await exe.runProfiled([
    { data: new Float32Array(6).fill(1), shape: [2, 3] },
  ]);
  assert.equal(
    timings.map((t) => t.name),
    artifact.plan.steps.map((s) => artifact.kernels[s.kernel]!.name),
  );
  const plain = await exe.run([{ data: new Float32Array(6).fill(1), shape: [2, 3] }]);
  assert.equal(await outputs[0]!.data(), await plain[0]!.data());
}

test("a profile has one row for each step, however often it runs", async () => {
  await profiled(guardedCpuDevice());
  await profiled(wasmDevice(variants[0]!));
});
gpuTest("a profile on webgpu too", async () => {
  const device = await guardedGpuDevice();
  await profiled(device);
  device.destroy();
});

gpuTest("webgpu: runs that read flags back do not come between each other", async () => {
  const device = await guardedGpuDevice();
  const program = programOf(cases["a loop that stops"]!);
  const { artifact } = compileProgram(program, { target: "webgpu" });
  const exe = await load(artifact, device, { states: [statesOf(device)] });
  const inputs = [1, 2, 3].map((v) => ({ data: new Float32Array(3).fill(v), shape: [1, 3] }));
  const together = await Promise.all(inputs.map((i) => exe.run([i])));
  for (const [k, i] of inputs.entries()) {
    const [alone] = await exe.run([i]);
    assert.equal(await together[k]![0]!.data(), await alone!.data());
  }
  device.destroy();
});

test.run();
