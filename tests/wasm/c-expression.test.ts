/**
 * The C text of records as code on both widths, and the texts that are refused.
 */
import * as ir from "@kiln-ml/ir";
import { allOps, DtypeError, opRecord } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { get } from "../../compiler/src/targets/wasm/code.ts";
import { fromC, fromSpelling } from "../../compiler/src/targets/wasm/math/c-expression.ts";
import { ulpsFrom } from "../support/ulp.ts";
import { asOperands, floatsTaken, type Lanes, type Run, runAll } from "./run-math.ts";

// An op registers its record when its module is evaluated, and a bundler leaves out ops that nobody names.
if (Object.keys(ir).length === 0) throw new Error("no ops");

const xs = [0.25, -0.5, 3, 0, -0, 7.5, -2.5, 1e-3, Number.NaN, Infinity, -Infinity, 1];
const ys = [2, 3, -1.5, 0.5, 4, -0.25, 1, Number.NaN, 2, -2, 0.75, 1];
const inputs = {
  f32x4: [Float32Array.from(xs), Float32Array.from(ys)],
  f64: [Float64Array.from(xs), Float64Array.from(ys)],
};

/** Texts of x and y, and what they are of numbers. */
// biome-ignore format: one text a row
const texts: readonly (readonly [string, (x: number, y: number) => number])[] = [
  ["x - y - 1.5e0f", (x, y) => x - y - 1.5],
  ["x - (y - .25)", (x, y) => x - (y - 0.25)],
  ["-x * -y + +2", (x, y) => -x * -y + 2],
  ["x / y * 8 / 2", (x, y) => ((x / y) * 8) / 2],
  ["x < y ? x : y < 0 ? 1 : 2", (x, y) => (x < y ? x : y < 0 ? 1 : 2)],
  ["x >= 0 && !(y > 1) || x == y ? 1 : 0", (x, y) => ((x >= 0 && !(y > 1)) || x === y ? 1 : 0)],
  ["(x < 0) != (y < 0) ? -1 : 1", (x, y) => (x < 0 !== y < 0 ? -1 : 1)],
  ["(x < 0) == (y <= 0) ? 3 : x != y ? 4 : 5", (x, y) => (x < 0 === y <= 0 ? 3 : x !== y ? 4 : 5)],
  ["y ? x : 9", (x, y) => (y !== 0 ? x : 9)],
  ["(x > y ? x < 1 : x < 2) ? 1 : 0", (x, y) => ((x > y ? x < 1 : x < 2) ? 1 : 0)],
  ["max(min(x, y), fabs(y) - 1)", (x, y) => Math.max(Math.min(x, y), Math.abs(y) - 1)],
  ["fmod(x, y) + x % 2", (x, y) => (x % y) + (x % 2)],
  ["log((x) / (1 - (x)))", (x) => Math.log(x / (1 - x))],
  ["pow(fabs(x), y) * exp2(-y)", (x, y) => Math.abs(x) ** y * 2 ** -y],
  ["cbrt(x) + hypot(x, y) + log10(y)", (x, y) => Math.cbrt(x) + Math.hypot(x, y) + Math.log10(y)],
  ["floor(x) + ceil(y) + trunc(x * y) + sqrt(4)", (x, y) => Math.floor(x) + Math.ceil(y) + Math.trunc(x * y) + 2],
];

for (const lanes of ["f32x4", "f64"] satisfies Lanes[])
  test(`C text on ${lanes} computes what it says`, () => {
    const runs = texts.map(
      ([text], i): Run => ({
        name: `text${i}`,
        lanes,
        body: ([x, y], bind) => fromC(text, { x: x!, y: y! }, lanes, bind),
        inputs: inputs[lanes],
      }),
    );
    const results = runAll(runs, "plain");
    for (const [k, [text, exact]] of texts.entries())
      for (const [i, got] of results.get(`text${k}`)!.entries()) {
        const wanted = exact(xs[i]!, ys[i]!);
        const near = lanes === "f64" ? Object.is(got, wanted) : ulpsFrom(got, wanted) <= 8;
        assert.ok(near, `${text} of ${xs[i]} and ${ys[i]}: ${got}, not ${wanted}`);
      }
  });

/** Records of floats that give floats and have C text. */
const functions = allOps().filter(
  (r) => r.family === "elementwise" && !r.infix && r.spell && r.eval && floatsTaken(r),
);

for (const lanes of ["f32x4", "f64"] satisfies Lanes[])
  test(`the C text of every record of floats gives its values on ${lanes}`, () => {
    const runs = functions
      .filter((r) => r.infer(asOperands(floatsTaken(r)), {}).dtype === "f32")
      .map(
        (r): Run => ({
          name: r.name,
          lanes,
          body: (x, bind) => fromSpelling(r.spell!, x, lanes, bind),
          inputs: inputs[lanes].slice(0, floatsTaken(r)),
        }),
      );
    assert.ok(runs.length > 30, `only ${runs.length} records`);
    const results = runAll(runs, "plain");
    for (const { name } of runs) {
      const record = opRecord(name);
      for (const [i, got] of results.get(name)!.entries()) {
        const wanted = record.eval!(xs[i]!, ys[i]!);
        const bound = Math.max(1, record.ulp ?? 0);
        const near = lanes === "f64" ? Object.is(got, wanted) : ulpsFrom(got, wanted) <= bound;
        assert.ok(near, `${name} of ${xs[i]} and ${ys[i]}: ${got}, not ${wanted}`);
      }
    }
  });

test("text that is no expression of floats is refused", () => {
  const refused = (text: string, message: RegExp): void =>
    assert.throws(
      () => fromC(text, { x: get("x") }, "f32x4", (_type, value) => value),
      (e: Error) => e instanceof DtypeError && message.test(e.message),
    );
  refused("x << 2", /^emit: no C expression on target wasm: << 2|< 2$/);
  refused("x +", /end of text/);
  refused("(x", /end of text/);
  refused("x y", /no C expression on target wasm: y$/);
  refused("~x", /no C expression on target wasm: ~x$/);
  refused("z + 1", /^emit: no operand z on target wasm$/);
  refused("frobnicate(x)", /^emit: no function frobnicate of 1 operands on target wasm$/);
});

test.run();
