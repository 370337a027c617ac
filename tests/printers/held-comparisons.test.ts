/**
 * What a program compares are values as memory holds them, however it is fused:
 * a number is never less than what it is stored as.
 */
import { argMax, argMin, input, type Tensor } from "@kiln-ml/ir";
import { createCpuDevice, load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";

const count = 512;

/** Results of a program of two vectors, by default rounding. */
async function resultsOf(
  make: (x: Tensor, y: Tensor) => Tensor[],
  fusion = true,
): Promise<number[][]> {
  const [x, y] = [input("x", "f32", [count]), input("y", "f32", [count])];
  const outputs = make(x, y).map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [x, y], outputs, updates: [] };
  const device = createCpuDevice();
  const { artifact } = compileProgram(program, { target: "js", fusion });
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

test("remainders, powers, conversions and positions jump where they do without fusion", async () => {
  const make = (x: Tensor, y: Tensor): Tensor[] => {
    const t = x.mul(y).add(x);
    const tiny = x.mul(1e-30).mul(1e-30);
    const whole = x.mul(8).round().mul(0.1).mul(10);
    const close = x
      .mul(1e-9)
      .add(1)
      .reshape([8, count / 8]);
    return [
      t.rem(t.maximum(0)),
      y.abs().neg().pow(whole),
      whole.mul(3).convert("i32"),
      tiny.convert("bool"),
      tiny.reciprocal().isFinite(),
      x.mul(1e30).mul(1e30).isFinite(),
      t.convert("f64"),
      argMax(close, 1),
      argMin(close, 1),
    ];
  };
  const [fused, alone] = [await resultsOf(make), await resultsOf(make, false)];
  for (const [i, result] of fused.entries())
    for (const [k, value] of result.entries()) {
      const want = alone[i]![k]!;
      const same = Object.is(value, want) || Math.abs(value - want) <= 1e-6 * Math.abs(want);
      const exact = i === 6 ? value === Math.fround(value) : same;
      assert.ok(exact, `result ${i}, element ${k}: ${value}, and alone ${want}`);
    }
});

test.run();
