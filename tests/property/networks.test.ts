/**
 * One training step of random networks of every kind of layer: js equals the reference bit for bit, and on webgpu every kernel is
 * valid and binds no more than what is guaranteed, or than half of that.
 */

import {
  evaluate,
  evaluateDim,
  initialValueOf,
  makeValue,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { leavesOf, type Program } from "../../compiler/src/program.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { networks, stepOfNetwork } from "../support/layers.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { nullDevice } from "../support/webgpu.ts";

type Dims = Readonly<Record<string, number>>;

function inputOf(t: Tensor, dims: Dims): Value {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  const number = (i: number) => (t.dtype === "i32" ? (i * 7) % 3 : Math.sin(12.9898 * (i + 1)));
  return makeValue(
    t.dtype,
    shape,
    Array.from({ length: size }, (_, i) => number(i)),
  );
}

/** Fixed inputs, and the first values of all state. */
function feedsOf(program: Program, dims: Dims): Map<Tensor, Value> {
  const feeds = new Map(program.inputs.map((t) => [t, inputOf(t, dims)]));
  for (const p of leavesOf(program))
    if (p.op === "param") feeds.set(p, evaluate([initialValueOf(p)])[0]!);
  return feeds;
}

test("js: a step of a random network of any layers equals the reference bit for bit", async () => {
  const device = guardedCpuDevice();
  const options = { target: "js", rounding: "each-op" } as const;
  await fc.assert(
    fc.asyncProperty(networks(), fc.integer({ min: 1, max: 3 }), async (network, B) => {
      const program = stepOfNetwork(network);
      const feeds = feedsOf(program, { B });
      const want = evaluateProgram(program, feeds, { B });
      const { values } = await runProgram(program, feeds, { B }, device, options);
      for (const [i, v] of values.entries())
        assert.ok(
          sameValue(v, want[i]!),
          `result ${i}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
        );
    }),
    { numRuns: runs(8) },
  );
});

for (const most of [4, 8])
  test(`webgpu: a step of a random network of any layers keeps within ${most} bindings`, () => {
    const limits = { maxStorageBuffersPerShaderStage: most };
    fc.assert(
      fc.property(networks(8), (network) => {
        const program = stepOfNetwork(network);
        const { artifact } = compileProgram(program, { target: "webgpu", limits });
        for (const k of artifact.kernels)
          assert.ok(k.bindings.length <= most, `${k.name} binds ${k.bindings.length}`);
      }),
      { numRuns: runs(5) },
    );
  });

test("webgpu: every kernel of a step of a random network of any layers is valid", async () => {
  const device = await nullDevice();
  await fc.assert(
    fc.asyncProperty(networks(4), async (network) => {
      const program = stepOfNetwork(network);
      const { artifact } = compileProgram(program, { target: "webgpu" });
      for (const k of artifact.kernels) assert.equal(await problemsOf(device, k), [], k.text);
    }),
    // Hundreds of kernels a network.
    { numRuns: runs(2), endOnFailure: true },
  );
  device.destroy();
});

test.run();
