/**
 * Names of users in C: macros, words and backslashes; and kernels that are equal but for their
 * names.
 */
import { dim, fromHost, input } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { lanesOf } from "../../compiler/src/kernel/lanes.ts";
import type { Program } from "../../compiler/src/program.ts";
import { emitNative } from "../../compiler/src/targets/native/emit.ts";
import { casesOf, kernelOf, operandsOf, size, wantedOf } from "../printers/records.ts";
import { arrayOf } from "../printers/run-js.ts";
import { nativeOptions, nativeTest } from "../support/native.ts";
import { runProgram } from "../support/run.ts";
import { runNative } from "../support/run-native.ts";

/** What `kiln.h`, the headers that it includes and compilers define, and what ends a line. */
const names =
  "BYTES LANES NAN INFINITY M_PI HUGE_VAL INLINE UINT32_MAX FP_NAN NULL math_errhandling i386 unix " +
  "__LINE__ ALL ROUND EACH SHUFFLE memcpy exp vf long mem args from stack 1x x\\";

nativeTest("inputs and symbols may be called what C has words and macros for", async (device) => {
  const N = dim("NAN");
  const inputs = [...names.split(" "), "blank after \\ "].map((name) => input(name, "f32", [N]));
  const value = inputs.reduce((a, b) => a.add(b)).exp();
  const program: Program = { inputs, outputs: [{ name: "y", value }], updates: [] };
  const ramp = inputs.map((x, i) => [x, { dtype: "f32", shape: [3], data: [0, i, -i] }] as const);
  const sum = (inputs.length * (inputs.length - 1)) / 2;
  const feeds = new Map(
    ramp.map(([x, v]) => [x, { ...v, data: v.data.map((n) => n / sum) }] as const),
  );
  const { values } = await runProgram(program, feeds as never, { NAN: 3 }, device, nativeOptions);
  values[0]!.data.forEach((got, i) => {
    const want = Math.exp([0, 1, -1][i]!);
    assert.ok(Math.abs(got - want) < 1e-5, `element ${i}: ${got}, not ${want}`);
  });
});

nativeTest(
  "kernels that are equal but for their names are all run, optimised as they are",
  async () => {
    const cases = casesOf(["f32", "i32", "u8"]).filter((c) =>
      /^(neg|convert|abs|add) /.test(c.name),
    );
    const lanes = lanesOf(nativeOptions.features);
    const calls = cases.flatMap((c, i) =>
      ["a", "b"].map((name) => {
        const operands = operandsOf(c, false);
        const out = arrayOf(c.result, new Array<number>(size).fill(0));
        const arrays = [...operands.map((x, k) => arrayOf(c.dtypes[k]!, x)), out];
        const kernel = { ...kernelOf(c, 1, "simd"), name: `${name}${i}` };
        return { c, operands, text: emitNative(kernel, lanes), arrays, out };
      }),
    );
    await runNative(calls, "-O2");
    for (const { c, operands, out, text } of calls)
      assert.equal([...fromHost(c.result, out as never)], [...wantedOf(c, operands)], text.name);
  },
);

test.run();
