/**
 * The js target and the reference: bit for bit when f32 is rounded at every op, fused and not, on random programs.
 */

import { input } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, printProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";

const device = guardedCpuDevice();

for (const fusion of [true, false])
  for (const symbolic of [false, true])
    test(`js equals the reference bit for bit, fusion ${fusion ? "on" : "off"}, ${symbolic ? "symbolic" : "static"} shapes`, async () => {
      await fc.assert(
        fc.asyncProperty(randomProgram({ symbolic }), async ({ program: random, feeds }) => {
          // A symbol must be an extent of some input, or a run cannot know it.
          const sized = input("sized", "i32", ["N"]);
          const program = symbolic ? { ...random, inputs: [...random.inputs, sized] } : random;
          for (const dims of symbolic ? sampleDims : [{}]) {
            const given = feeds(dims);
            const want = evaluateProgram(program, given, dims);
            const options = { target: "js", fusion, rounding: "each-op" } as const;
            const { values } = await runProgram(program, given, dims, device, options);
            values.forEach((v, i) => {
              assert.ok(
                sameValue(v, want[i]!),
                `result ${i}: got ${v.data}, want ${want[i]!.data}\n${printProgram(program)}`,
              );
            });
          }
        }),
        { numRuns: runs(150) },
      );
    });

test.run();
