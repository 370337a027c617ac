/**
 * Guards at the borders of rows on the wasm target, which does the interior without them: pads and windows by every
 * distance around a vector, against the reference. Elements are small integers, so that sums are exact in any order.
 */
import {
  concat,
  dim,
  evaluateDim,
  input,
  pad,
  reverse,
  type Tensor,
  type Value,
  windows,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedWasmDevice } from "../support/guarded-wasm.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";

const device = guardedWasmDevice({ threads: 2, relaxed: false });

async function agrees(results: readonly Tensor[], x: Tensor, dims: Dims = {}) {
  const outputs = results.map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [x], outputs, updates: [] };
  const shape = x.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((p, q) => p * q, 1);
  const data = Float64Array.from({ length: size }, (_, i) => ((i * 7919) % 13) - 6.5);
  const feeds = new Map<Tensor, Value>([[x, { dtype: "f32", shape, data }]]);
  const want = evaluateProgram(program, feeds, dims);
  const { values } = await runProgram(program, feeds, dims, device, { target: "wasm" });
  values.forEach((v, i) => {
    const at = v.data.findIndex((e, j) => !Object.is(e, want[i]!.data[j]));
    assert.is(at, -1, `[${shape}] ${i} at ${at}: ${v.data[at]}, want ${want[i]!.data[at]}`);
  });
}

const pooled = (x: Tensor, size: number, p: number): Tensor =>
  windows(pad(x, 0, [0, p], [0, p]), { size }).sum(-1);

for (const columns of [1, 7, 16, 19, 40])
  test(`pads of 0 to 9 around rows of ${columns}`, async () => {
    const x = input("x", "f32", [3, columns]);
    for (let p = 0; p < 10; p++)
      await agrees([pad(x, 2, [0, p], [0, 9 - p]), pad(x, -1, [1, p], [0, p]).add(1)], x);
  });

for (const columns of [9, 16, 19, 40])
  test(`windows that reach 0 to 9 beyond rows of ${columns}`, async () => {
    const x = input("x", "f32", [3, columns]);
    for (let p = 0; p < 10; p++) await agrees([pooled(x, 3, p), pooled(x, 1 + p, p)], x);
  });

test("pads far wider than the rows, and crops", async () => {
  const x = input("x", "f32", [2, 21]);
  await agrees([pad(x, 1, [0, 40], [0, 3]), pad(x, 1, [0, 3], [0, 40]), pad(x, 1, [0, 70])], x);
  await agrees([pad(x, 1, [0, -2], [0, 3]), pad(x, 1, [0, 5], [0, -9])], x);
  await agrees([pad(x, 1, [0, 2], [0, 3], [0, 1]), pad(x, 1, [0, 2], [0, 2], [0, 2])], x);
});

test("rows whose length a dim says", async () => {
  const x = input("x", "f32", [3, dim("n", { min: 3 })]);
  for (const n of [3, 4, 15, 16, 17, 18, 37])
    for (const p of [0, 1, 4, 5])
      await agrees([pad(x, 0, [0, p], [0, 2]), pooled(x, 3, p)], x, { n });
});

test("reversed and joined rows", async () => {
  const x = input("x", "f32", [3, 23]);
  await agrees(
    [pad(reverse(x, 1), 0, [0, 3]), concat([x, x.neg()], 1), concat([x, pad(x, 3, [0, 5])], 1)],
    x,
  );
});

test.run();
