/**
 * Every elementwise record as WebAssembly, in lanes and one element at a time: within the record's ulps of its value for extremes too,
 * and to the bit where it is exact.
 */
import { type Dtype, fromHost, type HostArray } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { ulpsApart } from "../support/ulp.ts";
import { casesOf, kernelOf, operandsOf, size, wantedOf } from "./records.ts";
import { arrayOf } from "./run-js.ts";
import { runWasm } from "./run-wasm.ts";

const dtypes: Dtype[] = ["f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"];
const halves: readonly Dtype[] = ["f16", "bf16"];

/** Halves are computed in f32 and rounded: a neighbour may come out. */
function near(c: (typeof cases)[number], got: number, wanted: number): boolean {
  if (Object.is(got, wanted)) return true;
  const bound = c.record.ulp ?? 0;
  if (halves.includes(c.result)) {
    const [unit, least] = c.result === "f16" ? [2 ** -10, 2 ** -24] : [2 ** -7, 2 ** -133];
    return Math.abs(got - wanted) <= Math.max(Math.abs(wanted) * unit, least);
  }
  // A zero has its sign where the record is exact.
  if (c.result !== "f32" || bound === 0) return false;
  return ulpsApart(got, wanted, "f32") <= bound;
}

const cases = casesOf(dtypes);

for (const c of cases)
  for (const kind of ["simd", "serial"] as const)
    test(`wasm: ${c.name} has the value of its record, ${kind}`, () => {
      const operands = operandsOf(c, true);
      const out = arrayOf(c.result, new Array<number>(size).fill(0)) as HostArray;
      const text = emitWasm(kernelOf(c, 1, kind));
      runWasm(text, [...operands.map((x, k) => arrayOf(c.dtypes[k]!, x)), out], {});
      const wanted = wantedOf(c, operands);
      const got = fromHost(c.result, out);
      for (const [i, w] of wanted.entries())
        assert.ok(near(c, got[i]!, w), `${operands.map((x) => x[i])} gives ${got[i]}, not ${w}`);
    });

test.run();
