/**
 * f16 and bf16 on js and webgpu: each of the 65,536 patterns is read as the number it stands for and written back, numbers round to
 * nearest with ties to even, and random programs give the bits of the reference, fused or not, every op rounded or not.
 */
import {
  concat,
  convert,
  type Dtype,
  fromHost,
  hostDataOf,
  input,
  makeValue,
  roundTo,
  type Tensor,
  tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import { createCpuDevice, createWasmDevice, type Device } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { randomProgram, sampleDims } from "../support/graphs.ts";
import { guardedGpuDevice } from "../support/guarded-gpu.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { agreesOnJs } from "../support/targets.ts";
import { gpuTest } from "../support/webgpu.ts";

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

async function checkPatterns(dtype: Dtype, real: "f32" | "f64", on: Device): Promise<void> {
  const x = input("x", dtype, [65536]);
  const y = input("y", real, [65536]);
  const value = everyValue(dtype);
  const wide: Value = { ...value, dtype: real };
  const feeds = new Map<Tensor, Value>([
    [x, value],
    [y, wide],
  ]);
  const p = program([x, y], convert(x, real), convert(y, dtype));
  const { values } = await runProgram(p, feeds, {}, on, { target: on.target });
  for (const [i, want] of [wide, value].entries()) {
    const off = want.data.findIndex((e, k) => !Object.is(e, values[i]!.data[k]));
    assert.is(off, -1, `${i}: ${values[i]!.data[off]}, want ${want.data[off]}`);
  }
}

for (const dtype of halves)
  test(`every pattern of ${dtype} becomes its number, and comes back`, () =>
    checkPatterns(dtype, "f64", device));

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

async function checkRounding(dtype: Dtype, real: "f32" | "f64", on: Device): Promise<void> {
  const numbers = decisive(dtype).map((n) => roundTo(real, n));
  const x = input("x", real, [numbers.length]);
  const feeds = new Map([[x, makeValue(real, [numbers.length], numbers)]]);
  const p = program([x], convert(x, dtype));
  const { values } = await runProgram(p, feeds, {}, on, { target: on.target });
  numbers.forEach((from, i) => {
    const want = roundTo(dtype, from);
    if (!Object.is(values[0]!.data[i], want)) assert.is(values[0]!.data[i], want, `from ${from}`);
  });
}

for (const dtype of halves)
  test(`numbers are rounded to the nearest ${dtype}, ties to even`, () =>
    checkRounding(dtype, "f64", device));

/** From a dtype of more digits than f32 has, to a half: what two roundings would get wrong. */
const rounded: readonly (readonly [Dtype, Dtype, number, number])[] = [
  ["f64", "f16", 65519.999, 65504],
  ["f64", "f16", 1 + 2 ** -11 + 2 ** -40, 1 + 2 ** -10],
  ["f64", "f16", 2 ** -25 * (1 + 2 ** -40), 2 ** -24],
  ["f64", "bf16", 1 + 2 ** -8 + 2 ** -30, 1.0078125],
  ["f64", "bf16", -1 - 2 ** -8 - 2 ** -30, -1.0078125],
  ["f64", "bf16", 1 + 3 * 2 ** -8 - 2 ** -30, 1.0078125],
  ["f64", "bf16", 1e300, Infinity],
  ["i32", "bf16", 2 ** 30 + 2 ** 22 + 1, 2 ** 30 + 2 ** 23],
  ["i32", "bf16", -(2 ** 30 + 2 ** 22 + 1), -(2 ** 30 + 2 ** 23)],
  ["i32", "bf16", 257, 256],
  ["i32", "bf16", -(2 ** 31), -(2 ** 31)],
  ["u32", "bf16", 2 ** 31 + 2 ** 23 + 1, 2 ** 31 + 2 ** 24],
];

async function checkRoundedOnce(on: Device): Promise<void> {
  for (const [from, to, number, want] of rounded) {
    if (from === "f64" && on.target === "webgpu") continue;
    const x = input("x", from, [1]);
    const feeds = new Map([[x, makeValue(from, [1], [number])]]);
    const { values } = await runProgram(program([x], convert(x, to)), feeds, {}, on, {
      target: on.target,
    });
    assert.is(values[0]!.data[0], want, `${number} of ${from} as ${to} on ${on.target}`);
  }
}

test("numbers of more digits than f32 has become halves in one rounding", async () => {
  for (const [from, to, number, want] of rounded) {
    assert.is(roundTo(to, number), want, `${number} of ${from} as ${to}`);
    assert.is(fromHost(to, toHost(to, [number]))[0], want);
    const uploaded = device.upload([number], to, [1]);
    assert.is(fromHost(to, (await uploaded.data()) as Uint16Array)[0], want);
  }
  for (const on of [device, createWasmDevice({ threads: 1 })]) await checkRoundedOnce(on);
});

test("bits that a half's data() gave are taken back as bits, and a Float16Array as f16", () => {
  const bits = Uint16Array.of(0x3c00, 0xc000, 0x7c00, 0x0001);
  for (const dtype of halves) {
    const back = tensor(bits, { dtype, shape: [2, 2] });
    assert.equal([...hostDataOf(back)], [...bits]);
    assert.is.not(hostDataOf(back), bits, "it is a copy");
  }
  assert.equal([...hostDataOf(tensor(Uint16Array.of(7, 9), { dtype: "i32" }))], [7, 9]);
  assert.throws(
    () => tensor(bits),
    /a Uint16Array has no dtype of its own\n {2}of bits of halves, say which/,
  );
  // Engines that lack it have its elements as bits all the same.
  class Halves extends Uint16Array {
    override get [Symbol.toStringTag](): "Uint16Array" {
      return "Float16Array" as "Uint16Array";
    }
  }
  const own = Halves.from(bits);
  assert.equal([tensor(own).dtype, ...hostDataOf(tensor(own))], ["f16", ...bits]);
  assert.equal([...hostDataOf(tensor(own, { dtype: "f32" }))], [1, -2, Infinity, 2 ** -24]);
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

/** The sum in f32 may lie on the other side of a tie. */
async function checkNear(p: Program, feeds: ReadonlyMap<Tensor, Value>, on: Device): Promise<void> {
  const want = evaluateProgram(p, feeds);
  const { values } = await runProgram(p, feeds, {}, on, { target: on.target });
  for (const [i, v] of values.entries())
    v.data.forEach((got, k) => {
      const unit = v.dtype === "f16" ? 2 ** -10 : 2 ** -7;
      const expected = want[i]!.data[k]!;
      const near = Math.abs(got - expected) <= unit * Math.abs(expected) + 1e-5;
      assert.ok(near, `result ${i}, element ${k}: got ${got}, want ${expected}`);
    });
}

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
    await checkNear(p, feeds, device);
  }
});

gpuTest(
  "webgpu: patterns are read and written, numbers rounded, and odd elements stored",
  async () => {
    const gpu = await guardedGpuDevice();
    for (const dtype of halves) {
      await checkPatterns(dtype, "f32", gpu);
      await checkRoundedOnce(gpu);
      await checkRounding(dtype, "f32", gpu);
      const [x, w] = [input("x", dtype, [5, 13]), input("w", dtype, [13, 7])];
      const wave = (n: number, k: number) => Array.from({ length: n }, (_, i) => Math.cos(i * k));
      const feeds = new Map([
        [x, makeValue(dtype, [5, 13], wave(65, 1.3))],
        [w, makeValue(dtype, [13, 7], wave(91, 0.7))],
      ]);
      const y = x.matmul(w);
      const p = program(
        [x, w],
        y.add(1),
        x.sum(1),
        x.max(0),
        x.cumsum(1),
        w.mul(2),
        concat([y, y], 0),
      );
      await checkNear(p, feeds, gpu);
    }
    gpu.destroy();
  },
);

test.run();
