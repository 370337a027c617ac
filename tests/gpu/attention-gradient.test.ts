/**
 * Gradients of attention on webgpu, in which nothing of the shape of the scores is stored, against the reference: masked and not,
 * with heads that share keys, with weights dropped, in memory that held NaN.
 */
import type { Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest } from "../support/webgpu.ts";
import {
  builds,
  droppedStep,
  sharedKeysStep,
  sizes,
  stepOf,
  valuesFor,
} from "./attention-programs.ts";

/** Leaves buffers full of NaN to be used again. */
function poison(device: Device, sizes: Iterable<number>): void {
  const arrays = [...sizes].flatMap((size) =>
    Array.from({ length: 4 }, () => device.upload(new Float32Array(size).fill(NaN), "f32", [size])),
  );
  for (const a of arrays) a.dispose();
}

async function agrees(program: Program): Promise<void> {
  const device = await guardedGpuDevice();
  const feeds = valuesFor(program.inputs);
  const want = evaluateProgram(program, feeds, {});
  poison(device, new Set(want.map((v) => v.data.length)));
  const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
  for (const [i, { data: got }] of values.entries()) {
    const expected = want[i]!.data;
    const most = expected.reduce((m, e) => Math.max(m, Math.abs(e)), 1);
    const off = got.findIndex((e, j) => !(Math.abs(e - expected[j]!) <= 2e-5 * most));
    assert.is(off, -1, `result ${i} at ${off}: ${got[off]}, ${expected[off]}`);
  }
  device.destroy();
}

// A pipeline takes a software device a second or more, so not every pair.
const cases: Record<string, () => Program> = {
  "one query of one key": () => stepOf(builds.plain, sizes.ones),
  "a causal mask, in many workgroups": () => stepOf(builds.causal, sizes.many),
  "two masks": () => stepOf(builds["with a mask"], sizes.long),
  "weights that are dropped": () => droppedStep(sizes.few),
  "wide heads, and what comes before and after": () =>
    stepOf(builds["with what comes before and after"], {
      ...sizes.widest,
      depth: 20,
      columns: 140,
    }),
  "a bias and heads that share keys": sharedKeysStep,
};

for (const [name, build] of Object.entries(cases))
  gpuTest(`gradients of attention with ${name} agree with the reference`, () => agrees(build()));

test.run();
