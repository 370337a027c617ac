/** Loading, running and reading before the call returns, on the devices that run on the calling thread. */
import { compileProgram } from "@kiln-ml/compiler/all";
import { input, matmul, type Tensor, whileLoop } from "@kiln-ml/ir";
import { createCpuDevice, createWasmDevice, type Device, load, loadNow } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Target = "js" | "wasm";

const open: Readonly<Record<Target, () => Device>> = {
  js: () => createCpuDevice(),
  wasm: () => createWasmDevice({ threads: 2 }),
};

const x = input("x", "f32", ["N", 3]);

function compiled(target: Target, value: Tensor) {
  const program = { inputs: [x], outputs: [{ name: "y", value }], updates: [] };
  return compileProgram(program, { target, name: "now" }).artifact;
}

const host = { data: Float32Array.of(1, -2, 3, 4, 5, -6), shape: [2, 3] };

for (const target of ["js", "wasm"] as const) {
  test(`${target}: the same bits as a run that is awaited`, async () => {
    const device = open[target]();
    const artifact = compiled(target, matmul(x.tanh(), x.transpose()).softmax());
    const [later] = await (await load(artifact, device)).run([host]);
    const executable = loadNow(artifact, device);
    const [now] = executable.runNow([host]);
    assert.equal(now!.dataNow(), await later!.data());
    // Its result is an operand of runs of either kind.
    assert.equal(now!.shape, [2, 2]);
    now!.dispose();
    executable.dispose();
    device.destroy();
  });

  test(`${target}: in order with what waits for a pause`, async () => {
    const device = open[target]();
    const executable = loadNow(compiled(target, x.add(1)), device);
    const awaited = await load(compiled(target, x.mul(2)), device);
    for (let i = 0; i < 50; i++) {
      const running = awaited.run([host]);
      const [now] = executable.runNow([host]);
      assert.is(now!.dataNow()[0], 2);
      const [later] = await running;
      assert.is(later!.dataNow()[0], 2);
      for (const array of [now, later]) array!.dispose();
    }
    device.destroy();
  });

  test(`${target}: a plan with a loop is refused`, () => {
    const device = open[target]();
    const [y] = whileLoop(
      [x],
      (v) => v!.sum().less(100),
      (v) => [v!.add(1)],
      { maxTrips: 4 },
    );
    assert.throws(
      () => loadNow(compiled(target, y!), device),
      (error: Error) =>
        error.name === "DeviceError" &&
        error.message ===
          "loadNow: now has loops or branches, whose runs may pause\n  load the artifact by load, and await its runs",
    );
    device.destroy();
  });
}

test.run();
