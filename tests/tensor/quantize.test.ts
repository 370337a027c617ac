/** Quantized values against their formula, on js and wasm. */
import * as ir from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { agrees, at, build, nd, sample } from "./check.ts";

/** To the nearest, halfway to even. */
const even = (v: number): number => {
  const low = Math.floor(v);
  const rest = v - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
};
const within = (v: number, low: number, high: number) => Math.min(high, Math.max(low, v));

// Not at the middle between two steps, where f32 may fall to either side.
const x = nd([2, 3], [-1.37, 0.02, 0.41, 1.18, -0.63, 5]);
for (const [dtype, low, high, zero] of [
  ["i8", -128, 127, 0],
  ["u8", 0, 255, 128],
  ["i8", -8, 7, 1],
] as const)
  test(`quantize to ${dtype} within [${low},${high}]`, () =>
    agrees("quantize", {
      of: (v) => ir.quantize(v, 0.03, { dtype, zero, range: [low, high] }),
      oracle: (v) => ({
        ...build([2, 3], (i, j) => within(even(at(v, i!, j!) / 0.03) + zero, low, high)),
        dtype,
      }),
      inputs: [x],
      symbols: [["N", 3]],
    }));

test("quantize and dequantize take a vector of scales along an axis", async () => {
  const scale = nd([3], [0.1, 0.02, 0.3]);
  await agrees("dequantize of quantize", {
    of: (v, s) => ir.dequantize(ir.quantize(v, s!, { axis: 1 }), s!, { axis: 1 }).convert(v.dtype),
    oracle: (v, s) =>
      build([2, 3], (i, j) => within(even(at(v, i!, j!) / at(s, j!)), -128, 127) * at(s, j!)),
    inputs: [x, scale],
    symbols: [["N", 3], [3]],
    tolerance: 1e9,
  });
});

test("quantizeDynamic comes back within half a step, and zeros as they are", () => {
  const given = sample([3, 7]);
  const { values, scale, zero } = ir.quantizeDynamic(ir.tensor([...given.data]));
  const [back, step] = ir.evaluate([ir.dequantize(values, scale, { zero }), scale]);
  const half = 0.501 * Number(step!.data[0]);
  for (const [i, v] of given.data.entries())
    assert.ok(Math.abs(Number(back!.data[i]) - v) <= half, `${i}`);
  const none = ir.quantizeDynamic(ir.zeros([4]));
  const [all] = ir.evaluate([ir.dequantize(none.values, none.scale, { zero: none.zero })]);
  assert.equal([...all!.data], [0, 0, 0, 0]);
});

test("sums of 32 bits lose nothing before the zero is taken off", () => {
  const q = ir.tensor([2 ** 30 + 1, 2 ** 30 + 3], { dtype: "i32" });
  const [y] = ir.evaluate([ir.dequantize(q, 1, { zero: ir.tensor(2 ** 30, { dtype: "i32" }) })]);
  assert.equal([...y!.data], [1, 3]);
});

// biome-ignore format: a case a line
const refused: readonly (readonly [string, () => unknown])[] = [
  ["quantize: quantized values are integers, not f16\n  take i8 or u8, or i32 for sums", () => ir.quantize(ir.tensor([1]), 1, { dtype: "f16" })],
  ["dequantize: quantized values are integers, not f32\n  take i8 or u8, or i32 for sums", () => ir.dequantize(ir.tensor([1]), 1)],
  ["quantize: scale and zero are numbers or tensors, got \"a\"", () => ir.quantize(ir.tensor([1]), "a" as never)],
  ["quantize: [2] is not one number for each index of axis 1 of [2,3]\n  give as many scales and zeros as that axis is long", () => ir.quantize(ir.zeros([2, 3]), ir.tensor([1, 2]), { axis: 1 })],
];
for (const [message, call] of refused)
  test(message.split("\n")[0]!, () => assert.throws(call, (e: Error) => e.message === message));

test.run();
