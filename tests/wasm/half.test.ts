/**
 * f16 and bf16 on wasm through compiled programs: every pattern becomes the f32 that it stands for, and f32 is rounded to
 * nearest, ties to even; both dtypes come in, go out and stand in sums as stored, plain and relaxed.
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
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { agreesOnWasm } from "../support/targets.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";

const halves = ["f16", "bf16"] as const;
const one = variants.filter((v) => v.threads === 1);

const program = (inputs: Tensor[], ...values: Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

async function onWasm(p: Program, feeds: ReadonlyMap<Tensor, Value>, variant = one[0]!) {
  const { values } = await runProgram(p, feeds, {}, wasmDevice(variant), { target: "wasm" });
  return values;
}

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
  for (const variant of one)
    test(`every pattern of ${dtype} becomes its f32, and comes back, ${nameOfVariant(variant)}`, async () => {
      const x = input("x", dtype, [65536]);
      const value = everyValue(dtype);
      const feeds = new Map([[x, value]]);
      const [wide] = await onWasm(program([x], convert(x, "f32")), feeds, variant);
      assert.ok(sameValue(wide!, { ...value, dtype: "f32" }));
      const y = input("y", "f32", [65536]);
      const [narrow] = await onWasm(
        program([y], convert(y, dtype)),
        new Map([[y, wide!]]),
        variant,
      );
      assert.ok(sameValue(narrow!, value));
    });

/** Floats beside and between the values of a dtype: where rounding is decided. */
function decisive(dtype: Dtype): Float32Array {
  const word = new Float32Array(1);
  const bits = new Int32Array(word.buffer);
  const out: number[] = [];
  const beside = (x: number): void => {
    for (const step of [-1, 0, 1]) {
      word[0] = x;
      bits[0] = bits[0]! + step;
      out.push(word[0]!);
    }
  };
  const { data } = everyValue(dtype);
  for (let i = 0; i < 0x7fff; i++) {
    const [a, b] = [data[i]!, data[i + 1]!];
    if (Number.isFinite(b)) beside((a + b) / 2);
  }
  out.push(65519.996, 65520, 3.3961775e38, 3.4028235e38, 2 ** -149, 2 ** -25, 2 ** -24);
  return Float32Array.from([...out, ...out.map((x) => -x), 0, -0, Infinity, -Infinity, Number.NaN]);
}

for (const dtype of halves)
  for (const variant of one)
    test(`f32 is rounded to the nearest ${dtype}, ties to even, ${nameOfVariant(variant)}`, async () => {
      const numbers = decisive(dtype);
      const x = input("x", "f32", [numbers.length]);
      const feeds = new Map([[x, makeValue("f32", [numbers.length], numbers)]]);
      const [got] = await onWasm(program([x], convert(x, dtype)), feeds, variant);
      numbers.forEach((from, i) => {
        const want = roundTo(dtype, from);
        if (!Object.is(got!.data[i], want)) assert.is(got!.data[i], want, `from ${from}`);
      });
    });

const floats = fc.array(fc.float({ noNaN: true, min: -64, max: 64 }), {
  minLength: 6,
  maxLength: 40,
});

