/**
 * Extremes along rows on the wasm target, which keeps several in lanes and streams: what wins wherever it stands in the
 * row, against the reference, bit for bit.
 */
import { argMax, argMin, input, max, min, type Tensor, type Value } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedWasmDevice } from "../support/guarded-wasm.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

const device = guardedWasmDevice({ threads: 2, relaxed: false });

/** Row by row the extremes of a matrix with a row for each position; `fill` gives its elements. */
async function agrees(
  n: number,
  fill: (row: number, column: number) => number,
  prepare: (x: Tensor) => Tensor = (x) => x,
) {
  const x = input("x", "f32", [n, n]);
  const y = prepare(x);
  const outputs = [max(y, 1), min(y, 1), argMax(y, 1), argMin(y, 1)].map((value, i) => {
    return { name: `y${i}`, value };
  });
  const program = { inputs: [x], outputs, updates: [] };
  const data = Float64Array.from({ length: n * n }, (_, i) => fill(Math.floor(i / n), i % n));
  const feeds = new Map<Tensor, Value>([[x, { dtype: "f32", shape: [n, n], data }]]);
  const want = evaluateProgram(program, feeds, {});
  const { values } = await runProgram(program, feeds, {}, device, { target: "wasm" });
  values.forEach((v, i) => {
    const at = v.data.findIndex((e, j) => !Object.is(e, want[i]!.data[j]));
    assert.is(at, -1, `${n} columns, output ${i}: ${v.data[at]}, want ${want[i]!.data[at]}`);
  });
}

const sizes = [1, 3, 4, 7, 33, 67, 256, 301];
const wave = (row: number, column: number): number => Math.fround(Math.sin(row * 3 + column));

for (const n of sizes) {
  test(`the extreme of ${n} elements is found at every position`, async () => {
    await agrees(n, (r, c) => (r === c ? 2 : wave(r, c)));
    await agrees(n, (r, c) => (r === c ? -2 : wave(r, c)));
  });

  test(`NaN among ${n} elements wins at every position, the first of two by its place`, async () => {
    await agrees(n, (r, c) => (r === c ? Number.NaN : wave(r, c)));
    await agrees(n, (r, c) => (r === c || (c * 7) % n === r ? Number.NaN : wave(r, c)));
    await agrees(n, (r, c) => (r === c ? Number.NaN : -Infinity));
    // NaN that the machine makes has its sign bit set.
    await agrees(
      n,
      (r, c) => (r === c ? Infinity : wave(r, c)),
      (x) => x.sub(x.mul(2)),
    );
  });

  test(`zeros of both signs and infinities among ${n} elements`, async () => {
    await agrees(n, (r, c) => (r === c ? 0 : -0));
    await agrees(n, (r, c) => (r === c ? -0 : 0));
    await agrees(n, (r, c) => (r === c ? -0 : -Math.abs(wave(r, c))));
    await agrees(n, () => -0);
    await agrees(n, () => -Infinity);
    await agrees(n, () => Infinity);
    await agrees(n, (r, c) => (r === c ? 1 : -Infinity));
  });

  test(`the first of equal extremes among ${n} elements`, async () => {
    await agrees(n, (r, c) => (c >= r ? 1 : 0));
    await agrees(n, (r, c) => (c % (r + 1) === 0 ? 1 : -1));
  });
}

test.run();
