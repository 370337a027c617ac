/**
 * A scatter that updates a state where it lies touches the rows that it is given and no others: one
 * row of a cache costs a row, on every target. Where the old value is wanted too, it is copied.
 */
import { evaluateExtent, type TargetName } from "@kiln-ml/artifact";
import { type Dtype, input, makeValue, roundTo, scatter, type Tensor } from "@kiln-ml/ir";
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

// As many columns as a workgroup has invocations: what is counted is then what is stored.
const [rows, columns] = [40, 64];
const targets: readonly TargetName[] = ["js", "wasm", "webgpu"];
const modes = ["set", "add", "mul", "max", "min"] as const;

interface Update {
  readonly mode: (typeof modes)[number];
  readonly dtype: Dtype;
  /** Places along axis 0 that are written, as many as there are numbers. */
  readonly at: readonly number[];
  readonly axis?: 0 | 1;
}

/** One update of a [rows, columns] cache, and what else is returned. */
function updating({ mode, dtype, at, axis = 0 }: Update, others: (cache: Tensor) => Tensor[]) {
  const cache = input("cache", dtype, [rows, columns]);
  const written = axis === 0 ? [at.length, columns] : [at.length, rows];
  const [update, places] = [input("row", dtype, written), input("at", "i32", [at.length])];
  const value = scatter(cache, update, [places], [axis], mode);
  const outputs = others(cache).map((t, i) => ({ name: `y${i}`, value: t }));
  const program: Program = {
    inputs: [update, places],
    outputs,
    updates: [[cache, value]],
  };
  const numbers = (count: number, from: number) =>
    Array.from({ length: count }, (_, i) => roundTo(dtype, ((i * 7 + from) % 23) - 11));
  const feeds = new Map([
    [cache, makeValue(dtype, [rows, columns], numbers(rows * columns, 3))],
    [update, makeValue(dtype, written, numbers(written[0]! * written[1]!, 5))],
    [places, makeValue("i32", [at.length], [...at])],
  ]);
  return { program, feeds };
}

const bytesOf = (program: Program, target: TargetName): number =>
  compileProgram(program, { target }).artifact.plan.steps.reduce(
    (sum, s) => sum + evaluateExtent(s.bytes, {}),
    0,
  );

for (const target of targets)
  test(`${target}: one row of a cache is read, combined and written, whatever the cache holds`, () => {
    for (const mode of modes) {
      const { program } = updating({ mode, dtype: "f32", at: [5] }, () => []);
      // The row itself, its index, and the row of the cache, which is read and written.
      assert.is(bytesOf(program, target), columns * 4 + 4 + 2 * columns * 4, mode);
    }
  });

for (const target of targets)
  test(`${target}: where the old cache is a result too, all of it is copied`, () => {
    const one: Update = { mode: "set", dtype: "f32", at: [5] };
    const { program } = updating(one, (cache) => [cache.mul(2)]);
    assert.ok(bytesOf(program, target) > 2 * rows * columns * 4);
  });

const cases: readonly Update[] = modes.flatMap((mode) => [
  { mode, dtype: "f32", at: [5] },
  { mode, dtype: "f32", at: [-1, 0, 200, -65] },
  { mode, dtype: "f32", at: [3, 3, 3, 62] },
  { mode, dtype: "f32", at: [15, 2], axis: 1 },
  { mode, dtype: "f16", at: [7, 6] },
  { mode, dtype: "u8", at: [7, 6] },
]);

async function agrees(device: Device): Promise<void> {
  for (const one of cases)
    for (const others of [
      () => [],
      (cache: Tensor) => [cache.sum(0)],
      (cache: Tensor) => [cache.mul(2)],
    ]) {
      const { program, feeds } = updating(one, others);
      const want = evaluateProgram(program, feeds);
      const { target } = device;
      const { values } = await runProgram(program, feeds, {}, device, { target });
      for (const [i, v] of values.entries())
        assert.ok(sameValue(v, want[i]!), `${one.mode} ${one.dtype} at ${one.at}, value ${i}`);
    }
  const stays = stayingAsItIs();
  const feeds = new Map([[stays.updates[0]![0], makeValue("f32", [1, 1], [3])]]);
  const { values } = await runProgram(stays, feeds, {}, device, { target: device.target });
  assert.equal(
    values.map((v) => [...v.data]),
    [[-3], [3]],
  );
}

/** A state that becomes what it is by a copy, which nothing before the plan can tell. */
function stayingAsItIs(): Program {
  const state = input("state", "f32", [1, 1]);
  const turned = state.transpose([1, 0]);
  return {
    inputs: [],
    outputs: [{ name: "y", value: turned.neg() }],
    updates: [[state, turned]],
  };
}

test("js: states in place have the reference's values", () => agrees(guardedCpuDevice()));

test("wasm: states in place have the reference's values", async () => {
  for (const variant of [variants[0]!, variants.at(-1)!]) await agrees(wasmDevice(variant));
});

gpuTest("webgpu: states in place have the reference's values", async () => {
  const gpu = await heldGpu("backend=vulkan");
  const device = await openWebGpu({ gpu, allowSoftware: true });
  await agrees(device);
  device.destroy();
});

test.run();
