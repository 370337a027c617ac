import { dim, loopVar } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { acc, kernel, load, loop, mapPad, param, ref, softmax, store } from "./kernels.ts";
import { runJs } from "./run-js.ts";

const N = dim("N");

test("js: a guarded load reads zero outside its guard", () => {
  for (const columns of ["serial", "unrolled"] as const) {
    const x = Float32Array.from({ length: 10 }, (_, i) => i / 4);
    const b = Float32Array.of(0.5, -1);
    const out = new Float32Array(12);
    runJs(emitJs(mapPad("parallel", columns), { rounding: "each-op" }), [x, b, out], [2]);
    const wanted = [...out.keys()].map((at) => {
      const [i, j] = [Math.floor(at / 6), at % 6];
      const sum = Math.fround((j > 0 ? x[i * 5 + j - 1]! : 0) + b[i]!);
      return Math.fround(Math.fround(Math.tanh(sum)) * sum);
    });
    assert.equal([...out], wanted);
  }
});

test("js: softmax rows add up to one", () => {
  const x = Float32Array.from({ length: 21 }, (_, i) => Math.sin(i * 7) * 10);
  const out = new Float32Array(21);
  runJs(emitJs(softmax(), { rounding: "on-store" }), [x, out], [3]);
  for (let r = 0; r < 3; r++) {
    const sum = out.subarray(r * 7, r * 7 + 7).reduce((a, v) => a + v, 0);
    assert.ok(Math.abs(sum - 1) < 1e-6);
  }
});

test("js: argMax gives the first of equal elements, and the first NaN before all", () => {
  const i = loopVar("i", N);
  const body = [
    acc("p", 0, false, "i32"),
    loop(i, N, [
      { kind: "accumulate", name: "p", reducer: "argMax", value: load("x", i), position: i },
    ]),
    store("out", 0, ref("p", "i32")),
  ];
  const k = kernel("argMax", [param("x", N), param("out", 1, "write", "i32")], body, {
    dims: ["N"],
  });
  const text = emitJs(k, { rounding: "on-store" });
  const at = (...x: number[]) => {
    const out = new Int32Array(1);
    runJs(text, [Float32Array.from(x), out], [x.length]);
    return out[0];
  };
  assert.is(at(1, 3, 2, 3), 1);
  assert.is(at(1, Number.NaN, 9, Number.NaN), 1);
  assert.is(at(-Infinity, -Infinity), 0);
});

test.run();