for (const dtype of halves) {
  test(`ops on ${dtype} round where they are made`, () =>
    fc.assert(
      fc.asyncProperty(floats, async (numbers) => {
        const n = numbers.length;
        const [x, y] = [input("x", dtype, [n]), input("y", dtype, [n])];
        const p = program([x, y], x.add(y), x.mul(y), x.sub(y).abs(), x.maximum(y), x.neg());
        const feeds = new Map([
          [x, makeValue(dtype, [n], numbers)],
          [y, makeValue(dtype, [n], [...numbers].reverse())],
        ]);
        const want = evaluateProgram(p, feeds);
        for (const [i, v] of (await onWasm(p, feeds)).entries())
          assert.ok(sameValue(v, want[i]!), `${i}: got ${v.data}, want ${want[i]!.data}`);
      }),
      { numRuns: runs(20) },
    ));

  test(`sums and products of ${dtype} are rounded once, at their end`, async () => {
    const [x, w] = [input("x", dtype, [6, 33]), input("w", dtype, [33, 7])];
    const wave = (n: number, k: number) => Array.from({ length: n }, (_, i) => Math.cos(i * k));
    const feeds = new Map([
      [x, makeValue(dtype, [6, 33], wave(198, 1.3))],
      [w, makeValue(dtype, [33, 7], wave(231, 0.7))],
    ]);
    const p = program([x, w], x.sum(1), x.max(0), x.matmul(w), x.cumsum(1), w.argMax(0));
    const want = evaluateProgram(p, feeds);
    // The sum in f32 may lie on the other side of a tie.
    const unit = dtype === "f16" ? 2 ** -10 : 2 ** -7;
    for (const variant of variants)
      for (const [i, v] of (await onWasm(p, feeds, variant)).entries())
        v.data.forEach((got, k) => {
          const expected = want[i]!.data[k]!;
          const allowed = unit * Math.abs(expected) + 1e-5;
          assert.ok(Math.abs(got - expected) <= allowed, `${i}: got ${got}, want ${expected}`);
        });
  });

  test(`partial sums and products of ${dtype} are not rounded`, async () => {
    // 256·16·256 is beyond f16, and what comes after takes it back.
    const deep = [...new Array(256).fill(256), ...new Array(255).fill(-256), -255];
    for (const [rows, columns] of [
      [1, 1],
      [1, 8],
      [6, 33],
    ] as const) {
      const [x, w] = [input("x", dtype, [rows, 512]), input("w", dtype, [512, columns])];
      const feeds = new Map([
        [x, makeValue(dtype, [rows, 512], Array.from({ length: rows }, () => deep).flat())],
        [w, makeValue(dtype, [512, columns], new Array(512 * columns).fill(16))],
      ]);
      for (const variant of variants)
        for (const v of await onWasm(program([x, w], x.matmul(w)), feeds, variant))
          assert.ok(
            v.data.every((y) => y === 16),
            `${rows} by ${columns}: ${v.data}`,
          );
    }
    // Down the columns, along the rows, and running: by 1s, of which bf16 counts to 256.
    const ones = input("ones", dtype, [1000, 12]);
    const feeds = new Map([[ones, makeValue(dtype, [1000, 12], new Array(12000).fill(1))]]);
    const last = (t: Tensor, axis: number) => t.sliceAxis(axis, -1, t.shape[axis]!);
    const across = ones.transpose([1, 0]);
    const p = program(
      [ones],
      ones.sum(0),
      across.sum(1),
      last(ones.cumsum(0), 0),
      last(across.cumsum(1), 1),
      ones.sum(),
    );
    for (const fusion of [true, false])
      for (const v of (
        await runProgram(p, feeds, {}, wasmDevice(one[0]!), { target: "wasm", fusion })
      ).values)
        assert.ok(
          v.data.every((y) => y === roundTo(dtype, v.data.length > 1 ? 1000 : 12000)),
          `${v.data}`,
        );
  });

  test(`a sum of ${dtype} is rounded before its readers in the kernel`, async () => {
    const x = input("x", dtype, [20, 300]);
    const wave = Array.from({ length: 6000 }, (_, i) => Math.cos(i * 1.3));
    const feeds = new Map([[x, makeValue(dtype, [20, 300], wave)]]);
    for (const f of [
      (t: Tensor) => t.sum(0),
      (t: Tensor) => t.sum(1),
      (t: Tensor) => t.prod(1),
      (t: Tensor) => t.cumsum(0),
      (t: Tensor) => t.cumsum(1),
    ]) {
      const y = f(x);
      const [own, wide] = await onWasm(program([x], y, y.convert("f32")), feeds);
      assert.equal([...own!.data], [...wide!.data]);
    }
  });

  test(`weights in ${dtype} are widened as they are packed, in one kernel`, async () => {
    const [x, w] = [input("x", "f32", [5, 19]), input("w", dtype, [19, 11])];
    const wave = (n: number, k: number) => Array.from({ length: n }, (_, i) => Math.sin(i * k));
    const feeds = new Map([
      [x, makeValue("f32", [5, 19], wave(95, 1.7))],
      [w, makeValue(dtype, [19, 11], wave(209, 0.9))],
    ]);
    const p = program([x, w], x.matmul(w.convert("f32")).relu());
    await agreesOnWasm(p, feeds);
    const { kernels } = await runProgram(p, feeds, {}, wasmDevice(one[0]!), { target: "wasm" });
    assert.is(kernels, 1);
  });
}

test.run();
