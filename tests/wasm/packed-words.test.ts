/**
 * Products of more rows than four with weights of few bits on wasm: words are unpacked into panels
 * in chunks of depth, and results are those of the floats that they stand for, whatever is left
 * over of rows, columns and depth.
 */
import { input, makeValue, quantizedOf, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { verifyKernel } from "../../compiler/src/kernel/verify.ts";
import type { Program } from "../../compiler/src/program.ts";
import { agreesOnWasm } from "../support/targets.ts";

function feed(t: Tensor, salt: number): Value {
  const size = t.shape.reduce<number>((n, d) => n * Number(d), 1);
  const numbers = Array.from({ length: size }, (_, i) => {
    const wave = Math.sin(12.9898 * (i + 1 + 31 * salt));
    return t.dtype === "u32" ? Math.floor((wave / 2 + 0.5) * 2 ** 32) >>> 0 : Math.fround(wave);
  });
  return makeValue(t.dtype, t.shape.map(Number), numbers);
}

for (const bits of [4, 8] as const)
  for (const [rows, columns, depth, isOffset] of [
    [5, 8, 32, false],
    [6, 33, 96, true],
    [17, 40, 352, false],
    [8, 16, 2048, true],
    // The last block is not whole, so that it is unpacked one element at a time.
    [9, 24, 70, true],
  ] as const)
    test(`${rows} rows of ${depth} by ${columns} columns of ${bits} bits`, async () => {
      const blocks = Math.ceil(depth / 32);
      const x = input("x", "f32", [rows, depth]);
      const pack = {
        words: input("words", "u32", [columns, blocks * bits]),
        scales: input("scales", "f32", [columns, blocks]),
        ...(isOffset && { offsets: input("offsets", "f32", [columns, blocks]) }),
      };
      const y = quantizedOf(pack, { bits }, depth).product(x).div(100).relu();
      const inputs = [x, ...(Object.values(pack) as Tensor[])];
      const p: Program = { inputs, outputs: [{ name: "y", value: y }], updates: [] };
      const { artifact } = compileProgram(p, { target: "wasm", verify: verifyKernel });
      assert.is(artifact.plan.steps.length, 1);
      await agreesOnWasm(p, new Map(inputs.map((t, i) => [t, feed(t, i)])));
    });

test.run();
