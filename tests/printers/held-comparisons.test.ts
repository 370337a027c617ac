/**
 * What a program compares are values as memory holds them, however it is fused:
 * a number is never less than what it is stored as.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import { createCpuDevice, load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";

const count = 512;

/** Results of a program of two vectors, by default rounding. */
async function resultsOf(make: (x: Tensor, y: Tensor) => Tensor[]): Promise<number[][]> {
  const [x, y] = [input("x", "f32", [count]), input("y", "f32", [count])];
  const outputs = make(x, y).map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [x, y], outputs, updates: [] };
  const device = createCpuDevice();
  const { artifact } = compileProgram(program, { target: "js" });
  const exe = await load(artifact, device, { states: [] });
  const feeds = [0.37, 0.73].map((step) =>
    device.upload(
      Float32Array.from({ length: count }, (_, i) => Math.sin(step * (i + 1))),
      "f32",
      [count],
    ),
  );
  const results = await Promise.all(
    (await exe.run(feeds)).map(async (r) => [...(await r.data())].map(Number)),
  );
  device.destroy();
  return results;
}

test("a value is no less than what is stored of it, and equal where that is itself", async () => {
  const [most, less, equal] = await resultsOf((x, y) => {
    const t = x.mul(y).add(x);
    const most = t.maximum(0);
    return [most, t.less(most), t.equal(most)];
  });
  for (const [i, value] of most!.entries()) {
    if (value <= 0) continue;
    assert.is(less![i], 0, `element ${i}`);
    assert.is(equal![i], 1, `element ${i}`);
  }
});

test.run();
