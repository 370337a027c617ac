/**
 * The mathematics of the wasm target against the reference of each op's record: every exponent, edges and the domain on
 * four lanes, both variants; the same bits on f64.
 */
import * as ir from "@kiln-ml/ir";
import { allOps, type OpRecord, opRecord } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { expNonPositive } from "../../compiler/src/targets/wasm/math/exponential.ts";
import {
  doubleMath,
  doubleOps,
  plainOps,
  vectorMath,
  vectorOps,
} from "../../compiler/src/targets/wasm/math/index.ts";
import { ulpsFrom } from "../support/ulp.ts";
import { floatsTaken, type Run, runAll, type Variant } from "./run-math.ts";

// An op registers its record when its module is evaluated, and a bundler leaves out ops that nobody names.
if (Object.keys(ir).length === 0) throw new Error("no ops");

// biome-ignore format: one row
const specials = [0, -0, 1, -1, Number.NaN, Infinity, -Infinity, 2 ** -149, -(2 ** -149), 2 ** -126, -(2 ** -126), 3.4028234663852886e38, -3.4028234663852886e38, 0.5, -0.5, 1.5, 2.5, -2.5, 2, -2, 3, -3, 1e-8, 100, -100, 89, -104, 16777216, 16777217, -8388609];

let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

const pairs = specials.length ** 2;
const size = 1 << 17;
/** Operand `k`: pairs of special values, every exponent with both signs and edge mantissas, the domain, what is close to 1. */
function inputsOf(record: OpRecord, k: number): Float32Array<ArrayBuffer> {
  const x = new Float32Array(size);
  const bits = new Int32Array(x.buffer);
  const [low, high] = record.domain ?? [-10, 10];
  const edges = [0, 1, 0x7fffff, 0x400000];
  for (let i = 0; i < size; i++) {
    const pair = k === 0 ? i % specials.length : Math.floor(i / specials.length);
    const mantissa = edges[(i >> 9) % 16] ?? Math.floor(random() * 2 ** 23);
    const chosen = k === 0 ? i & 511 : Math.floor(random() * 512);
    if (i < pairs) x[i] = specials[pair]!;
    else if (i < size / 2) bits[i] = (chosen << 23) | mantissa;
    else if (i < (3 * size) / 4) x[i] = low + (high - low) * random();
    else if (k === 0)
      x[i] = (random() < 0.5 ? 1 : -1) * (i & 1) + (random() - 0.5) * 2 ** (-24 * random());
    else x[i] = (random() - 0.5) * 200;
  }
  return x;
}

const runs: Run[] = vectorOps.map((name) => ({
  name,
  lanes: "f32x4",
  body: (x, bind) => vectorMath(name, x, bind)!,
  inputs: Array.from({ length: floatsTaken(opRecord(name)) }, (_, k) =>
    inputsOf(opRecord(name), k),
  ),
}));

/** What is promised beyond the record's bound, which is the same on every target. */
const promised: Readonly<Record<string, number>> = { tanh: 6, erf: 7 };

/** `eval` of the record for every input, once for both variants. */
const references = new Map<string, Float64Array>();
function referenceOf({ name, inputs: [x, y] }: Run): Float64Array {
  const known = references.get(name);
  if (known) return known;
  const exact = opRecord(name).eval!;
  const values = Float64Array.from(x!, (v, i) => (y ? exact(v, y[i]!) : exact(v)));
  references.set(name, values);
  return values;
}

/** The worst error and where it is. */
function worstOf(run: Run, out: ArrayLike<number>): { ulps: number; text: string } {
  const wanted = referenceOf(run);
  let [ulps, at] = [0, 0];
  for (let i = 0; i < size; i++) {
    const here = ulpsFrom(out[i]!, wanted[i]!);
    if (!(here <= ulps)) [ulps, at] = [here, i];
  }
  const x = run.inputs.map((a) => a[at]!);
  return { ulps, text: `${run.name}(${x.join(", ")}) = ${out[at]}, not ${wanted[at]}` };
}

for (const variant of ["plain", "relaxed"] satisfies Variant[]) {
  let results: ReturnType<typeof runAll> | undefined;
  const lines: string[] = [];
  for (const run of runs)
    test(`${run.name}: four lanes keep to the record's bound (${variant})`, () => {
      results ??= runAll(runs, variant);
      const bound = opRecord(run.name).ulp!;
      const { ulps, text } = worstOf(run, results.get(run.name)!);
      lines.push(`${run.name} ${ulps.toFixed(2)}`);
      assert.ok(ulps <= Math.min(bound, promised[run.name] ?? 4), `${text}: ${ulps} ulp`);
    });
  test(`every function has its worst error printed (${variant})`, () => {
    assert.is(lines.length, runs.length);
    console.log(`  worst ulp (wasm, ${variant}): ${lines.join(", ")}`);
  });
}

test("exp of what is known to be no more than 0 has the bits of exp", () => {
  const negative = inputsOf(opRecord("exp"), 0).map((x) => -Math.abs(x));
  const both: Run[] = [
    {
      name: "exp",
      lanes: "f32x4",
      body: (x, bind) => vectorMath("exp", x, bind)!,
      inputs: [negative],
    },
    { name: "expNonPositive", lanes: "f32x4", body: expNonPositive, inputs: [negative] },
  ];
  for (const variant of ["plain", "relaxed"] satisfies Variant[]) {
    const [wanted, got] = both.map((r) => runAll(both, variant).get(r.name)!);
    for (const [i, x] of negative.entries())
      assert.ok(
        Object.is(got![i], wanted![i]),
        `${variant}: ${x} gives ${got![i]}, exp ${wanted![i]}`,
      );
  }
});

test("f64: every op has the bits of its record", () => {
  const wide = doubleOps.map((name): Run => {
    const record = opRecord(name);
    const inputs = Array.from({ length: floatsTaken(record) }, (_, k) => {
      const x = Float64Array.from(inputsOf(record, k).subarray(0, 4096 * 4), (v, i) =>
        i < pairs ? v : v * (1 + random() * 2 ** -30),
      );
      const [low, high] = record.domain ?? [-10, 10];
      for (let i = 2048; i < 8192; i++) x[i] = low + (high - low) * random();
      return x;
    });
    return { name, lanes: "f64", body: (x, bind) => doubleMath(name, x, bind)!, inputs };
  });
  const results = runAll(wide, "plain");
  for (const { name, inputs } of wide)
    for (const [i, got] of results.get(name)!.entries()) {
      const x = inputs.map((a) => a[i]!);
      const wanted = opRecord(name).eval!(...x);
      if (!Object.is(got, wanted))
        assert.unreachable(`${name}(${x.join(", ")}) = ${got}, not ${wanted}`);
    }
});

test("every elementwise op of floats is spelled here or by the emitter, and not by both", () => {
  // What takes a node's dtype, or bool and floats, says nothing of floats by its rule alone.
  const others = ["convert", "bitcast", "select"];
  const floats = allOps().filter(
    // Lowering leaves no `after`: it orders kernels.
    (r) =>
      r.family === "elementwise" &&
      r.name !== "after" &&
      (others.includes(r.name) || floatsTaken(r) > 0),
  );
  for (const { name } of floats)
    for (const here of [vectorOps, doubleOps])
      assert.is(here.includes(name) !== plainOps.has(name), true, name);
  assert.ok(floats.length > 40);
});

test.run();
