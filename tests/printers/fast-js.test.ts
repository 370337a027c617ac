/**
 * The fast functions of emitted JavaScript against the records, rounded to f32: special values, floats spread over all bit
 * patterns, and floats of the sizes networks have.
 */
import { evaluateElement, loopVar, opRecord } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { call, kernel, load, loop, param, store } from "./kernels.ts";
import { runJs } from "./run-js.ts";

const spread = 1 << 18;

/** ±0, ±∞, NaN, denormals, the largest, and the neighbourhood of every bound the functions test. */
function specials(): number[] {
  const bounds = [
    1e-45, 1e-40, 1e-30, 0.02, 0.5, 1, 4, 9.01, 20, 43.5, 44, 87, 88, 88.72, 88.73, 103, 104, 710,
    3e38,
  ];
  const around = bounds.flatMap((b) => [b * (1 - 2e-7), b, b * (1 + 2e-7)]);
  return [0, Infinity, ...around].flatMap((x) => [x, -x]).concat(Number.NaN);
}

function samples(): Float32Array {
  const every = new Float32Array(spread);
  const bits = new Uint32Array(every.buffer);
  for (let i = 0; i < spread; i++) bits[i] = Math.imul(i, 8191);
  let seed = 1;
  const near = Array.from({ length: spread }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed / 2 ** 31 - 1) * 12;
  });
  return Float32Array.from([...specials(), ...every, ...near]);
}

/** Floats between a and b, counted along the number line. */
function distance(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) ? 0 : Infinity;
  const pair = new Int32Array(new Float32Array([a, b]).buffer);
  const line = [...pair].map((v) => (v < 0 ? -(v & 0x7fffffff) : v));
  return Math.abs(line[0]! - line[1]!);
}

for (const op of ["exp", "tanh", "sigmoid", "erf"])
  test(`js: ${op} rounded on store is within one ULP of its record`, () => {
    const x = samples();
    const i = loopVar("i", x.length);
    const k = kernel(
      "apply",
      [param("x0", x.length), param("out", x.length, "write")],
      [loop(i, x.length, [store("out", i, call(op, "f32", load("x0", i)))])],
    );
    const out = new Float32Array(x.length);
    const text = emitJs(k, { rounding: "on-store" });
    assert.match(text.text, "fast");
    runJs(text, [x, out], []);
    for (const [at, v] of x.entries()) {
      const wanted = evaluateElement(opRecord(op), "f32", "f32", [v]);
      if (Object.is(out[at], wanted)) continue;
      const off = distance(out[at]!, wanted);
      if (off > 1 || Object.is(out[at], -0) !== Object.is(wanted, -0))
        assert.unreachable(`${op} of ${v} is ${out[at]}, not ${wanted}`);
    }
  });

test.run();
