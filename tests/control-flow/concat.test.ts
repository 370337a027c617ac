/** Results of loops that go into a concatenation: they lie where the loop says, not in their part of it. */

import { concat, input, scan, type Tensor, zeros } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

const sum = (x: Tensor, reverse: boolean): Tensor =>
  scan([zeros([4], "f32")], [x], ([c], [v]) => ({ carry: [c!.mul(0.5).add(v!)], ys: [] }), {
    reverse,
  }).carry[0]!;

test("two loops whose last values are concatenated along the leading axis", async () => {
  const x = input("x", "f32", [5, 4]);
  const both = concat([sum(x, false), sum(x, true)], 0);
  const program = { inputs: [x], outputs: [{ name: "y", value: both }], updates: [] };
  const data = Float64Array.from({ length: 20 }, (_, i) => i);
  const feeds = new Map([[x, { dtype: "f32", shape: [5, 4], data } as const]]);
  const device = guardedCpuDevice();
  for (const fusion of [true, false]) {
    const { values } = await runProgram(program, feeds, {}, device, { target: "js", fusion });
    assert.ok(sameValue(values[0]!, evaluateProgram(program, feeds, {})[0]!), `fusion ${fusion}`);
  }
});

test.run();
