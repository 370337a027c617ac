/**
 * Every elementwise record on the native target, in lanes and one element at a time: within the
 * record's ulps of its value for extremes too, and to the bit where it is exact; in vectors as wide
 * as this machine's, and as narrower ones have them. All of them are one library: a C compiler
 * takes long.
 */
import { type Dtype, fromHost, type HostArray, isFloat } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitNative } from "../../compiler/src/targets/native/emit.ts";
import { casesOf, kernelOf, operandsOf, size, wantedOf } from "../printers/records.ts";
import { arrayOf } from "../printers/run-js.ts";
import { machines } from "../support/native-machines.ts";
import { runNative } from "../support/run-native.ts";
import { ulpsApart } from "../support/ulp.ts";

const dtypes: Dtype[] = ["f32", "f16", "bf16", "f64", "i32", "u32", "i8", "u8", "bool"];
const halves: readonly Dtype[] = ["f16", "bf16"];

/** Halves are computed in f32 and rounded: a neighbour may come out. */
function near(c: (typeof cases)[number], got: number, wanted: number): boolean {
  if (Object.is(got, wanted)) return true;
  const bound = c.record.ulp ?? 0;
  if (halves.includes(c.result)) {
    const [unit, least] = c.result === "f16" ? [2 ** -10, 2 ** -24] : [2 ** -7, 2 ** -133];
    return Math.abs(got - wanted) <= Math.max(Math.abs(wanted) * unit, least);
  }
  // The functions of f64 are the C library's, which is a few units from the host's.
  if (c.result === "f64")
    return bound > 0 && Math.abs(got - wanted) <= 2 ** -50 * Math.max(Math.abs(wanted), 2 ** -1022);
  // A zero has its sign where the record is exact.
  if (!isFloat(c.result) || bound === 0) return false;
  return ulpsApart(got, wanted, "f32") <= bound;
}

const cases = casesOf(dtypes);

/**
 * One element at a time an op is the same instructions on the first lane: that is seen by f32
 * alone.
 */
const kindsOf = (c: (typeof cases)[number]) =>
  c.result === "f32" ? (["simd", "serial"] as const) : (["simd"] as const);

const shown = (x: number): string => (Object.is(x, -0) ? "-0" : String(x));

for (const machine of machines)
  machine.test("every record has its value, in lanes and one by one", async (compiler) => {
    const { lanes } = compiler;
    const all = cases.flatMap((c, i) =>
      kindsOf(c).map((kind) => ({ c, kind, name: `${kind}${i}` })),
    );
    const calls = all.map(({ c, kind, name }) => {
      const operands = operandsOf(c, true);
      const out = arrayOf(c.result, new Array<number>(size).fill(0)) as HostArray;
      const arrays = [...operands.map((x, k) => arrayOf(c.dtypes[k]!, x)), out];
      return { text: emitNative({ ...kernelOf(c, 1, kind), name }, lanes), arrays, operands, out };
    });
    await runNative(calls, "-O1", compiler);
    const wrong = all.flatMap(({ c, kind }, n) => {
      const { operands, out } = calls[n]!;
      const got = fromHost(c.result, out);
      const wanted = wantedOf(c, operands);
      const i = wanted.findIndex((w, k) => !near(c, got[k]!, w));
      return i < 0
        ? []
        : [
            `${c.name}, ${kind}: ${operands.map((x) => x[i])} gives ${shown(got[i]!)}, not ${shown(wanted[i]!)}`,
          ];
    });
    assert.equal(wrong, []);
  });

test.run();
