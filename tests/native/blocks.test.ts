/**
 * Weights in blocks of few bits on the native target, whose loops in lanes are four wide whatever
 * the machine's vectors are: against the reference, with the other operand in floats and in
 * integers.
 */
import { constant, input, quantizedOf, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { nativeOptions, nativeTest } from "../support/native.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

const depth = 96;
const columns = 10;

nativeTest("products of weights in blocks agree with the reference", async (device) => {
  const feeds = new Map<Tensor, Value>();
  const feed = (t: Tensor, at: (i: number) => number): Tensor => {
    const shape = t.shape as number[];
    const data = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => at(i));
    feeds.set(t, { dtype: t.dtype, shape, data });
    return t;
  };
  const outputs = [];
  for (const bits of [4, 8] as const)
    for (const rows of [1, 3])
      for (const activations of ["f32", "i8"] as const) {
        const name = `${bits}_${rows}_${activations}`;
        const x = feed(input(`x${name}`, "f32", [rows, depth]), (i) => Math.sin(i * 0.7));
        const words = feed(
          input(`w${name}`, "u32", [columns, (depth * bits) / 32]),
          (i) => Math.imul(i + 1, 0x9e3779b1) >>> 0,
        );
        const scales = feed(input(`s${name}`, "f32", [columns, depth / 32]), (i) => 0.01 + i / 999);
        const w = quantizedOf({ words, scales }, { bits }, depth);
        outputs.push({
          name: `y${name}`,
          value: w.product(x, { activations }).add(constant(1, "f32")),
        });
      }
  const program = { inputs: [...feeds.keys()], outputs, updates: [] };
  const want = evaluateProgram(program, feeds);
  const { values } = await runProgram(program, feeds, {}, device, nativeOptions);
  for (const [i, { data }] of values.entries())
    for (const [k, v] of data.entries()) {
      const expected = want[i]!.data[k]!;
      assert.ok(
        Math.abs(v - expected) <= 2e-5 * Math.max(4, Math.abs(expected)),
        `${outputs[i]!.name}[${k}]: got ${v}, want ${expected}`,
      );
    }
});

test.run();
