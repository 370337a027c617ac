/**
 * Kernels that differ only in where they begin are one: an unrolled recurrence has as many texts as kinds of steps, and
 * computes what the reference does.
 */
import { concat, input, makeValue, type Tensor } from "@kiln-ml/ir";
import { createCpuDevice, type Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import "../support/setup.ts";
import { wasmDevice } from "../support/wasm.ts";

const [steps, rows, width] = [12, 3, 8];
const x = input("x", "f32", [steps, rows, width]);
const w = input("w", "f32", [width, width]);

/** hₜ = tanh(xₜ + hₜ₋₁·w), all of them side by side. */
function recurrence(): Program {
  let hidden: Tensor | undefined;
  const all: Tensor[] = [];
  for (const part of x.split(steps)) {
    const own = part.reshape([rows, width]);
    hidden = (hidden ? own.add(hidden.matmul(w)) : own).tanh();
    all.push(hidden.expandDims(0));
  }
  return { inputs: [x, w], outputs: [{ name: "y", value: concat(all) }], updates: [] };
}

const noise = (size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.fround(Math.sin(12.9898 * (i + 1))));

async function agrees(target: "js" | "wasm", device: Device): Promise<void> {
  const program = recurrence();
  const { artifact } = compileProgram(program, { target });
  assert.ok(artifact.kernels.length <= 4, artifact.kernels.map((k) => k.name).join());
  assert.ok(artifact.plan.steps.length >= steps);
  const feeds = new Map([
    [x, makeValue("f32", [steps, rows, width], noise(steps * rows * width))],
    [w, makeValue("f32", [width, width], noise(width * width))],
  ]);
  const [want] = evaluateProgram(program, feeds);
  const { values } = await runProgram(program, feeds, {}, device, { target });
  values[0]!.data.forEach((v, i) => {
    assert.ok(Math.abs(v - want!.data[i]!) < 1e-5, `${i}: ${v}, ${want!.data[i]}`);
  });
}

test("the steps of an unrolled recurrence share their kernels on js", () =>
  agrees("js", createCpuDevice({ poison: true })));

for (const threads of [1, 2])
  test(`the steps of an unrolled recurrence share their kernels on wasm, ${threads} threads`, () =>
    agrees("wasm", wasmDevice({ threads, relaxed: false })));

test("webgpu, whose bindings cannot begin anywhere, states no starts", () => {
  const { artifact } = compileProgram(recurrence(), { target: "webgpu" });
  assert.ok(artifact.plan.steps.every((s) => s.starts === undefined));
});

test.run();
