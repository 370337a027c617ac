/**
 * Reductions down the columns on the wasm target, several rows at a time and long sums in parts, for sizes around those
 * of the blocks, against the reference. Elements are small integers, so that sums are exact in any order.
 */
import { input, max, min, sum, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedWasmDevice } from "../support/guarded-wasm.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";

const device = guardedWasmDevice({ threads: 2, relaxed: false });

async function agrees(shape: readonly number[], axes: number[], symbolic: boolean, nan: number) {
  const dims: Dims = symbolic ? { n: shape[0]! } : {};
  const x = input("x", "f32", symbolic ? (["n", ...shape.slice(1)] as never) : shape);
  const outputs = [sum(x, axes), max(x, axes), min(x.neg(), axes)].map((value, i) => {
    return { name: `y${i}`, value };
  });
  const program = { inputs: [x], outputs, updates: [] };
  const size = shape.reduce((p, q) => p * q, 1);
  const data = Float64Array.from({ length: size }, (_, i) => ((i * 7919) % 13) - 6);
  if (nan >= 0) data[nan % size] = Number.NaN;
  const feeds = new Map<Tensor, Value>([[x, { dtype: "f32", shape, data }]]);
  const want = evaluateProgram(program, feeds, dims);
  const { values } = await runProgram(program, feeds, dims, device, { target: "wasm" });
  values.forEach((v, i) => {
    const at = v.data.findIndex((e, j) => !Object.is(e, want[i]!.data[j]));
    assert.is(at, -1, `[${shape}] output ${i}: ${v.data[at]}, want ${want[i]!.data[at]}`);
  });
}

for (const columns of [5, 64, 515, 1027])
  test(`${columns} columns of few and many rows`, async () => {
    for (const rows of [2, 3, 4, 5, 18, 63, 127, 128, 129, 131, 260])
      await agrees([rows, columns], [0], false, -1);
  });

test("5000 columns", async () => {
  await agrees([19, 5000], [0], false, -1);
  await agrees([19, 4099], [0], false, 4098);
});

test("rows of which there are as many as a dim says", async () => {
  for (const rows of [1, 2, 3, 17, 128, 129, 134]) await agrees([rows, 70], [0], true, -1);
});

test("NaN in a column wins, in whichever row it stands", async () => {
  for (const row of [0, 1, 3, 4, 66, 127, 128, 130])
    await agrees([131, 70], [0], false, row * 70 + (row % 70));
});

test("two axes before the columns", async () => {
  await agrees([3, 50, 66], [0, 1], false, -1);
  await agrees([5, 3, 66], [0], false, 12);
  await agrees([18, 3, 66], [0], false, -1);
});

test.run();
