/**
 * One training step of random small networks: the js target equals the reference bit for bit when it rounds at every op,
 * and wasm and webgpu are within a thousandth of the largest element of each result, or what rounding
 * of every op can move it by.
 */

import type { TargetName } from "@kiln-ml/artifact";
import { evaluate, initialValueOf, makeValue, type Tensor, type Value } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { leavesOf, type Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { type Architecture, architectures, rate, stepOf } from "../support/networks.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { tolerances } from "../support/tolerance.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";

interface Training {
  readonly program: Program;
  readonly feeds: ReadonlyMap<Tensor, Value>;
}

/** A step of the network on fixed data, with the first values of all its state. */
function training(a: Architecture): Training {
  const program = stepOf(a);
  const [x, y] = program.inputs as [Tensor, Tensor];
  const shape = x.shape as readonly number[];
  const size = shape.reduce((m, n) => m * n, 1);
  const noise = Array.from({ length: size }, (_, i) => Math.fround(Math.sin(12.9898 * (i + 1))));
  const feeds = new Map<Tensor, Value>([
    [x, makeValue("f32", shape, noise)],
    [y, makeValue("i32", [a.batch], [0, 1, 2, 0, 1].slice(0, a.batch))],
  ]);
  for (const p of leavesOf(program))
    if (p.op === "param") feeds.set(p, evaluate([initialValueOf(p)])[0]!);
  return { program, feeds };
}

const nameOf = ({ program }: Training, i: number): string =>
  i === 0 ? "loss" : String(program.updates[i - 1]![0].attrs.name);

test("js: a step of a random network equals the reference bit for bit", async () => {
  const device = guardedCpuDevice();
  await fc.assert(
    fc.asyncProperty(architectures, async (architecture) => {
      const t = training(architecture);
      const want = evaluateProgram(t.program, t.feeds);
      const options = { target: "js", rounding: "each-op" } as const;
      const { values } = await runProgram(t.program, t.feeds, {}, device, options);
      values.forEach((v, i) => {
        assert.ok(
          sameValue(v, want[i]!),
          `${nameOf(t, i)}: got ${v.data}, want ${want[i]!.data}\n${printProgram(t.program)}`,
        );
      });
    }),
    { numRuns: runs(20) },
  );
});

/** A bias before a normalisation has a gradient of 0, and centered RMSProp divides its rounding by itself. */
const isStable = (a: Architecture): boolean => !(a.norm && a.optimizer === "rmsProp");

async function checkStep(
  architecture: Architecture,
  device: Device,
  target: TargetName,
): Promise<void> {
  const t = training(architecture);
  const want = evaluateProgram(t.program, t.feeds);
  const { values } = await runProgram(t.program, t.feeds, {}, device, { target });
  values.forEach((v, i) => {
    const expected = want[i]!.data;
    // A bias that starts at 0 has moved by a learning rate at most: that is the scale of its error, not what it is now.
    const allowed = 1e-3 * expected.reduce((m, e) => Math.max(m, Math.abs(e)), rate);
    const isFar = (e: number, more: number, j: number): boolean =>
      !(Math.abs(e - expected[j]!) <= Math.max(allowed, more));
    if (!v.data.some((e, j) => isFar(e, 0, j))) return;
    // LayerNorm of two values that are nearly equal multiplies their rounding by thousands.
    const conditioned = tolerances(t.program, t.feeds, {}, want)[i]!;
    const off = v.data.findIndex((e, j) => isFar(e, conditioned[j]!, j));
    assert.is(off, -1, `${nameOf(t, i)}: got ${v.data}, want ${expected}`);
  });
}

for (const variant of variants)
  test(`wasm: a step of a random network agrees with the reference, ${nameOfVariant(variant)}`, async () => {
    await fc.assert(
      fc.asyncProperty(architectures.filter(isStable), (architecture) =>
        checkStep(architecture, wasmDevice(variant), "wasm"),
      ),
      { numRuns: runs(10) },
    );
  });

gpuTest("webgpu: a step of a random network agrees with the reference", async () => {
  const device = await guardedGpuDevice();
  await fc.assert(
    fc.asyncProperty(architectures.filter(isStable), (architecture) =>
      checkStep(architecture, device, "webgpu"),
    ),
    // A software adapter takes seconds to build the pipelines of one network, too long to shrink.
    { numRuns: runs(3), endOnFailure: true },
  );
  device.destroy();
});

test.run();
