/**
 * A window of a state that is set, or that something is added to, is all that its kernel goes over:
 * `cache.at("3:7").set(rows)` costs four rows, whatever the cache holds.
 */
import { evaluateExtent, type TargetName } from "@kiln-ml/artifact";
import { type Dtype, input, makeValue, roundTo, type Tensor } from "@kiln-ml/ir";
import { type Device, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

const [rows, columns] = [40, 64];

type Window = readonly (string | number)[];
type Change = (state: Tensor, window: Window, by: Tensor) => Tensor;

const changes: Readonly<Record<string, Change>> = {
  set: (x, w, by) => x.at(...w).set(by),
  add: (x, w, by) => x.at(...w).add(by),
  mul: (x, w, by) => x.at(...w).mul(by),
  // A window of what something else has been made of, which stays as it is around it.
  twice: (x, w, by) =>
    x
      .at(...w)
      .set(by)
      .at(0)
      .add(1),
  all: (x, w, by) =>
    x
      .mul(2)
      .at(...w)
      .set(by),
};

function changing(change: Change, window: Window, dtype: Dtype = "f32") {
  const state = input("state", dtype, [rows, columns]);
  const shape = state.get(...window).shape as number[];
  const by = input("by", dtype, shape);
  const program: Program = {
    inputs: [by],
    outputs: [],
    updates: [[state, change(state, window, by)]],
  };
  const size = shape.reduce((m, n) => m * n, 1);
  const numbers = (count: number, from: number) =>
    Array.from({ length: count }, (_, i) => roundTo(dtype, ((i * 7 + from) % 23) - 11));
  const feeds = new Map([
    [state, makeValue(dtype, [rows, columns], numbers(rows * columns, 3))],
    [by, makeValue(dtype, shape, numbers(size, 5))],
  ]);
  return { program, feeds };
}

const bytesOf = (program: Program, target: TargetName): number =>
  compileProgram(program, { target }).artifact.plan.steps.reduce(
    (sum, s) => sum + evaluateExtent(s.bytes, {}),
    0,
  );

for (const target of ["js", "wasm"] as const)
  test(`${target}: a window of a state is read and written once, and nothing else of it`, () => {
    for (const change of [changes.set!, changes.add!])
      assert.is(bytesOf(changing(change, ["3:7"]).program, target), 3 * 4 * columns * 4);
    assert.is(bytesOf(changing(changes.set!, [5]).program, target), 3 * columns * 4);
    assert.is(bytesOf(changing(changes.set!, [":", "3:5"]).program, target), 3 * rows * 2 * 4);
    assert.is(bytesOf(changing(changes.set!, ["4:9", "8:16"]).program, target), 3 * 5 * 8 * 4);
  });

const windows: readonly Window[] = [
  ["3:7"],
  ["3:3"],
  ["0:40"],
  ["38:"],
  [5],
  [-1],
  ["1:30:3"],
  [":", "3:5"],
  [":", "4:20:4"],
  ["4:9", "8:16"],
  ["4:9:2", "1:60:7"],
];

async function agrees(device: Device): Promise<void> {
  const { target } = device;
  for (const [name, change] of Object.entries(changes))
    for (const [i, window] of windows.entries())
      for (const dtype of [(["f32", "f16", "u8"] as const)[i % 3]!]) {
        const { program, feeds } = changing(change, window, dtype);
        const want = evaluateProgram(program, feeds);
        const { values } = await runProgram(program, feeds, {}, device, { target });
        assert.ok(sameValue(values[0]!, want[0]!), `${name} ${dtype} [${window}]`);
      }
}

test("js: windows in place have the reference's values", () => agrees(guardedCpuDevice()));

test("wasm: windows in place have the reference's values", async () => {
  for (const variant of [variants[0]!, variants.at(-1)!]) await agrees(wasmDevice(variant));
});

gpuTest("webgpu: windows in place have the reference's values", async () => {
  const gpu = await heldGpu("backend=vulkan");
  const device = await openWebGpu({ gpu, allowSoftware: true });
  await agrees(device);
  device.destroy();
});

test.run();
