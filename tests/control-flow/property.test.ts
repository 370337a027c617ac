/**
 * Random programs with regions: js gives the bits of the reference, fused and not; wasm, on one thread and two, and webgpu
 * are near it; text is read back as the same program.
 */

import type { Value } from "@kiln-ml/ir";
import type { Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { inRegions } from "../../compiler/src/passes/in-regions.ts";
import { graphPasses } from "../../compiler/src/pipeline.ts";
import { rootsOf, sameProgram } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import {
  evaluateProgram,
  parseProgram,
  printProgram,
  sameValue,
  verifyProgram,
} from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest } from "../support/webgpu.ts";
import { type RandomFlow, randomFlow } from "./random.ts";

const near = (got: Value, want: Value): boolean =>
  got.data.every((x, i) => Math.abs(x - want.data[i]!) <= 1e-4 * Math.max(1, Math.abs(x)));

async function agrees(
  { program, feeds }: RandomFlow,
  fusion: boolean,
  device: Device,
  same: typeof near,
): Promise<void> {
  for (const length of [1, 4]) {
    const given = feeds(length);
    const want = evaluateProgram(program, given, { T: length });
    const options = { target: device.target, fusion, rounding: "each-op" } as const;
    const { values } = await runProgram(program, given, { T: length }, device, options);
    for (const [i, v] of values.entries())
      assert.ok(
        same(v, want[i]!),
        `T=${length}, fusion ${fusion}, result ${i}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
      );
  }
}

const one = fc.record({ random: randomFlow(), fusion: fc.boolean() });

test("js: random programs with regions have the bits of the reference", async () => {
  const device = guardedCpuDevice();
  await fc.assert(
    fc.asyncProperty(one, ({ random, fusion }) => agrees(random, fusion, device, sameValue)),
    { numRuns: runs(60) },
  );
});

for (const variant of variants)
  test(`wasm: random programs with regions, ${nameOfVariant(variant)}`, async () => {
    await fc.assert(
      fc.asyncProperty(one, ({ random, fusion }) =>
        agrees(random, fusion, wasmDevice(variant), near),
      ),
      { numRuns: runs(8) },
    );
  });

gpuTest("webgpu: random programs with regions", async () => {
  const device = await guardedGpuDevice();
  await fc.assert(
    fc.asyncProperty(one, ({ random, fusion }) => agrees(random, fusion, device, near)),
    { numRuns: runs(6) },
  );
  device.destroy();
});

for (const pass of graphPasses) {
  const everywhere = inRegions(pass);
  test(`${pass.name} keeps the meaning of regions bit for bit, and finds no work in its own result`, () => {
    fc.assert(
      fc.property(randomFlow(), ({ program, feeds }) => {
        const once = everywhere.run(program);
        verifyProgram(once);
        const [before, after] = [program, once].map((p) => evaluateProgram(p, feeds(2), { T: 2 }));
        for (const [i, v] of before!.entries())
          assert.ok(sameValue(v, after![i]!), `result ${i} differs after\n${printProgram(once)}`);
        assert.ok(sameProgram(everywhere.run(once), once), printProgram(once));
      }),
      { numRuns: runs(40) },
    );
  });
}

test("text of regions is read back as the same graph", () => {
  fc.assert(
    fc.property(randomFlow(), ({ program }) => {
      const text = printProgram(program);
      const back = parseProgram(text);
      verifyProgram(back);
      assert.is(printProgram(back), text);
      assert.is(rootsOf(back).length, rootsOf(program).length);
    }),
    { numRuns: runs(60) },
  );
});

test.run();
