/**
 * f16 and bf16 on js: each of the 65,536 patterns is read as the number it stands for and written back, numbers round to
 * nearest with ties to even, and random programs give the bits of the reference, fused or not, every op rounded or not.
 */
import {
  convert,
  type Dtype,
  fromHost,
  input,
  makeValue,
  roundTo,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { createCpuDevice } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { agreesOnJs } from "../support/targets.ts";

const halves = ["f16", "bf16"] as const;
const device = createCpuDevice();

const program = (inputs: Tensor[], ...values: Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** The values of the 65,536 patterns. */
const everyValue = (dtype: Dtype): Value => ({
  dtype,
  shape: [65536],
  data: fromHost(
    dtype,
    Uint16Array.from({ length: 65536 }, (_, i) => i),
  ),
});

for (const dtype of halves)
  test(`every pattern of ${dtype} becomes its number, and comes back`, async () => {
    const x = input("x", dtype, [65536]);
    const y = input("y", "f64", [65536]);
    const value = everyValue(dtype);
    const wide = { ...value, dtype: "f64" } as const;
    const feeds = new Map<Tensor, Value>([
      [x, value],
      [y, wide],
    ]);
    const p = program([x, y], convert(x, "f64"), convert(y, dtype));
    const { values } = await runProgram(p, feeds, {}, device, { target: "js" });
    assert.ok(sameValue(values[0]!, wide));
    assert.ok(sameValue(values[1]!, value));
  });

/** Doubles beside and between the values of a dtype, where rounding is decided, and what lies around its range. */
function decisive(dtype: Dtype): number[] {
  const { data } = everyValue(dtype);
  const out: number[] = [];
  for (let i = 0; i < 0x7fff; i += 3) {
    const [a, b] = [data[i]!, data[i + 1]!];
    const middle = (a + b) / 2;
    if (Number.isFinite(b)) out.push(middle, middle * (1 + 2 ** -40), middle * (1 - 2 ** -40));
  }
  const edges = [65519.99, 65520, 3.39617e38, 3.4028235e38, 1e300, 5e-324, 2 ** -25, 2 ** -149];
  out.push(...edges, 0, Infinity, Number.NaN);
  return [...out, ...out.map((x) => -x)];
}

for (const dtype of halves)
  test(`numbers are rounded to the nearest ${dtype}, ties to even`, async () => {
    const numbers = decisive(dtype);
    const x = input("x", "f64", [numbers.length]);
    const feeds = new Map([[x, makeValue("f64", [numbers.length], numbers)]]);
    const { values } = await runProgram(program([x], convert(x, dtype)), feeds, {}, device, {
      target: "js",
    });
    numbers.forEach((from, i) => {
      const want = roundTo(dtype, from);
      if (!Object.is(values[0]!.data[i], want)) assert.is(values[0]!.data[i], want, `from ${from}`);
    });
  });

for (const symbolic of [false, true])
  test(`programs of f16 and bf16 have the bits of the reference, ${symbolic ? "symbolic" : "static"} shapes`, () =>
    fc.assert(
      fc.asyncProperty(
        randomProgram({ symbolic, dtypes: ["f16", "bf16", "f16", "i32"] }),
        async ({ program: random, feeds }) => {
          const sized = input("sized", "i32", ["N"]);
          const p = symbolic ? { ...random, inputs: [...random.inputs, sized] } : random;
          for (const dims of symbolic ? sampleDims : [{}]) await agreesOnJs(p, feeds(dims), dims);
        },
      ),
      { numRuns: runs(100) },
    ));

test("sums, products and their readers round where they are made, whichever way the program is fused", async () => {
  for (const dtype of halves) {
    const [x, w] = [input("x", dtype, [6, 33]), input("w", dtype, [33, 7])];
    const wave = (n: number, k: number) => Array.from({ length: n }, (_, i) => Math.cos(i * k));
    const feeds = new Map([
      [x, makeValue(dtype, [6, 33], wave(198, 1.3))],
      [w, makeValue(dtype, [33, 7], wave(231, 0.7))],
    ]);
    const y = x.matmul(w);
    const p = program(
      [x, w],
      y.add(1).tanh(),
      x.sum(1),
      x.sum(0),
      x.cumsum(1),
      w.argMax(0),
      x.max(),
    );
    await agreesOnJs(p, feeds);
    const want = evaluateProgram(p, feeds);
    const { values } = await runProgram(p, feeds, {}, device, { target: "js" });
    for (const [i, v] of values.entries())
      v.data.forEach((got, k) => {
        const unit = dtype === "f16" ? 2 ** -10 : 2 ** -7;
        assert.ok(Math.abs(got - want[i]!.data[k]!) <= unit * Math.abs(got), `result ${i}`);
      });
  }
});

test.run();
