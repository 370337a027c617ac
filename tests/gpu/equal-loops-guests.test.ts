/** Groups of equal loops that become one kernel take along what ran beside each of them. */
import { param, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { gpuTest } from "../support/webgpu.ts";

const size = 32;

gpuTest("an update beside one of several equal loops is stored by their kernel", async () => {
  const device = await guardedGpuDevice();
  const params = Array.from({ length: 6 }, () => param(new Float32Array(size)));
  const [a, b, c, d, e, f] = params as [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor];
  const sum = a.add(b);
  const updates = [
    [a, sum],
    [c, c.add(f)],
    [d, d.add(b)],
    [e, c.mul(0.5)],
    [f, f.add(f)],
  ] as const;
  const program = { inputs: [], outputs: [{ name: "y", value: sum.mul(2).add(1) }], updates };
  const feeds = new Map<Tensor, Value>();
  for (const [k, t] of params.entries()) {
    const data = Float64Array.from({ length: size }, (_, i) => k + i / 64);
    feeds.set(t, { dtype: "f32", shape: [size], data });
  }
  const want = evaluateProgram(program, feeds);
  const { values } = await runProgram(program, feeds, {}, device, { target: "webgpu" });
  for (const [i, { data }] of values.entries())
    assert.equal([...data], [...want[i]!.data], `result ${i}`);
});

test.run();
