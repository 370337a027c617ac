/**
 * Products of one left operand on webgpu: with few rows they are one kernel, with all that is made
 * of them, whichever way the memory of their weights runs, and each is what it is alone.
 */
import { quantizedOf, scatter, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { verifyKernel } from "../../compiler/src/kernel/verify.ts";
import type { Program } from "../../compiler/src/program.ts";
import { gpuTest } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

const kernelsOf = (p: Program): number =>
  compileProgram(p, { target: "webgpu", verify: verifyKernel }).artifact.plan.steps.length;

const named = (products: number, of: (name: string) => Tensor): Tensor[] =>
  Array.from({ length: products }, (_, i) => of(`w${i}`));

gpuTest("products of few rows and one left operand are one kernel", async () => {
  const device = await open();
  for (const [rows, products, n, k] of [
    [1, 2, 33, 64],
    [1, 3, 40, 300],
    [3, 2, 64, 256],
    [2, 4, 36, 7],
  ] as const)
    for (const along of [true, false]) {
      const a = x("a", [rows, k]);
      const weights = named(products, (name) => x(name, along ? [n, k] : [k, n]));
      const all = weights.map((w) => a.matmul(along ? w.transpose() : w));
      const [first, last] = [all[0]!, all.at(-1)!];
      const p = programOf([a, ...weights], first.relu().mul(last), last);
      const name = `${products} of ${rows}×${k}×${n}, ${along ? "along" : "across"} depth`;
      assert.is(kernelsOf(p), 1, name);
      await agrees(device, name, p);
    }
  device.destroy();
});

gpuTest("products of few bits and one left operand are one kernel", async () => {
  const device = await open();
  for (const bits of [4, 8] as const) {
    const a = x("a", [1, 256]);
    const packs = [0, 1].map((i) => ({
      words: x(`words${i}`, [33, 8 * bits], "u32"),
      scales: x(`scales${i}`, [33, 8]),
    }));
    const [u, v] = packs.map(({ words, scales }) => {
      const spread = words.add(7).mul(0x1357_9bdf);
      return quantizedOf({ words: spread, scales }, { bits }, 256).product(a).div(1000);
    });
    const p = programOf([a, ...packs.flatMap((q) => [q.words, q.scales])], u!.mul(v!).div(1000));
    assert.is(kernelsOf(p), 1);
    await agrees(device, `${bits} bits`, p);
  }
  device.destroy();
});

gpuTest("products of other extents run beside them, and scatters beside each other", async () => {
  const device = await open();
  for (const [rows, k, along] of [
    [1, 64, true],
    [2, 300, true],
    [1, 40, false],
  ] as const) {
    const a = x("a", [rows, k]);
    const weights = [64, 32, 32].map((n, i) => x(`w${i}`, along ? [n, k] : [k, n]));
    const [q, u, v] = weights.map((w) => a.matmul(along ? w.transpose() : w)) as Tensor[];
    const p = programOf([a, ...weights], q!.relu(), u!.add(1), u!.mul(v!));
    assert.is(kernelsOf(p), 1);
    await agrees(device, `${rows} rows of ${k}, ${along ? "along" : "across"} depth`, p);
  }
  const [rows, place, s, t] = [
    x("rows", [2, 5]),
    x("place", [2], "i32"),
    x("s", [9, 5]),
    x("t", [7, 5]),
  ];
  const puts = [s, t].map((kept) => scatter(kept, rows.mul(2), [place], [0], "set"));
  const p = programOf([rows, place, s, t], ...puts);
  assert.is(kernelsOf(p), 1);
  await agrees(device, "scatters", p);
  device.destroy();
});

gpuTest("products of more rows, or of too few columns, are apart", async () => {
  const device = await open();
  for (const [rows, n] of [
    [9, 64],
    [1, 31],
  ] as const) {
    const a = x("a", [rows, 64]);
    const [v, w] = [x("v", [n, 64]), x("w", [n, 64])];
    const p = programOf([a, v, w], a.matmul(v.transpose()), a.matmul(w.transpose()));
    assert.is(kernelsOf(p), 2, `${rows} rows, ${n} columns`);
    await agrees(device, `${rows} rows, ${n} columns`, p);
  }
  device.destroy();
});

test.run();
