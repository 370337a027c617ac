/**
 * Products of one left operand on wasm: with few rows they are one kernel, with all that is made of
 * them, and each is what it is alone; what no schedule computes together is apart.
 */
import {
  type Dtype,
  dotGeneral,
  input,
  makeValue,
  quantizedOf,
  scatter,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { verifyKernel } from "../../compiler/src/kernel/verify.ts";
import type { Program } from "../../compiler/src/program.ts";
import { agreesOnWasm } from "../support/targets.ts";

const f32 = (name: string, ...shape: number[]) => input(name, "f32", shape);

const programOf = (inputs: readonly Tensor[], ...values: readonly Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** Numbers without pattern: whole ones over all of their range, floats within 2. */
function feed(t: Tensor, salt: number): Value {
  const size = t.shape.reduce<number>((n, d) => n * Number(d), 1);
  const of = (i: number): number => {
    const wave = Math.sin(12.9898 * (i + 1 + 31 * salt));
    if (t.dtype === "u32") return Math.floor((wave * 0.5 + 0.5) * 2 ** 32) >>> 0;
    return t.dtype === "i8" ? Math.round(127 * wave) : Math.fround(2 * wave);
  };
  return makeValue(
    t.dtype,
    t.shape.map(Number),
    Array.from({ length: size }, (_, i) => of(i)),
  );
}

const feedsOf = (p: Program): Map<Tensor, Value> =>
  new Map(p.inputs.map((t, i) => [t, feed(t, i)]));

const kernelsOf = (p: Program): number =>
  compileProgram(p, { target: "wasm", verify: verifyKernel }).artifact.plan.steps.length;

const gated = (gate: Tensor, up: Tensor): Tensor => gate.silu().mul(up);

for (const [rows, products] of [
  [1, 2],
  [1, 3],
  [1, 4],
  [2, 2],
] as const)
  for (const [n, k] of [
    [33, 64],
    [7, 2500],
    [172, 40],
  ] as const)
    test(`${products} products of ${rows}×${k} with ${n} columns are one kernel`, async () => {
      const x = f32("x", rows, k);
      const weights = Array.from({ length: products }, (_, i) => f32(`w${i}`, n, k));
      const all = weights.map((w) => x.matmul(w.transpose()));
      const p = programOf([x, ...weights], ...all, gated(all[0]!, all.at(-1)!));
      assert.is(kernelsOf(p), 1);
      await agreesOnWasm(p, feedsOf(p));
    });

for (const bits of [4, 8] as const)
  for (const activations of ["f32", "i8"] as const)
    for (const [rows, products, isOffset] of [
      [1, 2, false],
      [1, 3, true],
      [2, 2, true],
    ] as const)
      test(`${products} products of ${rows} rows with ${bits} bits of ${activations}`, async () => {
        const [n, inputs] = [33, 128];
        const x = f32("x", rows, inputs);
        const packs = Array.from({ length: products }, (_, i) => ({
          words: input(`words${i}`, "u32", [n, (inputs / 32) * bits]),
          scales: f32(`scales${i}`, n, inputs / 32),
          ...(isOffset && i !== 1 && { offsets: f32(`offsets${i}`, n, inputs / 32) }),
        }));
        const all = packs.map((pack) =>
          quantizedOf(pack, { bits }, inputs).product(x, { activations }).div(1000),
        );
        const inputsOf = packs.flatMap((pack) => Object.values(pack) as Tensor[]);
        const p = programOf([x, ...inputsOf], ...all, all[0]!.mul(all[1]!));
        assert.is(kernelsOf(p), activations === "i8" ? 3 : 1);
        await agreesOnWasm(p, feedsOf(p));
      });

for (const dtype of ["i8", "f16"] as const satisfies readonly Dtype[])
  test(`products with weights of ${dtype} and bias share a kernel`, async () => {
    const [x, bias] = [f32("x", 1, 96), f32("bias", 17)];
    const weights = ["v", "w"].map((name) => input(name, dtype, [17, 96]));
    const [a, b] = weights.map((w) => x.matmul(w.convert("f32").transpose()).add(bias));
    const p = programOf([x, bias, ...weights], gated(a!, b!), a!.relu());
    assert.is(kernelsOf(p), 1);
    await agreesOnWasm(p, feedsOf(p));
  });

test("products of other extents run beside them, and scatters beside each other", async () => {
  const x = f32("x", 1, 64);
  const weights = [64, 32, 32].map((n, i) => f32(`w${i}`, n, 64));
  const [q, u, v] = weights.map((w) => x.matmul(w.transpose()));
  const products = programOf([x, ...weights], q!.relu(), u!.add(1), u!.mul(v!));
  const [rows, place, s, t] = [
    f32("rows", 2, 5),
    input("place", "i8", [2]),
    f32("s", 9, 5),
    f32("t", 7, 5),
  ];
  const puts = [s, t].map((kept) =>
    scatter(kept, rows.mul(2), [place.convert("i32").rem(9)], [0], "set"),
  );
  for (const p of [products, programOf([rows, place, s, t], ...puts)]) {
    assert.is(kernelsOf(p), 1);
    await agreesOnWasm(p, feedsOf(p));
  }
});

// Their panels and sums have the same names in both phases, and other sizes.
for (const [rows, columns, depth] of [
  [2, 3, 5],
  [3, 2, 41],
] as const)
  test(`a gradient's two products of [${rows},${columns}] beside each other`, async () => {
    const [g, w, h] = [f32("g", rows, columns), f32("w", columns, depth), f32("h", rows, depth)];
    const p = programOf(
      [g, w, h],
      g.matmul(w),
      dotGeneral(g, h, { lhsContract: [0], rhsContract: [0] }),
    );
    assert.is(kernelsOf(p), 1);
    await agreesOnWasm(p, feedsOf(p));
  });

test("products are apart where one waits for the other, or no schedule has both", async () => {
  const x = f32("x", 1, 64);
  const [v, w] = [f32("v", 64, 64), f32("w", 64, 64)];
  const first = x.matmul(v.transpose());
  // The weights of the second are made of the first.
  const second = x.matmul(w.add(first).transpose());
  const waits = programOf([x, v, w], second);
  const columns = programOf([x, v, w], x.matmul(v), x.matmul(w));
  const many = f32("many", 5, 64);
  const rows = programOf([many, v, w], many.matmul(v.transpose()), many.matmul(w.transpose()));
  for (const [p, kernels] of [
    [waits, 2],
    // Beside each other, a phase each.
    [columns, 1],
    [rows, 2],
  ] as const) {
    assert.is(kernelsOf(p), kernels);
    await agreesOnWasm(p, feedsOf(p));
  }
});

test("floats and words of few bits are apart: one schedule takes neither", async () => {
  const [x, w] = [f32("x", 1, 64), f32("w", 40, 64)];
  const pack = { words: input("words", "u32", [40, 8]), scales: f32("scales", 40, 2) };
  const packed = quantizedOf(pack, { bits: 4 }, 64).dequantize();
  const p = programOf(
    [x, w, pack.words, pack.scales],
    x.matmul(w.transpose()).add(x.matmul(packed.transpose())),
  );
  assert.is(kernelsOf(p), 2);
  await agreesOnWasm(p, feedsOf(p));
});

test.run();
